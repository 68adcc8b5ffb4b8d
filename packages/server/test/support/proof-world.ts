/*
 * Signing in with real ports on a loopback address: a service whose proof listens, attempts that wait for their device,
 * and devices that answer what a test says. Owns no expectation.
 */
import { request as sendHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { createChangeRunner, type RunChange } from '../../src/changes/change.ts'
import { CleanupStack } from '../../src/platform/cleanup-stack.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { CommitNotifier } from '../../src/platform/db/commit-notifier.ts'
import { createListener } from '../../src/platform/db/listener.ts'
import { createHttpApp } from '../../src/platform/http/create-app.ts'
import { listPorts } from '../../src/platform/net/browser-ports.ts'
import { reservePort, reservePorts } from './reserve-ports.ts'
import { newSecret } from '../../src/platform/ids.ts'
import { SILENT_LOGGER } from '../../src/platform/silent-logger.ts'
import { createSupervisor } from '../../src/app/supervisor.ts'
import { writeAttemptCookie } from '../../src/sign-in/attempts/attempt-cookie-input.ts'
import { findAttempt, type Attempt } from '../../src/sign-in/attempts/attempt-store.ts'
import type { AskDevices } from '../../src/posture/device-questions/ask-devices.ts'
import { createProofPart } from '../../src/sign-in/proof/proof-part.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { insertDevice, insertPerson } from './factories.ts'
import {
  beginTestAttempt,
  identifyTestPerson,
  inOrder,
  insertApplication,
} from './sign-in-fixtures.ts'

const PORT_COUNT = 12

/** A row of a device's answer. */
export type AnswerRow = Readonly<Record<string, string>>

/** A connection that a browser opened to a port of the proof. */
export interface OpenedPort {
  readonly status: number
  readonly port: number
  readonly localPort: number
  /** The answer is over. */
  readonly ended: Promise<void>
  readonly close: () => void
}

/** What the first request of a page is answered. */
export interface Started {
  readonly ports: readonly number[]
  readonly path: string
  /** The cookies of the browser. */
  readonly cookies: string
}

export interface ProofWorld {
  readonly database: TestDatabase
  readonly runChange: RunChange
  readonly http: FastifyInstance
  readonly baseUrl: string
  readonly allPorts: readonly number[]
  readonly person: { readonly id: string; readonly email: string }
  /** What devices answer, by their ids; one that is missing is silent. */
  readonly answers: Map<
    string,
    (sql: string) => readonly AnswerRow[] | Promise<readonly AnswerRow[]>
  >
  readonly asked: string[]
  readonly addDevice: (values?: Parameters<typeof insertDevice>[1]) => Promise<string>
  /** An attempt of the person that waits for its device, with the cookie of its browser. */
  readonly begin: (address?: string) => Promise<{ readonly id: string; readonly cookie: string }>
  readonly start: (attempt: { readonly id: string; readonly cookie: string }) => Promise<Started>
  readonly finish: (attempt: { readonly id: string; readonly cookie: string }) => Promise<string>
  readonly open: (
    port: number,
    started: Started,
    headers?: Record<string, string>,
    /** A connection that is there already. */
    socket?: Socket,
  ) => Promise<OpenedPort>
  readonly attempt: (id: string) => Promise<Attempt | undefined>
  /** Does what the jobs of the service do again and again, after what was told is heard. */
  readonly runJobs: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface ProofWorldOptions {
  /** What browsers call the service: a name of the loopback address. */
  readonly hostname?: string
  /** Adds pages; the service then listens on its port. */
  readonly mount?: (http: FastifyInstance, probePorts: readonly number[]) => void
}

/** Starts a service that proves devices. Close it in `afterAll`. */
export async function openProofWorld({
  hostname = '127.0.0.1',
  mount,
}: ProofWorldOptions = {}): Promise<ProofWorld> {
  const cleanup = new CleanupStack()
  const database = await createTestDatabase()
  cleanup.add(() => database.close())
  const notifier = new CommitNotifier({ db: database.db, logError: () => undefined })
  cleanup.add(() => notifier.close())
  const runChange = createChangeRunner(database.db, systemClock, [], notifier)
  const probePorts = await reservePorts(PORT_COUNT)
  const http = createHttpApp({
    logger: SILENT_LOGGER,
    baseUrl: 'http://127.0.0.1',
    limits: { bodyBytesMax: 65_536 },
  })
  const answers: ProofWorld['answers'] = new Map()
  const asked: string[] = []
  const ask: AskDevices = async (questions) =>
    Promise.all(
      questions.map(async ({ deviceId, sql }) => {
        asked.push(deviceId)
        const rows = await answers.get(deviceId)?.(sql)
        return rows === undefined
          ? { deviceId, status: 'expired' as const, rows: [], answeredAt: null, latencyMs: null }
          : {
              deviceId,
              status: 'answered' as const,
              rows: [...rows],
              answeredAt: null,
              latencyMs: 7,
            }
      }),
    )
  const port = await reservePort()
  const baseUrl = `http://${hostname}:${port}`
  const part = createProofPart(
    { clock: systemClock, db: database.db, log: SILENT_LOGGER, runChange },
    { baseUrl, host: '127.0.0.1', probePorts },
    { ask, hurry: () => undefined, tls: undefined },
  )
  part.mount?.(http)
  mount?.(http, listPorts(probePorts))
  const { connection, network } = database
  const listener = createListener(connection, { log: SILENT_LOGGER, network })
  const supervisor = createSupervisor(
    [part],
    { listener, network: { close: () => undefined } },
    SILENT_LOGGER,
  )
  cleanup.add(() => http.close())
  await supervisor.start()
  if (mount !== undefined) await http.listen({ host: '127.0.0.1', port })
  cleanup.add(() => supervisor.stop())
  const email = `ada.${newSecret(6)}@example.com`
  const person = { id: await insertPerson(database.db, { email }), email }
  const application = await insertApplication(database.db)
  const post = async (path: string, cookie: string) => {
    const headers = { cookie, origin: baseUrl, 'sec-fetch-site': 'same-origin' }
    return http.inject({ method: 'POST', url: path, headers })
  }
  return {
    allPorts: listPorts(probePorts),
    ...{ database, runChange, http, baseUrl, person, answers, asked },
    addDevice: (values = {}) =>
      insertDevice(database.db, {
        ...inOrder(),
        platform: 'linux',
        owner_person_id: person.id,
        ...values,
      }),
    begin: async (address) => {
      const { attempt, secret } = await beginTestAttempt(runChange, application, address)
      await identifyTestPerson(runChange, attempt.id, email)
      const cookie = writeAttemptCookie(attempt.id, secret, baseUrl).split(';')[0] ?? ''
      return { id: attempt.id, cookie }
    },
    start: async ({ id, cookie }) => {
      const answer = await post(`/sign-in/attempts/${id}/proof`, cookie)
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
      const [own = ''] = [answer.headers['set-cookie'] ?? ''].flat()
      const { ports, path } = answer.json<{ ports: number[]; path: string }>()
      return { ports, path, cookies: `${cookie}; ${own.split(';')[0] ?? ''}` }
    },
    finish: async ({ id, cookie }) => {
      const answer = await post(`/sign-in/attempts/${id}/proof/result`, cookie)
      return answer.statusCode === 200
        ? answer.json<{ stage: string }>().stage
        : String(answer.statusCode)
    },
    open: (probe, { path, cookies }, headers = {}, socket = undefined) => {
      const own = { origin: baseUrl, 'sec-fetch-site': 'same-site', cookie: cookies }
      return openPort(probe, path, { ...own, ...headers }, socket)
    },
    attempt: (id) => findAttempt(database.db, id),
    runJobs: async () => {
      await notifier.flush()
      await listener.whenListening()
      for (const job of part.jobs ?? []) await job.run()
    },
    close: () => cleanup.run(),
  }
}

/** What a Linux device says of a browser that holds these connections. */
export function browserRows(
  opened: readonly Pick<OpenedPort, 'port' | 'localPort'>[],
  changes: AnswerRow = {},
): AnswerRow[] {
  return opened.map(({ port, localPort }) => ({
    kind: 'browser',
    pid: '812',
    root_pid: '800',
    local_address: '127.0.0.1',
    local_port: String(localPort),
    remote_address: '127.0.0.1',
    remote_port: String(port),
    path: '/usr/lib/chromium/chromium',
    uid: '1000',
    username: 'ada',
    age: '3600',
    file_uid: '0',
    file_mode: '0755',
    user_namespace: '1',
    first_user_namespace: '1',
    ...changes,
  }))
}

async function openPort(
  port: number,
  path: string,
  headers: Record<string, string>,
  socket?: Socket,
): Promise<OpenedPort> {
  const defined = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
  const [response, request] = await new Promise<[IncomingMessage, ClientRequest]>(
    (resolve, reject) => {
      const over = socket === undefined ? { agent: false } : { createConnection: () => socket }
      const sent = sendHttp({ host: '127.0.0.1', port, path, headers: defined, ...over })
      sent.once('response', (answer) => resolve([answer, sent]))
      sent.once('error', reject)
      sent.end()
    },
  )
  response.on('error', () => undefined)
  response.resume()
  const { localPort = 0 } = request.socket ?? ({} as Partial<Socket>)
  const ended = new Promise<void>((resolve) => response.once('close', () => resolve()))
  const status = response.statusCode ?? 0
  return { status, port, localPort, ended, close: () => request.destroy() }
}

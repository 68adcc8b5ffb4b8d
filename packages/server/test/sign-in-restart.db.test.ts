/*
 * A sign-in through real processes of the service on one database: each step answered by the other one of two, and each
 * step after the process was killed. Nothing of a sign-in may be in the memory of a process alone.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { updateSignInPolicy } from '../src/sign-in/policy/policy-store.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { insertDevice, insertPerson } from './support/factories.ts'
import { inOrder } from './support/sign-in-fixtures.ts'
import { toUrl } from './support/to-url.ts'
import { reservePort } from './support/reserve-ports.ts'
import { ServiceProcess } from './e2e/support/service-process.ts'

const EMAIL = 'ada@example.com'
const LIMIT_MS = 300_000

let database: TestDatabase
let folder: string
let baseUrl: string
let key: string
let deviceId: string
const services: ServiceProcess[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'heliograph-restart-'))
  const ports = [await reservePort(), await reservePort()]
  baseUrl = `http://127.0.0.1:${ports[0]}`
  const masterKey = randomBytes(32).toString('base64')
  for (const port of ports) {
    const service = new ServiceProcess({
      dataDir: join(folder, String(port)),
      port,
      environment: {
        DATABASE_URL: toUrl(database.connection),
        HELIOGRAPH_BASE_URL: baseUrl,
        HELIOGRAPH_MASTER_KEY: masterKey,
        HELIOGRAPH_LOG_LEVEL: 'warn',
      },
    })
    services.push(service)
    await service.start()
  }
  key = await createKey()
  const personId = await insertPerson(database.db, { email: EMAIL })
  deviceId = await insertDevice(database.db, { ...inOrder(), owner_person_id: personId })
  await updateSignInPolicy(database.db, { fallbacks: ['admin_approval'] }, new Date())
}, LIMIT_MS)

afterAll(async () => {
  for (const service of services) await service.stop()
  await database.close()
  await rm(folder, { recursive: true, force: true })
}, LIMIT_MS)

async function createKey(): Promise<string> {
  const [service] = services
  const names = ['--first-name', 'Grace', '--last-name', 'Hopper']
  await service?.command('admins', 'create', '--email', 'grace@example.com', ...names)
  const created = (await service?.command(
    ...['keys', 'create', '--name', 'approvals', '--responsible', 'grace@example.com'],
    ...['--permission', 'Manage Sign-in=Approves.', '--permission', 'Read Sign-in=Looks.'],
  )) as { readonly key: string }
  return created.key
}

/** Which process answers the next step. */
type Next = () => Promise<ServiceProcess>

/** A browser that is led by load balancers: its cookies are good wherever it comes to. */
class Visitor {
  readonly #cookies = new Map<string, string>()
  readonly #next: Next

  constructor(next: Next) {
    this.#next = next
  }

  async ask(path: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    const service = await this.#next()
    const answer = await fetch(`${service.baseUrl}${path}`, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        origin: baseUrl,
        'sec-fetch-site': 'same-origin',
        cookie: [...this.#cookies].map((pair) => pair.join('=')).join('; '),
      },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    })
    for (const header of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
      this.#cookies.set(name, value)
    }
    return answer
  }

  /** Sends a form; answers where it leads. */
  async send(path: string, form: Readonly<Record<string, string>>): Promise<string> {
    const answer = await this.ask(path, form)
    expect([answer.status, await answer.text()]).toEqual([303, ''])
    return answer.headers.get('location') ?? ''
  }
}

async function callApi<Body>(service: ServiceProcess, method: string, path: string): Promise<Body> {
  const answer = await fetch(`${service.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(method === 'POST' ? { body: '{}' } : {}),
  })
  const body = (await answer.json()) as Body
  expect([answer.status, body]).toEqual([200, body])
  return body
}

/** Approves what waits, at a process and after another. */
async function approve(next: Next): Promise<void> {
  const { data } = await callApi<{ readonly data: readonly { readonly id: string }[] }>(
    ...([await next(), 'GET', '/sign_in_attempts'] as const),
  )
  expect(data).toHaveLength(1)
  await callApi(await next(), 'POST', `/sign_in_attempts/${data[0]?.id}/approve`)
}

/** Begins a sign-in without a proof, and asks an admin. */
async function waitForAdmin(visitor: Visitor): Promise<string> {
  const page = await visitor.send('/sign-in/me/sign-in', { email: EMAIL })
  await visitor.send(`${page}/proof`, { unavailable: 'yes' })
  await visitor.send(`${page}/confirm`, { way: 'admin_approval', device: deviceId })
  expect(await (await visitor.ask(page)).text()).toContain('Waiting for a confirmation')
  return page
}

/** Looks at the page until the person is let in, and goes on to the own pages. */
async function goOn(visitor: Visitor, page: string): Promise<void> {
  const finish = await vi.waitFor(
    async () => {
      await (await visitor.ask(page)).text()
      const answer = await visitor.ask(`${page}/return`)
      expect(answer.status).toBe(303)
      return answer.headers.get('location') ?? ''
    },
    { timeout: 60_000, interval: 200 },
  )
  expect((await visitor.ask(finish)).headers.get('location')).toBe('/sign-in/me')
  const own = await visitor.ask('/sign-in/me')
  expect([own.status, (await own.text()).includes(`devices/${deviceId}`)]).toEqual([200, true])
  // Taken once, wherever it is asked for again.
  const again = await visitor.ask(finish)
  expect(again.headers.getSetCookie()).toEqual([])
}

it(
  'goes on when each step is answered by the other process, and the page that waits hears of it',
  async () => {
    let count = 0
    const next: Next = async () => services[count++ % 2] as ServiceProcess
    const visitor = new Visitor(next)
    const page = await waitForAdmin(visitor)
    const stages: string[] = []
    const events = await visitor.ask(`${page}/events`)
    const reading = (async () => {
      const decoder = new TextDecoder()
      for await (const chunk of events.body ?? []) {
        const text = decoder.decode(chunk as Uint8Array, { stream: true })
        for (const [, stage = ''] of text.matchAll(/"stage":"(\w+)"/g)) stages.push(stage)
      }
    })()
    await approve(next)
    await goOn(visitor, page)
    await reading
    expect(stages[0]).toBe('fallback')
    expect(stages.at(-1)).toBe('done')
  },
  LIMIT_MS,
)

it(
  'goes on after the process was killed before each step',
  async () => {
    const service = services[0] as ServiceProcess
    let steps = 0
    const next: Next = async () => {
      // The steps that change something; looking at pages comes between them.
      if (steps < 6) {
        await service.kill(false)
        await service.start()
      }
      steps += 1
      return service
    }
    const visitor = new Visitor(next)
    const page = await waitForAdmin(visitor)
    await approve(next)
    // Decided, and nobody has acted on it: killed in between.
    await service.kill(false)
    await service.start()
    await goOn(visitor, page)
  },
  LIMIT_MS,
)

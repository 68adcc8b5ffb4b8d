import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { expect } from 'vitest'
import { hashEnrollmentSecret } from '../../src/posture/enrollment/secrets/create-enrollment-secret.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { createHttpApp } from '../../src/platform/http/create-app.ts'
import type { DistributedResult } from '../../src/posture/osquery/agent-message.ts'
import {
  AGENT_SETTINGS_DEFAULT,
  type AgentSettings,
} from '../../src/posture/osquery/agent-settings.ts'
import {
  createContactRecorder,
  type ContactRecorder,
} from '../../src/posture/osquery/contact-recorder.ts'
import { createDeviceQueue } from '../../src/posture/osquery/device-queue.ts'
import { createHeldReads, type HeldReads } from '../../src/posture/osquery/held-reads.ts'
import { createHurriedDevices, HURRY_CHANNEL } from '../../src/posture/osquery/hurried-devices.ts'
import { createNodeCache } from '../../src/posture/osquery/node-cache.ts'
import { findNode } from '../../src/posture/osquery/node-store.ts'
import {
  registerOsqueryRoutes,
  type OsqueryRoutesDependencies,
} from '../../src/surfaces/agents/register-osquery-routes.ts'
import {
  DEVICE_ISSUES_CHANNEL,
  parseDeviceIssues,
} from '../../src/posture/devices/device-issues-store.ts'
import { DEVICE_CHANNEL } from '../../src/posture/devices/device-store.ts'
import type { Listener } from '../../src/platform/db/listener.ts'
import { createReportProblemNotes } from '../../src/posture/devices/report-problem.ts'
import {
  QUESTION_CHANNEL,
  QUESTION_PREFIX,
} from '../../src/posture/device-questions/device-question.ts'
import { QuestionInbox } from '../../src/posture/device-questions/question-inbox.ts'
import { listOpenQuestions } from '../../src/posture/device-questions/question-store.ts'
import { recordQuestionAnswers } from '../../src/posture/device-questions/record-question-answers.ts'
import { boundRows } from '../../src/posture/reporting/bound-snapshot.ts'
import type { ReportedSnapshot } from '../../src/surfaces/agents/collect-log.ts'
import { createPosture, type Posture } from './posture-fixtures.ts'
import { emptyTables } from './empty-tables.ts'

const SECRET = 'enrollment-secret-of-the-tests'

export const SCHEDULE = {
  'report:usb_devices': { query: 'select * from usb_devices', interval: 3600, snapshot: true },
}

export interface ReadAnswer {
  queries: Record<string, string>
  discovery?: Record<string, string>
  accelerate?: number
}

/** What a process of the intake consists of. */
export interface BuiltIntake {
  readonly app: FastifyInstance
  readonly contacts: ContactRecorder
  readonly reads: HeldReads
  readonly questions: QuestionInbox
}

/** The agent intake on a database, with one enrollment secret, and agents that speak to it. */
export class Agents {
  readonly posture: Posture
  readonly app: FastifyInstance
  readonly contacts: ContactRecorder
  readonly snapshots: ReportedSnapshot[] = []
  readonly liveResults: DistributedResult[] = []
  liveQueries: Record<string, string> | undefined
  /** How many statements and changes the intake has begun. */
  queryCount = 0
  /** What every statement and change throws from now on. */
  fault: Error | undefined
  readonly #db: Kysely<Schema>
  readonly #built: BuiltIntake[] = []

  private constructor(db: Kysely<Schema>) {
    this.#db = db
    this.posture = createPosture(db)
    const { app, contacts } = this.build()
    this.app = app
    this.contacts = contacts
  }

  /** Empties the database first. */
  static async create(db: Kysely<Schema>): Promise<Agents> {
    await emptyTables(db, 'device', 'removed_host', 'posture_check', 'enrollment_secret', 'person')
    const agents = new Agents(db)
    const at = agents.posture.clock.now()
    await db
      .insertInto('enrollment_secret')
      .values({
        name: 'tests',
        secret_hash: hashEnrollmentSecret(SECRET),
        secret_sealed: Buffer.alloc(1),
        person_id: null,
        created_at: at,
        updated_at: at,
        expires_at: null,
        revoked_at: null,
        last_used_at: null,
      })
      .execute()
    return agents
  }

  /** Another process of the same service; hears of changes when it gets a listener. */
  build(
    settings: Partial<AgentSettings> = {},
    more: Partial<OsqueryRoutesDependencies> & { listener?: Listener } = {},
  ): BuiltIntake {
    const { listener, ...rest } = more
    const { clock } = this.posture
    const db = this.#watched()
    // Unless a test wants it, an idle check-in is answered at once.
    const ownSettings = { ...AGENT_SETTINGS_DEFAULT, checkInHoldMs: 0, ...settings }
    const reads = createHeldReads()
    const hurried = createHurriedDevices(clock)
    const nodes = createNodeCache({
      clock,
      settings: ownSettings,
      findNode: (keyHash) => findNode(db, keyHash),
    })
    listener?.subscribe(DEVICE_CHANNEL, (deviceId) => {
      nodes.invalidate(deviceId)
      reads.wake(deviceId)
    })
    const questions = new QuestionInbox({
      clock,
      listOpenQuestions: (deviceIds) => listOpenQuestions(this.#db, clock.now(), deviceIds),
      onAsked: (deviceIds) => deviceIds.forEach((deviceId) => reads.wake(deviceId)),
      logError: (error) => {
        throw error
      },
    })
    listener?.subscribe(QUESTION_CHANNEL, (payload) => questions.refresh(payload.split(' ')))
    listener?.subscribe(DEVICE_ISSUES_CHANNEL, (payload) => {
      const { deviceIds, hasIssues } = parseDeviceIssues(payload)
      nodes.noteIssues(deviceIds, hasIssues)
    })
    listener?.subscribe(HURRY_CHANNEL, (payload) => hurried.note(payload))
    listener?.onReconnect(() => nodes.invalidate('all'))
    const contacts = createContactRecorder(db, (error) => {
      throw error
    })
    const app = createHttpApp({
      logger: pino({ level: 'silent' }),
      baseUrl: 'https://trust.example.com',
      limits: { bodyBytesMax: 1_048_576 },
    })
    registerOsqueryRoutes(app, {
      db,
      nodes,
      contacts,
      reads,
      hurried,
      runChange: async (origin, work) => {
        this.#touch()
        return this.posture.runChange(origin, work)
      },
      clock,
      settings: ownSettings,
      writes: createDeviceQueue({
        runningMax: 4,
        messagesPerDeviceMax: 200,
        bytesPerDeviceMax: 32 * 1024 * 1024,
        waitMaxMs: 10_000,
      }),
      reporting: {
        schedule: () => SCHEDULE,
        prefix: 'report:',
        boundSnapshot: (tableName, rows) =>
          tableName === 'usb_devices' ? boundRows(rows, ['vendor', 'model_id']) : undefined,
        recordSnapshots: async (_change, _deviceId, received) => {
          this.snapshots.push(...received)
        },
      },
      noteProblems: createReportProblemNotes(),
      questions: {
        idPrefix: QUESTION_PREFIX,
        pendingQueries: (deviceId) => questions.pendingQueries(deviceId),
        recordResults: (change, deviceId, results) =>
          recordQuestionAnswers(change, questions, deviceId, results),
      },
      liveQueries: {
        idPrefix: 'live:',
        pendingQueries: () => this.liveQueries,
        recordResults: async (_change, reports) => {
          this.liveResults.push(...reports.flatMap(({ results }) => results))
        },
      },
      baseUrl: 'https://trust.example.com',
      certificatePem: () => 'PEM',
      ...rest,
    })
    const built = { app, contacts, reads, questions }
    this.#built.push(built)
    return built
  }

  post(
    path: string,
    body: object | string,
    headers: Record<string, string> = {},
    app = this.app,
    remoteAddress = '127.0.0.1',
  ): Promise<LightMyRequestResponse> {
    return app.inject({
      method: 'POST',
      remoteAddress,
      url: `/osquery/${path}`,
      headers: { 'content-type': 'application/json', ...headers },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  /** Enrolls `host-1` and answers its node key. */
  async enroll(more: object = {}, app = this.app): Promise<string> {
    const answer = await this.post('enroll', enrollBody(more), {}, app)
    expect(answer.statusCode).toBe(200)
    return answer.json<{ node_key: string }>().node_key
  }

  /** Uses a node key, and has that written. */
  async use(nodeKey: string): Promise<void> {
    this.posture.clock.advance(1_000)
    expect((await this.post('config', { node_key: nodeKey })).statusCode).toBe(200)
    await this.contacts.flush()
  }

  async read(nodeKey: string, app = this.app): Promise<ReadAnswer> {
    return (await this.post('distributed/read', { node_key: nodeKey }, {}, app)).json()
  }

  /** Answers queries by id, each with one row of this status, as current agents do. */
  answer(
    nodeKey: string,
    statusById: Record<string, string>,
    app = this.app,
  ): Promise<LightMyRequestResponse> {
    const ids = Object.entries(statusById)
    const body = {
      node_key: nodeKey,
      queries: Object.fromEntries(
        ids.map(([id, status]) => [id, [{ KOLIDE_CHECK_STATUS: status }]]),
      ),
      statuses: Object.fromEntries(ids.map(([id]) => [id, 0])),
      messages: {},
      stats: {},
    }
    return this.post('distributed/write', body, {}, app)
  }

  async close(): Promise<void> {
    this.fault = undefined
    for (const { app, contacts, reads } of this.#built) {
      reads.close()
      await app.close()
      await contacts.stop()
    }
  }

  #touch(): void {
    this.queryCount += 1
    if (this.fault !== undefined) throw this.fault
  }

  #watched(): Kysely<Schema> {
    return this.#db.withPlugin({
      transformQuery: ({ node }) => {
        this.#touch()
        return node
      },
      transformResult: async ({ result }) => result,
    })
  }
}

/** What a device says of its system when it enrolls. */
export function describeSystem(uuid: string, serial: string): object {
  return {
    system_info: {
      hostname: 'host-1',
      computer_name: 'Mac of A',
      uuid,
      hardware_serial: serial,
      hardware_model: 'MacBookPro18,1',
    },
    os_version: { name: 'macOS', version: '15.1', platform: 'darwin' },
    osquery_info: { version: '5.23.0' },
  }
}

/** The body with which `host-1` enrolls. */
export function enrollBody(more: object = {}): Record<string, unknown> {
  return {
    enroll_secret: `${SECRET}\n`,
    host_identifier: 'host-1',
    platform_type: '21',
    host_details: describeSystem('UUID-1', 'SERIAL-1'),
    ...more,
  }
}

/** What osquery takes for a failure: an object with a text in `error`; and not `node_invalid`. */
export function expectFailure(answer: LightMyRequestResponse, status: number): void {
  expect(answer.statusCode).toBe(status)
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  const body = answer.json<Record<string, unknown>>()
  expect(body['error']).toEqual(expect.any(String))
  expect(body['node_invalid']).toBeUndefined()
}

export function expectNodeInvalid(answer: LightMyRequestResponse): void {
  expect(answer.statusCode).toBe(401)
  const body = answer.json<Record<string, unknown>>()
  expect(body['node_invalid']).toBe(true)
  expect(body['error']).toEqual(expect.any(String))
}

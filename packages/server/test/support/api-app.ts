import { createSecretKey } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { createKeyAdmission } from '../../src/organisation/api-keys/admit-api-keys.ts'
import { authenticateApiKey } from '../../src/organisation/api-keys/authenticate-api-key.ts'
import { createAuditChainer } from '../../src/changes/audit/chain/audit-chainer.ts'
import { createPublishers } from '../../src/app/publishers.ts'
import {
  createChangeRunner,
  type ChangePublisher,
  type RunChange,
} from '../../src/changes/change.ts'
import type { DeviceTrust } from '../../src/organisation/admin-sign-in/device-trust.ts'
import { toConsoleSite } from '../../src/organisation/admin-sign-in/console-site.ts'
import { createFeatureSwitches } from '../../src/organisation/settings/feature-switches.ts'
import { insertOrganisation } from '../../src/organisation/settings/organisation-store.ts'
import { ManualClock } from './manual-clock.ts'
import { CommitNotifier } from '../../src/platform/db/commit-notifier.ts'
import type { DatabaseConnection } from '../../src/platform/db/connection.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { createAnswerOnce } from '../../src/platform/http/idempotency/answer-once.ts'
import { bearerCredential, checkPermission } from '../../src/platform/http/access.ts'
import { createHttpApp } from '../../src/platform/http/create-app.ts'
import type { Permission } from '../../src/schema/permissions.ts'
import { createRateLimitStore } from '../../src/platform/rate-limits/rate-limit-store.ts'
import { withSessions } from '../../src/surfaces/callers.ts'
import { createDeviceTrust } from '../../src/sign-in/admin-devices/device-trust-read.ts'
import { registerApi } from '../../src/surfaces/rest/register-api.ts'
import type { ApiRoute } from '../../src/platform/http/route.ts'
import { parseMasterKeys } from '../../src/platform/secrets/master-key.ts'
import { SILENT_LOGGER } from '../../src/platform/silent-logger.ts'
import { ReportingSandbox } from '../../src/posture/reporting/sandbox/reporting-sandbox.ts'
import { createSealer, type Sealer } from '../../src/platform/secrets/sealed-box.ts'
import { createKeyAdmin, createTestKey } from './api-keys.ts'
import { createTestDatabase } from './database.ts'
import { UNWATCHED } from './test-engine.ts'

export const BASE_URL = 'https://trust.example.com'

/** High enough for all requests of a file; the limit has tests of its own. */
const REQUESTS_PER_MINUTE = 100_000

export const REPORTING_RESULT_BYTES_MAX = 65_536

export interface TestAnswer<Body> {
  readonly status: number
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
  readonly body: Body
}

export interface TestRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Null sends no credential; left out, the key of this API is sent. */
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly payload?: object
}

/** The body of a refusal. */
export interface TestRefusal {
  readonly error: string
  readonly message: string
  readonly code: string
  readonly request_id: string
  /** Of a body that is wrong in some members: which, and why. */
  readonly details?: readonly { readonly path: string; readonly message: string }[]
}

/** Routes behind the real stack of the API, on a database of their own. */
export interface TestApi {
  readonly app: FastifyInstance
  readonly db: Kysely<Schema>
  readonly clock: ManualClock
  readonly runChange: RunChange
  readonly sealer: Sealer
  readonly deviceTrust: DeviceTrust
  /** For a listener. */
  readonly connection: DatabaseConnection
  /** Where reporting queries run. */
  readonly sandbox: ReportingSandbox
  /** A live key without permissions. */
  readonly key: string
  /** Has someone besides the publishers of the service hear of every change. */
  readonly addPublisher: (publisher: ChangePublisher) => void
  createKey(permissions: readonly Permission[]): Promise<string>
  /** Sends a request; `Body` is what the test expects the answer to be, not what is checked. */
  request<Body>(url: string, request?: TestRequest): Promise<TestAnswer<Body>>
  close(): Promise<void>
}

/** What routes may need of the service around them. */
export type TestApiParts = Pick<
  TestApi,
  'db' | 'clock' | 'runChange' | 'sealer' | 'deviceTrust' | 'sandbox' | 'addPublisher'
>

/** Close it in `afterAll`. */
export async function createTestApi(
  createRoutes: (parts: TestApiParts) => readonly ApiRoute[],
): Promise<TestApi> {
  const database = await createTestDatabase()
  const { db } = database
  const clock = new ManualClock()
  const auditChainer = createAuditChainer(db, { logError: () => undefined })
  const sealer = createSealer(parseMasterKeys(Buffer.alloc(32, 7).toString('base64'), 'test'))
  const publishers = [
    ...createPublishers({ clock, sealer, baseUrl: BASE_URL, auditChainer, topics: UNWATCHED }),
  ]
  const notifier = new CommitNotifier({ db, logError: () => undefined })
  const runChange = createChangeRunner(db, clock, publishers, notifier)
  const sandbox = new ReportingSandbox({
    db,
    log: SILENT_LOGGER,
    access: database.reporting,
    resultBytesMax: REPORTING_RESULT_BYTES_MAX,
  })
  const deviceTrust = createDeviceTrust({ clock })
  const { connection } = database
  const parts = { db, clock, runChange, sealer, sandbox, connection, deviceTrust }
  await insertOrganisation(db, 'Example', clock.now())
  await createKeyAdmin(runChange)
  const addPublisher = (publisher: ChangePublisher) => void publishers.push(publisher)
  const createKey: TestApi['createKey'] = (permissions) => createTestKey(parts, permissions)
  const key = await createKey([])
  const app = createApp(parts, createRoutes({ ...parts, addPublisher }))
  return {
    ...parts,
    app,
    key,
    addPublisher,
    createKey,
    request: (url, request = {}) => sendRequest(app, key, url, request),
    close: async () => {
      await app.close()
      await notifier.flush()
      await database.close()
    },
  }
}

function createApp(
  { db, clock, sealer, deviceTrust }: Pick<TestApi, 'db' | 'clock' | 'sealer' | 'deviceTrust'>,
  routes: readonly ApiRoute[],
): FastifyInstance {
  const app = createHttpApp({
    logger: pino({ level: 'silent' }),
    baseUrl: BASE_URL,
    limits: { bodyBytesMax: 1_048_576 },
  })
  const features = createFeatureSwitches(db)
  const callers = {
    credentials: [
      bearerCredential(
        (secret) => authenticateApiKey(db, clock, secret),
        createKeyAdmission({ db, clock, requestsPerMinute: REQUESTS_PER_MINUTE }),
      ),
    ],
    rateLimiter: createRateLimitStore(db, clock),
    limits: {
      requestsPerMinute: REQUESTS_PER_MINUTE,
      failedAuthenticationsPerMinute: REQUESTS_PER_MINUTE,
    },
  }
  registerApi(app, {
    routes,
    callers: withSessions(callers, { db, deviceTrust }, toConsoleSite(BASE_URL)),
    checkPermission,
    isFeatureEnabled: (feature) => features.isFeatureEnabled(feature),
    answerOnce: createAnswerOnce({
      db,
      clock,
      sealer,
      logError: (error) => {
        throw error
      },
    }),
    paging: { baseUrl: BASE_URL, cursorKey: createSecretKey(Buffer.alloc(32, 1)) },
  })
  return app
}

/** Sends a request without a network, with this key unless it names another. */
export async function sendRequest<Body>(
  app: FastifyInstance,
  defaultKey: string,
  url: string,
  request: TestRequest,
): Promise<TestAnswer<Body>> {
  const key = request.key === undefined ? defaultKey : request.key
  const response = await app.inject({
    method: request.method ?? 'GET',
    url,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...request.headers,
    },
    ...(request.payload === undefined ? {} : { payload: request.payload }),
  })
  const body = (response.body === '' ? undefined : response.json()) as Body
  return { status: response.statusCode, headers: response.headers, body }
}

import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { createAuditChainer } from '../../src/changes/audit/chain/audit-chainer.ts'
import { createPublishers } from '../../src/app/publishers.ts'
import { createChangeRunner, type RunChange } from '../../src/changes/change.ts'
import { insertOrganisation } from '../../src/organisation/settings/organisation-store.ts'
import { ManualClock } from './manual-clock.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { CommitNotifier } from '../../src/platform/db/commit-notifier.ts'
import { createListener } from '../../src/platform/db/listener.ts'
import { createHttpApp } from '../../src/platform/http/create-app.ts'
import { createRateLimitStore } from '../../src/platform/rate-limits/rate-limit-store.ts'
import { createGuardedClient } from '../../src/platform/net/guarded-client.ts'
import { parseAllowedTargets } from '../../src/platform/net/target-policy.ts'
import { parseMasterKeys } from '../../src/platform/secrets/master-key.ts'
import { createSealer, type Sealer } from '../../src/platform/secrets/sealed-box.ts'
import { createSsfClient, type ClientDraft } from '../../src/signals/clients/change-client.ts'
import { DELIVERY_CHANNEL, toDestinationId } from '../../src/signals/dispatch/delivery-store.ts'
import { PollWaiters } from '../../src/signals/poll/poll-waiters.ts'
import { KeyRing } from '../../src/signals/signing/key-ring.ts'
import { createRefusedKeys } from '../../src/signals/signing/refused-keys.ts'
import { ensureSigningKey } from '../../src/signals/signing/signing-keys.ts'
import { SigningPool } from '../../src/signals/signing/signing-pool.ts'
import { registerStandardSsf } from '../../src/surfaces/standard-ssf/register-standard-ssf.ts'
import type { SsfSettings } from '../../src/signals/streams/stream-context.ts'
import { BASE_URL, type TestAnswer } from './api-app.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { SILENT, UNWATCHED } from './test-engine.ts'
import { DatabaseNetwork } from '../../src/platform/db/database-network.ts'

/** A client with the secret that it was given. */
export interface TestClient {
  readonly id: string
  readonly clientId: string
  readonly secret: string
}

export interface StandardRequestOptions {
  readonly method?: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Left out, a token with both scopes is sent; null sends none. */
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly payload?: unknown
}

/** The standard surface behind the real HTTP stack, on a database of its own. */
export interface StandardApi {
  readonly app: FastifyInstance
  readonly db: Kysely<Schema>
  readonly database: TestDatabase
  readonly clock: ManualClock
  readonly runChange: RunChange
  readonly sealer: Sealer
  readonly keyRing: KeyRing
  readonly waiters: PollWaiters
  /** Holds both scopes; whose token requests carry. */
  readonly client: TestClient
  /** Lines that were logged at `error`. */
  readonly errors: string[]
  switchOff(isOff: boolean): void
  newClient(draft?: Partial<ClientDraft>): Promise<TestClient>
  newToken(client: TestClient, scope?: string): Promise<string>
  call<Body = unknown>(url: string, options?: StandardRequestOptions): Promise<TestAnswer<Body>>
  close(): Promise<void>
}

/** What extensions may need of the surface around them. */
export type StandardApiParts = Pick<
  StandardApi,
  'db' | 'clock' | 'runChange' | 'sealer' | 'keyRing'
>

export interface StandardApiOptions extends Partial<SsfSettings> {
  readonly streamsMax?: number
  readonly failedAuthenticationsPerMinute?: number
  readonly requestsPerMinute?: number
}

/** Close it in `afterAll`; 127.0.0.1 is allow-listed. */
export async function createStandardApi(options: StandardApiOptions = {}): Promise<StandardApi> {
  const policy = parseAllowedTargets('127.0.0.1')
  if (!policy.ok) throw new Error(policy.reason)
  const database = await createTestDatabase()
  const { db } = database
  const clock = new ManualClock()
  const auditChainer = createAuditChainer(db, { logError: () => undefined })
  const sealer = createSealer(parseMasterKeys(Buffer.alloc(32, 7).toString('base64'), 'test'))
  const publishers = createPublishers({
    clock,
    sealer,
    baseUrl: BASE_URL,
    auditChainer,
    topics: UNWATCHED,
  })
  const notifier = new CommitNotifier({ db, logError: () => undefined })
  const runChange = createChangeRunner(db, clock, publishers, notifier)
  const pool = new SigningPool({ threadCount: 1 })
  const keyRing = new KeyRing({ db, clock, sealer, pool })
  const waiters = new PollWaiters(10_000)
  const guardedClient = createGuardedClient({ policy: policy.policy, userAgent: 'Heliograph test' })
  const errors: string[] = []
  let isOff = false
  await insertOrganisation(db, 'Example', clock.now())
  await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    ensureSigningKey(change, { sealer, modulusBits: 2048 }),
  )
  await keyRing.refresh()
  const app = createHttpApp({
    logger: pino({ level: 'error' }, { write: (line: string) => void errors.push(line) }),
    baseUrl: BASE_URL,
    limits: { bodyBytesMax: 1_048_576 },
  })
  registerStandardSsf(app, {
    db,
    clock,
    runChange,
    sealer,
    waiters,
    topics: UNWATCHED,
    keyRing,
    client: guardedClient,
    retentionDays: 180,
    refusedKeys: createRefusedKeys({ runChange, clock, keyRing, logError: rethrow }),
    baseUrl: BASE_URL,
    targetPolicy: policy.policy,
    streamsMax: options.streamsMax ?? 100,
    settings: {
      minVerificationIntervalSeconds: options.minVerificationIntervalSeconds ?? 0,
      inactivityTimeoutSeconds: options.inactivityTimeoutSeconds ?? 0,
      defaultSubjects: options.defaultSubjects ?? 'ALL',
      subjectsMax: options.subjectsMax ?? 100,
    },
    limits: {
      rateLimiter: createRateLimitStore(db, clock),
      limits: {
        requestsPerMinute: options.requestsPerMinute ?? 100_000,
        failedAuthenticationsPerMinute: options.failedAuthenticationsPerMinute ?? 100_000,
      },
    },
    isEnabled: async () => !isOff,
  })
  const listener = createListener(database.connection, {
    log: SILENT,
    network: new DatabaseNetwork(),
  })
  listener.subscribe(DELIVERY_CHANNEL, (payload) => waiters.wake(toDestinationId(payload)))
  listener.start()
  await listener.whenListening()
  const newClient: StandardApi['newClient'] = async (draft = {}) => {
    const { client, secret } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
      createSsfClient(change, {
        name: 'Gateway',
        scopes: ['ssf.read', 'ssf.manage'],
        audience: null,
        jwks: null,
        defaultSubjects: null,
        profile: 'strict',
        ...draft,
      }),
    )
    return { id: client.id, clientId: client.clientId, secret: secret ?? '' }
  }
  const newToken: StandardApi['newToken'] = (client, scope) => requestToken(app, client, scope)
  const client = await newClient()
  const ownToken = await newToken(client)
  return {
    app,
    db,
    database,
    clock,
    runChange,
    sealer,
    keyRing,
    waiters,
    client,
    errors,
    switchOff: (value) => {
      isOff = value
    },
    newClient,
    newToken,
    call: (url, request = {}) => send(app, ownToken, url, request),
    close: async () => {
      waiters.close()
      await listener.stop()
      await app.close()
      await guardedClient.close()
      await pool.close()
      await notifier.flush()
      await database.close()
    },
  }
}

function rethrow(error: unknown): never {
  throw error
}

async function requestToken(
  app: FastifyInstance,
  { clientId, secret }: TestClient,
  scope?: string,
): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope === undefined ? {} : { scope }),
  })
  const answer = await app.inject({
    method: 'POST',
    url: '/ssf/token',
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: form.toString(),
  })
  if (answer.statusCode !== 200) throw new Error(`no token: ${answer.body}`)
  return answer.json<{ access_token: string }>().access_token
}

async function send<Body>(
  app: FastifyInstance,
  ownToken: string,
  url: string,
  request: StandardRequestOptions,
): Promise<TestAnswer<Body>> {
  const token = request.token === undefined ? ownToken : request.token
  const response = await app.inject({
    method: request.method ?? 'GET',
    url,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(request.payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    ...(request.payload === undefined ? {} : { payload: toPayload(request.payload) }),
  })
  const body = (response.body === '' ? undefined : response.json()) as Body
  return { status: response.statusCode, headers: response.headers, body }
}

/** A text goes as it is, for bodies that are no JSON. */
function toPayload(payload: unknown): string {
  return typeof payload === 'string' ? payload : JSON.stringify(payload)
}

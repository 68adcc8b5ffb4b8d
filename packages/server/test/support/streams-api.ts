import type { DestinationId, StreamRowId } from '../../src/schema/branded-ids.ts'
import { pino } from 'pino'
import { vi } from 'vitest'
import { createGuardedClient, type GuardedClient } from '../../src/platform/net/guarded-client.ts'
import { parseAllowedTargets } from '../../src/platform/net/target-policy.ts'
import { createListener } from '../../src/platform/db/listener.ts'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { DELIVERY_CHANNEL, toDestinationId } from '../../src/signals/dispatch/delivery-store.ts'
import { pollRoutes } from '../../src/signals/poll/poll-routes.ts'
import { pollTokenRoutes } from '../../src/signals/poll/poll-token-routes.ts'
import { PollWaiters } from '../../src/signals/poll/poll-waiters.ts'
import { createDeliverySender } from '../../src/signals/dispatch/delivery-sender.ts'
import { KeyRing } from '../../src/signals/signing/key-ring.ts'
import { jwksRoutes } from '../../src/signals/signing/jwks-routes.ts'
import { createRefusedKeys } from '../../src/signals/signing/refused-keys.ts'
import { signingKeyRoutes } from '../../src/signals/signing/signing-key-routes.ts'
import { ensureSigningKey } from '../../src/signals/signing/signing-keys.ts'
import { SigningPool } from '../../src/signals/signing/signing-pool.ts'
import { streamRoutes } from '../../src/signals/streams/stream-routes.ts'
import { wellKnownRoutes } from '../../src/signals/streams/well-known-routes.ts'
import {
  BASE_URL,
  createTestApi,
  type TestAnswer,
  type TestApi,
  type TestRequest,
} from './api-app.ts'
import { SILENT, UNWATCHED } from './test-engine.ts'
import { createTestPushChannel } from './test-push-channel.ts'
import { DatabaseNetwork } from '../../src/platform/db/database-network.ts'

/** What the answer that creates a stream names it by. */
export interface StreamIds {
  readonly id: string
  readonly stream_id: string
}

export interface StreamsApi extends Pick<TestApi, 'db' | 'clock' | 'runChange' | 'sealer'> {
  readonly api: TestApi
  readonly keyRing: KeyRing
  readonly client: GuardedClient
  readonly waiters: PollWaiters
  readonly wake: ReturnType<typeof vi.fn<(destinationId: DestinationId) => void>>
  /** What the log was warned of. */
  readonly warned: ReturnType<typeof vi.fn>
  /** Sends a request with the permission for streams. */
  call<Body>(url: string, request?: TestRequest): Promise<TestAnswer<Body>>
  /** Creates a stream with exactly these members; throws when that is refused. */
  createStream<Body extends StreamIds = StreamIds>(payload: object): Promise<Body>
  /** The destination of what is queued for the stream with this `id`. */
  getDestinationId(id: string): Promise<DestinationId>
  /** Deletes every stream with all that was queued for it. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** Every route of streams on a database of its own; 127.0.0.1 is allow-listed. */
export async function createStreamsApi(options: { streamsMax?: number } = {}): Promise<StreamsApi> {
  const policy = parseAllowedTargets('127.0.0.1')
  if (!policy.ok) throw new Error(policy.reason)
  const client = createGuardedClient({ policy: policy.policy, userAgent: 'Heliograph test' })
  const waiters = new PollWaiters(10_000)
  const warned = vi.fn()
  const wake = vi.fn((destinationId: DestinationId) => waiters.wake(destinationId))
  const signing = new SigningPool({ threadCount: 1 })
  let keyRing: KeyRing | undefined
  const testApi = await createTestApi((parts) => {
    const { db, clock, runChange, sealer } = parts
    const ring = new KeyRing({ db, clock, sealer, pool: signing })
    keyRing = ring
    const logError = (error: unknown) => {
      throw error
    }
    const refusedKeys = createRefusedKeys({ runChange, clock, keyRing: ring, logError })
    const channels = [createTestPushChannel({ ...parts, keyRing: ring, client })]
    const sender = createDeliverySender({ db, clock, log: SILENT, client, channels })
    const shared = {
      ...parts,
      sender,
      baseUrl: BASE_URL,
      keyRing: ring,
      refusedKeys,
      client,
      waiters,
      topics: UNWATCHED,
      targetPolicy: policy.policy,
      streamsMax: options.streamsMax ?? 100,
      retentionDays: 180,
      settings: {
        minVerificationIntervalSeconds: 0,
        inactivityTimeoutSeconds: 0,
        defaultSubjects: 'ALL',
        subjectsMax: 100,
      },
    } as const
    return [
      ...streamRoutes({ ...shared, log: { warn: warned } }),
      ...pollRoutes(shared),
      ...pollTokenRoutes(shared),
      ...wellKnownRoutes({ baseUrl: BASE_URL }),
      ...jwksRoutes({ keyRing }),
      ...signingKeyRoutes({
        ...shared,
        modulusBits: 2048,
        onKeysChanged: () => void ring.refresh().catch(logError),
      }),
    ]
  })
  if (keyRing === undefined) throw new Error('the routes were not created')
  const { db, clock, runChange, sealer } = testApi
  await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    ensureSigningKey(change, { sealer, modulusBits: 2048 }),
  )
  await keyRing.refresh()
  const listener = createListener(testApi.connection, {
    log: pino({ level: 'silent' }),
    network: new DatabaseNetwork(),
  })
  listener.subscribe(DELIVERY_CHANNEL, (payload) => wake(toDestinationId(payload)))
  listener.start()
  await listener.whenListening()
  const key = await testApi.createKey(['Manage Shared Signals Framework Streams'])
  const call: StreamsApi['call'] = (url, request = {}) => testApi.request(url, { key, ...request })
  return {
    db,
    clock,
    runChange,
    sealer,
    api: testApi,
    keyRing,
    client,
    waiters,
    wake,
    warned,
    call,
    async createStream<Body extends StreamIds>(payload: object) {
      const { status, body } = await call<Body>('/ssf_streams', { method: 'POST', payload })
      if (status !== 201) throw new Error(`no stream: ${status} ${JSON.stringify(body)}`)
      return body
    },
    getDestinationId: (id) => getDestinationId(db, id),
    async clear() {
      await db.deleteFrom('ssf_stream').execute()
      await db.deleteFrom('delivery_destination').execute()
    },
    async close() {
      waiters.close()
      await listener.stop()
      await testApi.close()
      await client.close()
      await signing.close()
    },
  }
}

async function getDestinationId(db: TestApi['db'], id: string): Promise<DestinationId> {
  const row = await db
    .selectFrom('ssf_stream')
    .select('destination_id')
    .where('id', '=', id as StreamRowId)
    .executeTakeFirstOrThrow()
  return row.destination_id
}

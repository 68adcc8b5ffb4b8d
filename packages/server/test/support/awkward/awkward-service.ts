/* The whole API of a service, both surfaces, for receivers that reach it request by request. */
import { Writable } from 'node:stream'
import { SYSTEM_ACTOR } from '../../../src/changes/audit/audit-entry.ts'
import type { DeliveryEngine } from '../../../src/signals/dispatch/delivery-engine.ts'
import { DELIVERY_CHANNEL, toDestinationId } from '../../../src/signals/dispatch/delivery-store.ts'
import { createTestEngine } from '../test-engine.ts'
import type { DestinationId } from '../../../src/schema/branded-ids.ts'
import type { Compliance } from '../../../src/schema/status-values.ts'
import { createLogger } from '../../../src/platform/logger.ts'
import type { ServiceFoundation } from '../../../src/app/foundation.ts'
import { createSsfClient, type ClientDraft } from '../../../src/signals/clients/change-client.ts'
import { createTestPushChannel } from '../test-push-channel.ts'
import { BASE_URL } from '../api-app.ts'
import { createTestKey } from '../api-keys.ts'
import { composeTestApi } from '../composed-api.ts'
import { SgnlLibrary } from './sgnl-library.ts'
import { decodeObject, textOf, type Wire } from './wire.ts'

export const ISSUER = `${BASE_URL}/ssf`

export const COMPLIANCE =
  'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'

export interface PolledStream {
  readonly token: string
  readonly id: string
  readonly url: string
}

export interface AwkwardService {
  readonly services: ServiceFoundation
  readonly wire: Wire
  /** An API key that may do everything with streams. */
  readonly key: string
  /** Messages of the log, from `info` on. */
  readonly logged: string[]
  /** An access token of a new client. */
  newToken(draft?: Partial<ClientDraft>): Promise<string>
  /** Tells the streams that a device changed its word. Device 1 is Ada's, the others are nobody's. */
  announce(deviceId: string, previous: Compliance, current: Compliance): Promise<void>
  /** Tells the streams of so many devices, each of which changed its word once. */
  announceDevices(count: number): Promise<void>
  /** The Go library of SGNL as a receiver of this service; without an endpoint it polls. */
  createSgnlLibrary(token: string, pushEndpoint?: string): SgnlLibrary
  /** A poll stream of a new client. */
  newPollStream(): Promise<PolledStream>
  /** The `jti` of everything that waits, in its order. */
  listWaiting(): Promise<string[]>
  /** State and number of attempts of every delivery, in their order. */
  listOutcomes(): Promise<[string, number][]>
  /** Deletes every stream with its deliveries, and forgets the log: for `beforeEach`. */
  clear(): Promise<void>
  /** Begins to push, with short retries. */
  startPushing(): Promise<DeliveryEngine>
  close(): Promise<void>
}

/** Close it in `afterAll`. Pushes may reach 127.0.0.1; limits are those of a real service, but for `environment`. */
export async function startAwkwardService(
  environment: Readonly<Record<string, string>> = {},
): Promise<AwkwardService> {
  const logged: string[] = []
  const engines: DeliveryEngine[] = []
  const { services, http, parts, close } = await composeTestApi({
    environment: { HELIOGRAPH_SSF_MIN_VERIFICATION_INTERVAL_SECONDS: '0', ...environment },
    log: createLogger('info', keepMessages(logged)),
  })
  await http.ready()
  const wire: Wire = async ({ method, url, headers = {}, body }) => {
    if (!url.startsWith(BASE_URL)) throw new Error(`${url} is nowhere`)
    const payload = body === undefined ? {} : { payload: body }
    const path = url.slice(BASE_URL.length)
    const answer = await http.inject({ method, url: path, headers: { ...headers }, ...payload })
    return { status: answer.statusCode, headers: answer.headers, text: answer.body }
  }
  const { db, clock, log, runChange, sealer } = services
  const { listener, signing, streams, outbound } = parts
  const wake = (destinationId: DestinationId) => {
    streams.context.waiters.wake(destinationId)
    for (const engine of engines) engine.wake(destinationId)
  }
  listener.subscribe(DELIVERY_CHANNEL, (payload) => wake(toDestinationId(payload)))
  const announce: AwkwardService['announce'] = (deviceId, previous, current) =>
    runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      change.recordEvent({
        type: 'device.status_changed',
        device: {
          id: deviceId,
          name: 'mac-1',
          platform: 'darwin',
          owner: deviceId === '1' ? { personId: '1', email: 'ada@example.com' } : null,
        },
        previous: { authState: toAuthState(previous), compliance: previous },
        current: { authState: toAuthState(current), compliance: current },
        occurredAt: clock.now(),
        initiatingEntity: 'policy',
        reasons: [],
      })
    })
  const createSgnlLibrary: AwkwardService['createSgnlLibrary'] = (token, pushEndpoint) =>
    new SgnlLibrary(wire, {
      metadataUrl: `${BASE_URL}/.well-known/ssf-configuration/ssf`,
      token,
      eventTypes: [COMPLIANCE],
      pushEndpoint: pushEndpoint ?? null,
    })
  return {
    services,
    wire,
    logged,
    key: await createTestKey(services, ['Manage Shared Signals Framework Streams']),
    newToken: (draft) => newToken(services, wire, draft),
    announce,
    async announceDevices(count) {
      for (let id = 1; id <= count; id += 1)
        await announce(String(id), 'compliant', 'not-compliant')
    },
    createSgnlLibrary,
    async newPollStream() {
      const token = await newToken(services, wire)
      const { id, pollUrl: url } = await createSgnlLibrary(token).setup()
      return { token, id, url }
    },
    listWaiting: () => listWaiting(db),
    listOutcomes: () => listOutcomes(db),
    async clear() {
      await db.deleteFrom('ssf_stream').execute()
      await db.deleteFrom('delivery_destination').execute()
      logged.length = 0
    },
    async startPushing() {
      const { keyRing } = signing
      const { client } = outbound
      const channel = createTestPushChannel({ db, clock, sealer, keyRing, client })
      const engine = createTestEngine({
        db,
        clock,
        log,
        client,
        channels: [{ ...channel, retryDelaysMs: [20, 20, 20] }],
        settings: { sweepIntervalMs: 100 },
      })
      engines.push(engine)
      await engine.start()
      return engine
    },
    async close() {
      for (const engine of engines) await engine.close(100)
      await close()
    },
  }
}

async function listWaiting(db: ServiceFoundation['db']): Promise<string[]> {
  const rows = await db
    .selectFrom('delivery')
    .select('event_id')
    .where('state', '=', 'queued')
    .orderBy('id')
    .execute()
  return rows.map(({ event_id }) => event_id)
}

async function listOutcomes(db: ServiceFoundation['db']): Promise<[string, number][]> {
  const rows = await db
    .selectFrom('delivery')
    .select(['state', 'attempt_count'])
    .orderBy('id')
    .execute()
  return rows.map(({ state, attempt_count }) => [state, attempt_count])
}

function toAuthState(compliance: Compliance) {
  return compliance === 'compliant' ? ('Good' as const) : ('Blocked' as const)
}

function keepMessages(logged: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk
        .toString()
        .split('\n')
        .filter((each) => each !== '')) {
        logged.push(textOf(decodeObject(line), 'msg'))
      }
      done()
    },
  })
}

async function newToken(
  { runChange }: ServiceFoundation,
  wire: Wire,
  draft: Partial<ClientDraft> = {},
): Promise<string> {
  const { client, secret } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createSsfClient(change, {
      name: 'Receiver',
      scopes: ['ssf.read', 'ssf.manage'],
      audience: null,
      jwks: null,
      defaultSubjects: null,
      profile: 'strict',
      ...draft,
    }),
  )
  const credential = Buffer.from(`${client.clientId}:${secret ?? ''}`).toString('base64')
  const { text } = await wire({
    method: 'POST',
    url: `${ISSUER}/token`,
    headers: {
      authorization: `Basic ${credential}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  })
  return textOf(decodeObject(text), 'access_token')
}

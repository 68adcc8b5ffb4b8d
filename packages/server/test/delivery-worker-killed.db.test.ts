/* A worker that dies at each step of a delivery, and the one that goes on after it. */
import { compactVerify, createLocalJWKSet, decodeJwt } from 'jose'
import type { KyselyPlugin } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { releaseEveryClaim } from '../src/signals/dispatch/release-store.ts'
import type { DeliveryChannel } from '../src/signals/dispatch/delivery-channel.ts'
import { createTestEngine } from './support/test-engine.ts'
import { systemClock } from '../src/platform/clock.ts'
import type { GuardedClient } from '../src/platform/net/guarded-client.ts'
import { createTestPushChannel } from './support/test-push-channel.ts'
import { startLoopbackReceiver, type LoopbackReceiver } from './support/loopback-receiver.ts'
import { createStreamsApi, type StreamsApi } from './support/streams-api.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000

const STEPS = [
  'after the claim',
  'after signing',
  'during the request',
  'after the answer of the receiver',
  'before the outcome is written',
  'after the outcome is written, before it knows',
] as const
type Step = (typeof STEPS)[number]

const DEVICES = 5
const CHANGES = 8
/** What a worker has claimed at once. */
const REPEATS_MAX = 16
/** The worker dies when it comes there so often, with others done before it and others behind it. */
const FATAL: Readonly<Record<Step, number>> = {
  'after the claim': 9,
  'after signing': 9,
  'during the request': 9,
  'after the answer of the receiver': 9,
  // Two records hold all that may be claimed twice over at most, which is not all there is.
  'before the outcome is written': 2,
  'after the outcome is written, before it knows': 2,
}

/** Those at which the receiver has something of which the database does not know. */
const REPEATING: ReadonlySet<Step> = new Set([
  'after the answer of the receiver',
  'before the outcome is written',
])

const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
const cleanups: (() => Promise<unknown>)[] = []
let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp()
  await streams.clear()
})

/** What a killed process leaves behind: nothing that it does afterwards has any effect. */
class Mortal {
  readonly #step: Step
  readonly #abort = new AbortController()
  #count = 0
  isDead = false

  constructor(step: Step) {
    this.#step = step
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Dies when this is the step and its time has come. */
  reach(step: Step, count = 1): void {
    if (step === this.#step) this.#count += count
    if (this.#count < FATAL[this.#step]) return
    this.isDead = true
    this.#abort.abort()
  }

  assertAlive(): void {
    if (this.isDead) throw new Error('killed')
  }
}

/** Cuts the connection of the dead: statements fail, and those that ran are not heard of. */
function cutting(mortal: Mortal): KyselyPlugin {
  const recordings = new WeakSet<object>()
  return {
    transformQuery({ node, queryId }) {
      mortal.assertAlive()
      if (node.kind === 'RawNode' && node.sqlFragments.join('').includes('delivery_attempt')) {
        recordings.add(queryId)
        mortal.reach('before the outcome is written')
        mortal.assertAlive()
      }
      return node
    },
    async transformResult({ result, queryId }) {
      if (recordings.has(queryId)) mortal.reach('after the outcome is written, before it knows')
      mortal.assertAlive()
      return result
    },
  }
}

function mortalChannel(channel: DeliveryChannel, mortal: Mortal): DeliveryChannel {
  return {
    ...channel,
    async prepare(destinationId, deliveries) {
      mortal.reach('after the claim', deliveries.length)
      mortal.assertAlive()
      const prepared = await channel.prepare(destinationId, deliveries)
      mortal.reach('after signing', deliveries.length)
      mortal.assertAlive()
      return prepared
    },
  }
}

function mortalClient(client: GuardedClient, mortal: Mortal): Pick<GuardedClient, 'request'> {
  return {
    async request(request) {
      const signal = AbortSignal.any([mortal.signal, request.signal ?? mortal.signal])
      const sending = client.request({ ...request, signal })
      mortal.reach('during the request')
      const result = await sending
      mortal.reach('after the answer of the receiver')
      mortal.assertAlive()
      return result
    },
  }
}

/** Starts a worker; answers how it ends. */
async function startWorker(mortal?: Mortal): Promise<() => Promise<void>> {
  const { client } = streams
  const db = mortal === undefined ? streams.db : streams.db.withPlugin(cutting(mortal))
  const channel = { ...createTestPushChannel({ ...streams, db }), retryDelaysMs: [20, 20, 20] }
  const engine = createTestEngine({
    db,
    clock: systemClock,
    log,
    client: mortal === undefined ? client : mortalClient(client, mortal),
    channels: [mortal === undefined ? channel : mortalChannel(channel, mortal)],
    settings: { sweepIntervalMs: 100, claimSize: 8, claimedMax: REPEATS_MAX, concurrency: 4 },
  })
  const close = () => engine.close(0)
  cleanups.push(close)
  await engine.start()
  return close
}

/** A stream of the receiver, and every device changing its word so often, each in its order. */
async function queueChanges(receiver: LoopbackReceiver): Promise<void> {
  const delivery = { method: 'urn:ietf:rfc:8935', endpoint_url: receiver.url }
  await streams.createStream({ name: 'push', delivery })
  const words = ['compliant', 'not-compliant'] as const
  for (let number = 0; number < CHANGES; number += 1) {
    const [previous, current] = number % 2 === 0 ? words : words.toReversed()
    await streams.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      for (let device = 0; device < DEVICES; device += 1) {
        change.recordEvent({
          type: 'device.status_changed',
          device: { id: String(device), name: 'd', platform: 'linux', owner: null },
          previous: { authState: 'Good', compliance: previous },
          current: { authState: 'Good', compliance: current },
          occurredAt: streams.clock.now(),
          initiatingEntity: 'policy',
          reasons: [],
        })
      }
    })
  }
}

async function listQueued() {
  const rows = await streams.db
    .selectFrom('delivery')
    .select(['event_id', 'subject_key', 'state', 'attempt_count'])
    .orderBy('id')
    .execute()
  return rows
}

/** The events of each device, in their order, and each once. */
function byDevice(events: readonly (readonly [device: string, jti: string])[]) {
  const seen = new Map<string, Set<string>>()
  for (const [device, jti] of events) {
    seen.set(device, (seen.get(device) ?? new Set()).add(jti))
  }
  return Object.fromEntries([...seen].map(([device, jtis]) => [device, [...jtis]]))
}

test.each(STEPS)(
  'a worker that dies %s loses nothing, and what it sent is repeated as it was',
  async (step) => {
    const receiver = await startLoopbackReceiver()
    cleanups.push(() => receiver.close())
    await queueChanges(receiver)
    const queued = await listQueued()
    const mortal = new Mortal(step)
    const endDead = await startWorker(mortal)
    await vi.waitFor(() => expect(mortal.isDead).toBe(true), WAIT_MS)
    // A claim that was on its way to the database when it died is there before claims are released.
    await endDead()
    const isDone = (rows: typeof queued) => rows.every(({ state }) => state === 'delivered')
    expect(isDone(await listQueued())).toBe(false)
    // As a service does that starts as the only one.
    await releaseEveryClaim(streams.db)
    await startWorker()
    await vi.waitFor(async () => expect(isDone(await listQueued())).toBe(true), 15_000)

    const keys = createLocalJWKSet({ keys: [...streams.keyRing.publishedKeys()] })
    const tokens = receiver.requests.map(({ body }) => body)
    const jtis = tokens.map((token) => String(decodeJwt(token).jti))
    const deviceOf = new Map(
      queued.map(({ event_id, subject_key }) => [event_id, subject_key ?? '']),
    )
    expect(byDevice(jtis.map((jti) => [deviceOf.get(jti) ?? 'nobody', jti]))).toEqual(
      byDevice(queued.map(({ event_id, subject_key }) => [subject_key ?? '', event_id])),
    )
    // The same id is the same bytes, and at most what the dead worker had in flight came twice.
    for (const token of new Set(tokens)) await compactVerify(token, keys)
    expect(new Set(tokens).size).toBe(queued.length)
    expect(tokens.length).toBeLessThanOrEqual(queued.length + REPEATS_MAX)
    if (REPEATING.has(step)) expect(tokens.length).toBeGreaterThan(queued.length)
    expect((await listQueued()).map(({ attempt_count }) => attempt_count)).toEqual(
      queued.map(() => 1),
    )
  },
)

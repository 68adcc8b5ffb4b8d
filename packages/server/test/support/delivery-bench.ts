/* Engines, receivers and queued deliveries for tests of what happens to them. */
import { isDeepStrictEqual } from 'node:util'
import { expect, vi } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { createChangeRunner, type RunChange } from '../../src/changes/change.ts'
import type { DeliveryChannel } from '../../src/signals/dispatch/delivery-channel.ts'
import type {
  DeliveryEngine,
  DeliveryEngineDependencies,
} from '../../src/signals/dispatch/delivery-engine.ts'
import { createTestEngine } from './test-engine.ts'
import { insertDestination } from '../../src/signals/dispatch/destination-store.ts'
import { insertDeliveries } from '../../src/signals/dispatch/delivery-store.ts'
import { systemClock, type Clock } from '../../src/platform/clock.ts'
import { newUuid } from '../../src/platform/ids.ts'
import { createGuardedClient } from '../../src/platform/net/guarded-client.ts'
import { parseAllowedTargets } from '../../src/platform/net/target-policy.ts'
import { classifyPush } from '../../src/signals/push/push-channel.ts'
import { createTestDatabase, setTimeAhead, type TestDatabase } from './database.ts'
import {
  answerWith,
  startLoopbackReceiver,
  type LoopbackReceiver,
  type Respond,
} from './loopback-receiver.ts'
import type { DestinationId } from '../../src/schema/branded-ids.ts'

export interface BenchReceiver extends LoopbackReceiver {
  /** The destination that it is. */
  readonly id: DestinationId
  /** Events that came while another one of their subject was not answered yet. */
  readonly overlaps: readonly string[]
}

export interface DeliveryBench {
  readonly database: TestDatabase
  readonly clock: Clock
  readonly runChange: RunChange
  /** Moves the clock of the database on; answers by how much it was moved so far. */
  readonly advance: (ms: number) => Promise<number>
  readonly startReceiver: (respond?: Respond) => Promise<BenchReceiver>
  /** Starts an engine that knows of what is queued here; closed after the test. */
  readonly startEngine: (
    retryDelaysMs: readonly number[],
    dependencies?: Partial<DeliveryEngineDependencies>,
  ) => Promise<DeliveryEngine>
  /** Queues events in one change; a body is `subject:number`. */
  readonly queue: (destinationId: DestinationId, bodies: readonly string[]) => Promise<void>
  /** How many deliveries of a destination are in which state. */
  readonly statesOf: (destinationId: DestinationId) => Promise<Record<string, number>>
  readonly waitForStates: (id: DestinationId, expected: Record<string, number>) => Promise<void>
  /** For `afterEach`. */
  readonly clear: () => Promise<void>
  /** For `afterAll`. */
  readonly close: () => Promise<void>
}

const WAIT_MAX_MS = 25_000

/** Far longer than anything takes, on a busy machine too. */
export const WAIT_MS = 15_000

export const retryFast: readonly number[] = Array.from({ length: 9 }, () => 30)

export interface DeliveryBenchOptions {
  /** The clock of the processes, which may be wrong. */
  readonly clock?: Clock
  /** Lets `advance` move the clock of the database. */
  readonly hasSettableClock?: boolean
}

export async function createDeliveryBench({
  clock = systemClock,
  hasSettableClock = false,
}: DeliveryBenchOptions = {}): Promise<DeliveryBench> {
  const policy = parseAllowedTargets('127.0.0.1')
  if (!policy.ok) throw new Error(policy.reason)
  const database = await createTestDatabase({ hasSettableClock })
  let aheadMs = 0
  const { db } = database
  const client = createGuardedClient({ policy: policy.policy, userAgent: 'test' })
  const runChange = createChangeRunner(db, clock, [])
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const urls = new Map<DestinationId, string>()
  const engines: DeliveryEngine[] = []
  const receivers: LoopbackReceiver[] = []
  const statesOf: DeliveryBench['statesOf'] = async (destinationId) => {
    const rows = await db
      .selectFrom('delivery')
      .select(['state', (count) => count.fn.countAll<string>().as('count')])
      .where('destination_id', '=', destinationId)
      .groupBy('state')
      .execute()
    return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]))
  }
  return {
    database,
    clock,
    runChange,
    statesOf,
    async advance(ms) {
      aheadMs += ms
      await setTimeAhead(database, aheadMs)
      return aheadMs
    },
    async startReceiver(respond = answerWith(202)) {
      const overlaps: string[] = []
      const watching = watchOverlaps(overlaps)
      const receiver = await startLoopbackReceiver(watching(respond))
      receivers.push(receiver)
      const id = await insertDestination(db, { kind: 'webhook', state: 'active' })
      urls.set(id, `${receiver.url}/${id}`)
      return { ...receiver, id, overlaps, respond: (next) => receiver.respond(watching(next)) }
    },
    async startEngine(retryDelaysMs, dependencies = {}) {
      const engine = createTestEngine({
        db,
        clock,
        log,
        client,
        channels: [webhookChannel(urls, retryDelaysMs)],
        ...dependencies,
        settings: { sweepIntervalMs: 100, requestTimeoutMs: 30_000, ...dependencies.settings },
      })
      engines.push(engine)
      await engine.start()
      return engine
    },
    async queue(destinationId, bodies) {
      const deliveries = bodies.map((body) => ({
        destinationId,
        eventId: newUuid(),
        eventType: 'test',
        subjectKey: body.split(':')[0] ?? null,
        body,
      }))
      await runChange({ actor: SYSTEM_ACTOR }, (change) => insertDeliveries(change, deliveries))
      for (const engine of engines) engine.wake(destinationId)
    },
    async waitForStates(destinationId, expected) {
      await vi.waitFor(
        async () => {
          const states = await statesOf(destinationId)
          if (!isDeepStrictEqual(states, expected)) {
            throw new Error(`${JSON.stringify(states)}, not ${JSON.stringify(expected)}`)
          }
        },
        { timeout: WAIT_MAX_MS, interval: 20 },
      )
    },
    async clear() {
      for (const engine of engines.splice(0)) await engine.close(50)
      for (const receiver of receivers.splice(0)) await receiver.close()
      await db.deleteFrom('delivery_destination').execute()
    },
    async close() {
      await client.close()
      await database.close()
    },
  }
}

function webhookChannel(
  urls: ReadonlyMap<DestinationId, string>,
  retryDelaysMs: readonly number[],
): DeliveryChannel {
  return {
    kind: 'webhook',
    logEvent: 'test.delivery_attempted',
    retryDelaysMs,
    claimKid: () => null,
    prepare: (destinationId, deliveries) =>
      Promise.resolve(
        deliveries.map(({ body }) => ({
          token: null,
          request: { url: urls.get(destinationId) ?? '', method: 'POST' as const, body },
        })),
      ),
    classify: classifyPush,
  }
}

/** Answers as told, and keeps which events were not alone of their subject. */
function watchOverlaps(overlaps: string[]): (respond: Respond) => Respond {
  const inFlight = new Set<string>()
  return (respond) => (request, response) => {
    const subject = request.body.split(':')[0] ?? ''
    if (inFlight.has(subject)) overlaps.push(request.body)
    inFlight.add(subject)
    response.once('close', () => inFlight.delete(subject))
    respond(request, response)
  }
}

/** `count` events over `subjects` subjects, numbered through. */
export function numberedEvents(count: number, subjects: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => `${index % subjects}:${from + index}`)
}

/**
 * The bodies of each subject in the order in which they came first; what came again is left out,
 * because receivers know it by its id.
 */
export function firstArrivals(bodies: readonly string[]): Record<string, string[]> {
  const bySubject = Object.groupBy(new Set(bodies), (body) => body.split(':')[0] ?? '')
  return Object.fromEntries(Object.entries(bySubject).map(([subject, own]) => [subject, own ?? []]))
}

/** Until the first attempt is recorded and the next one planned. */
export async function waitForRetry(
  { database }: DeliveryBench,
  destinationId: DestinationId,
): Promise<void> {
  await vi.waitFor(async () => {
    const { rows } = await database.pool.query(
      'select from delivery where destination_id = $1 and attempt_count > 0 and claimed_by is null',
      [destinationId],
    )
    expect(rows).toHaveLength(1)
  }, WAIT_MS)
}

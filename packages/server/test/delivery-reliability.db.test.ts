import { EVERY_ATTEMPT } from '../src/signals/dispatch/attempt-read.ts'
import type { Schema } from '../src/schema/schema.ts'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { listDeliveryLog } from '../src/signals/dispatch/delivery-read.ts'
import { redriveDeliveries } from '../src/signals/dispatch/redrive-deliveries.ts'
import { RETRY_DELAYS_MS } from '../src/signals/dispatch/retry-schedule.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../src/platform/clock.ts'
import { openDatabase } from '../src/platform/db/database.ts'
import {
  createDeliveryBench,
  firstArrivals,
  numberedEvents,
  retryFast,
  type DeliveryBench,
} from './support/delivery-bench.ts'
import { answerWith } from './support/loopback-receiver.ts'

/**
 * Lets time pass in steps while nothing is claimed: what is under way takes none, however long a busy machine takes for
 * it. `end` resolves when the last step is done.
 */
function passTime(
  { advance, database }: DeliveryBench,
  { stepMs, intervalMs }: { readonly stepMs: number; readonly intervalMs: number },
): { end(): Promise<void> } {
  let isEnded = false
  const claimed = database.db
    .selectFrom('delivery')
    .select('id')
    .where('claimed_by', 'is not', null)
  const passing = (async () => {
    while (!isEnded) {
      if ((await claimed.limit(1).execute()).length === 0) await advance(stepMs)
      await new Promise((resolve) => setTimeout(resolve, intervalMs))
    }
  })()
  return {
    end: () => {
      isEnded = true
      return passing
    },
  }
}

describe('a receiver that is down for a day', () => {
  const bench = createDeliveryBench({ hasSettableClock: true })
  afterEach(async () => (await bench).clear())
  afterAll(async () => (await bench).close())

  const EVENTS = 3_000
  const DEVICES = 250

  test('gets all events of the day when it is back, in the order of each device', async () => {
    const { advance, startReceiver, startEngine, queue, statesOf, waitForStates } = await bench
    const receiver = await startReceiver(answerWith(503))
    const engine = await startEngine(RETRY_DELAYS_MS, { settings: { sweepIntervalMs: 20 } })
    const events = numberedEvents(EVENTS, DEVICES)
    const perHour = EVENTS / 24
    for (let hour = 0; hour < 24; hour += 1) {
      await queue(receiver.id, events.slice(hour * perHour, (hour + 1) * perHour))
      for (let quarter = 0; quarter < 4; quarter += 1) {
        await advance(15 * MINUTE_MS)
        await engine.sweep()
        let count: number
        do {
          count = receiver.requests.length
          await new Promise((resolve) => setTimeout(resolve, 15))
        } while (receiver.requests.length > count)
      }
    }
    expect(await statesOf(receiver.id)).toEqual({ queued: EVENTS })
    // A probe every few minutes, not the schedule of thousands of events.
    expect(receiver.requests.length).toBeGreaterThan(20)
    expect(receiver.requests.length).toBeLessThan(24 * 15)
    const before = receiver.requests.length
    receiver.respond(answerWith(202))
    const back = await advance(0)
    await advance(6 * MINUTE_MS)
    const passing = passTime(await bench, { stepMs: SECOND_MS, intervalMs: 5 })
    await waitForStates(receiver.id, { delivered: EVENTS }).finally(() => passing.end())
    expect((await advance(0)) - back).toBeLessThan(HOUR_MS)
    const bodies = receiver.requests.slice(before).map(({ body }) => body)
    expect(bodies).toHaveLength(EVENTS)
    expect(firstArrivals(bodies)).toEqual(firstArrivals(events))
    expect(receiver.overlaps).toEqual([])
  })

  test('shows what its schedule gave up, and gets it when it is sent again', async () => {
    const { advance, database, runChange, startReceiver, startEngine, queue, waitForStates } =
      await bench
    const receiver = await startReceiver(({ body }, response) => {
      response.writeHead(body.startsWith('1:') ? 500 : 202).end()
    })
    const engine = await startEngine(RETRY_DELAYS_MS, { settings: { sweepIntervalMs: 20 } })
    await queue(receiver.id, ['1:1', '1:2', '1:3', '2:4'])
    const start = await advance(0)
    const passing = passTime(await bench, { stepMs: 10 * MINUTE_MS, intervalMs: 5 })
    await waitForStates(receiver.id, { dead: 3, delivered: 1 }).finally(() => passing.end())
    const attempts = (body: string) =>
      receiver.requests.filter((request) => request.body === body).length
    expect(['1:1', '1:2', '1:3', '2:4'].map(attempts)).toEqual([10, 10, 10, 1])
    // Each had its 52 hours, one after another, 20 % more or less.
    expect((await advance(0)) - start).toBeGreaterThan(3 * 52 * HOUR_MS * 0.8)
    const window = { afterId: undefined, limit: 10 }
    const shown = await listDeliveryLog(database.db, {
      destinationId: receiver.id,
      search: undefined,
      window,
    })
    expect(shown.filter(({ state }) => state === 'dead')).toMatchObject(
      [1, 2, 3].map(() => ({ attemptCount: 10, lastError: 'The receiver answered 500' })),
    )
    const sentBefore = receiver.requests.length
    receiver.respond(answerWith(202))
    const target = { type: 'test', id: '1' }
    await runChange({ actor: SYSTEM_ACTOR }, (change) =>
      redriveDeliveries(change, { destinationId: receiver.id, target }),
    )
    engine.wake(receiver.id)
    await waitForStates(receiver.id, { delivered: 4 })
    const sent = receiver.requests.slice(sentBefore).map(({ body }) => body)
    expect(sent).toEqual(['1:1', '1:2', '1:3'])
  })
})

describe('a database that breaks every connection', () => {
  const bench = createDeliveryBench()
  afterEach(async () => (await bench).clear())
  afterAll(async () => (await bench).close())

  test('again and again delays deliveries and changes nothing else', async () => {
    const { clock, database, startReceiver, startEngine, queue, waitForStates } = await bench
    const own = openDatabase<Schema>(database.connection, {
      network: database.network,
      poolMax: 4,
      applicationName: 'restarted',
      logError: () => undefined,
    })
    const receiver = await startReceiver((_request, response) => {
      setTimeout(() => response.writeHead(202).end(), 5)
    })
    const settings = { concurrency: 4, claimSize: 16, claimedMax: 32 }
    const engine = await startEngine(retryFast, { db: own.db, clock, settings })
    const events = numberedEvents(600, 20)
    await queue(receiver.id, events)
    for (let restart = 1; restart <= 8; restart += 1) {
      await vi.waitFor(() => expect(receiver.requests.length).toBeGreaterThan(restart * 50), 20_000)
      await database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'restarted'`,
      )
    }
    await waitForStates(receiver.id, { delivered: 600 })
    const bodies = receiver.requests.map(({ body }) => body)
    expect(firstArrivals(bodies)).toEqual(firstArrivals(events))
    expect(receiver.overlaps).toEqual([])
    const attempts = await database.db
      .selectFrom(EVERY_ATTEMPT.as('attempt'))
      .select('number')
      .execute()
    expect(attempts).toHaveLength(600)
    await engine.close()
    await own.close()
  })
})

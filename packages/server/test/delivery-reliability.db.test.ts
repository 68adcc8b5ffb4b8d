import type { Schema } from '../src/schema/schema.ts'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { claimDeliveries } from '../src/signals/dispatch/claim-store.ts'
import { listDeliveryLog } from '../src/signals/dispatch/delivery-read.ts'
import { insertDeliveries } from '../src/signals/dispatch/delivery-store.ts'
import { redriveDeliveries } from '../src/signals/dispatch/redrive-deliveries.ts'
import { RETRY_DELAYS_MS } from '../src/signals/dispatch/retry-schedule.ts'
import { createWorkerPresence } from '../src/signals/dispatch/worker-presence.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS, type Clock } from '../src/platform/clock.ts'
import { openDatabase } from '../src/platform/db/database.ts'
import { createListener } from '../src/platform/db/listener.ts'
import { newUuid } from '../src/platform/ids.ts'
import {
  createDeliveryBench,
  firstArrivals,
  numberedEvents,
  retryFast,
  WAIT_MS,
} from './support/delivery-bench.ts'
import { answerWith } from './support/loopback-receiver.ts'
import { SILENT } from './support/test-engine.ts'

/** Goes on as time does, but can be set. */
class SettableClock implements Clock {
  #aheadMs = 0

  now(): Date {
    return new Date(Date.now() + this.#aheadMs)
  }

  step(ms: number): void {
    this.#aheadMs += ms
  }
}

/** Does something again and again, one after another; `end` resolves when the last one is done. */
function passTime(step: () => Promise<unknown>, intervalMs: number): { end(): Promise<void> } {
  let isEnded = false
  const passing = (async () => {
    while (!isEnded) {
      await step()
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
    // Slowly, for the requests take their time.
    const passing = passTime(() => advance(SECOND_MS), 20)
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
    const passing = passTime(() => advance(10 * MINUTE_MS), 5)
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
      [1, 2, 3].map(() => ({ attempt_count: 10, last_error: 'The receiver answered 500' })),
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

describe('a process whose clock is set', () => {
  const clock = new SettableClock()
  const bench = createDeliveryBench({ clock })
  afterEach(async () => (await bench).clear())
  afterAll(async () => (await bench).close())

  test.each([
    ['back', -6 * HOUR_MS],
    ['forward', 6 * HOUR_MS],
  ])(
    '%s by hours while events are sent and tried again loses nothing, keeps the order and delays nothing',
    async (_name, stepMs) => {
      const { startReceiver, startEngine, queue, waitForStates } = await bench
      let count = 0
      const receiver = await startReceiver((_request, response) => {
        count += 1
        const status = count % 5 === 0 ? 503 : 202
        setTimeout(() => response.writeHead(status).end(), 10)
      })
      await startEngine([400, 400, 400, 400, 400, 400, 400, 400, 400])
      const events = numberedEvents(240, 12)
      for (let start = 0; start < 240; start += 60) {
        await queue(receiver.id, events.slice(start, start + 60))
        await vi.waitFor(() => expect(receiver.requests.length).toBeGreaterThan(start / 2), WAIT_MS)
        if (start === 60) clock.step(stepMs)
      }
      await waitForStates(receiver.id, { delivered: 240 })
      const bodies = receiver.requests.map(({ body }) => body)
      expect(firstArrivals(bodies)).toEqual(firstArrivals(events))
      expect(receiver.overlaps).toEqual([])
      // Every request that was not the first of its event followed one that was refused.
      expect(bodies.length).toBe(240 + Math.floor(bodies.length / 5))
    },
  )

  test.each([
    ['behind', -6 * HOUR_MS],
    ['ahead', 6 * HOUR_MS],
  ])(
    'is hours %s of another worker sends nothing twice and nothing late',
    async (_name, aheadMs) => {
      const { startReceiver, startEngine, queue, waitForStates } = await bench
      const receiver = await startReceiver((_request, response) => {
        setTimeout(() => response.writeHead(202).end(), 10)
      })
      const wrong = new SettableClock()
      wrong.step(aheadMs)
      const settings = { claimSize: 8, claimedMax: 24 }
      await startEngine(retryFast, { settings })
      await startEngine(retryFast, { settings, clock: wrong })
      const events = numberedEvents(120, 12)
      for (let start = 0; start < 120; start += 20) {
        await queue(receiver.id, events.slice(start, start + 20))
      }
      await waitForStates(receiver.id, { delivered: 120 })
      const bodies = receiver.requests.map(({ body }) => body)
      expect(bodies).toHaveLength(120)
      expect(firstArrivals(bodies)).toEqual(firstArrivals(events))
      expect(receiver.overlaps).toEqual([])
    },
  )

  test('back by hours does not put off what is on its way to the database', async () => {
    const { database, startReceiver, startEngine, queue, waitForStates } = await bench
    const receiver = await startReceiver(answerWith(503))
    await startEngine(retryFast)
    const blocker = await database.pool.connect()
    await blocker.query('begin; lock table delivery_attempt in exclusive mode')
    await queue(receiver.id, ['1:1', '1:2'])
    await vi.waitFor(async () => {
      const { rows } = await blocker.query('select from pg_locks where not granted')
      expect(rows).toHaveLength(1)
    }, WAIT_MS)
    receiver.respond(answerWith(202))
    clock.step(-6 * HOUR_MS)
    await blocker.query('rollback')
    blocker.release()
    await waitForStates(receiver.id, { delivered: 2 })
    expect(receiver.requests.map(({ body }) => body)).toEqual(['1:1', '1:1', '1:2'])
  })

  test('back by hours does not put off what is being queued', async () => {
    const { runChange, startReceiver, startEngine, waitForStates } = await bench
    const receiver = await startReceiver()
    await startEngine(retryFast)
    await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      const { id: destinationId } = receiver
      const event = { destinationId, eventId: newUuid(), eventType: 'test' }
      const delivery = { ...event, subjectKey: '1', body: '1:1' }
      await insertDeliveries(change, [delivery])
      clock.step(-6 * HOUR_MS)
    })
    await waitForStates(receiver.id, { delivered: 1 })
  })

  test('back by hours does not leave the claims of a dead worker standing for as long', async () => {
    const { database, startReceiver, startEngine, queue, waitForStates } = await bench
    const receiver = await startReceiver()
    await queue(receiver.id, ['1:1', '1:2'])
    const dead = { leaseMs: 2_000, limit: 10, kid: null, claimId: newUuid(), ownClaimIds: [] }
    await claimDeliveries(database.db, { ...dead, destinationId: receiver.id })
    await startEngine(retryFast)
    clock.step(-6 * HOUR_MS)
    await waitForStates(receiver.id, { delivered: 2 })
    expect(receiver.requests.map(({ body }) => body)).toEqual(['1:1', '1:2'])
  })

  test('back by hours does not leave a receiver alone that was to be probed', async () => {
    const { database, startReceiver, startEngine, queue, waitForStates } = await bench
    const receiver = await startReceiver()
    await database.pool.query(
      `update delivery_destination set consecutive_failures = 9, failing_since = now(),
         retry_not_before = now() + interval '1.5 s'`,
    )
    await startEngine(retryFast)
    await queue(receiver.id, ['1:1', '2:1'])
    clock.step(-6 * HOUR_MS)
    await waitForStates(receiver.id, { delivered: 2 })
  })

  test('back by hours does not let a dead worker live on', async () => {
    const { database, startEngine } = await bench
    const { db, network } = database
    const listener = createListener(database.connection, { log: SILENT, network })
    listener.start()
    const presence = createWorkerPresence({ db, listener })
    await db
      .insertInto('delivery_worker')
      .values({ id: 7, started_at: clock.now(), missing_since: null })
      .execute()
    const engine = await startEngine(retryFast, { presence, settings: { presenceIntervalMs: 100 } })
    clock.step(-6 * HOUR_MS)
    await vi.waitFor(async () => {
      const rows = await db.selectFrom('delivery_worker').select('id').where('id', '=', 7).execute()
      expect(rows).toEqual([])
    }, WAIT_MS)
    await engine.close()
    await listener.stop()
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
    const attempts = await database.db.selectFrom('delivery_attempt').select('number').execute()
    expect(attempts).toHaveLength(600)
    await engine.close()
    await own.close()
  })
})

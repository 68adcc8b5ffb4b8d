import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { HOUR_MS, type Clock } from '../src/platform/clock.ts'
import { createListener } from '../src/platform/db/listener.ts'
import { newUuid } from '../src/platform/ids.ts'
import { claimDeliveries } from '../src/signals/dispatch/claim-store.ts'
import { insertDeliveries } from '../src/signals/dispatch/delivery-store.ts'
import type { DeliverySettings } from '../src/signals/dispatch/delivery-settings.ts'
import { createWorkerPresence } from '../src/signals/dispatch/worker-presence.ts'
import {
  createDeliveryBench,
  firstArrivals,
  numberedEvents,
  retryFast,
  WAIT_MS,
  waitForRetry,
  type BenchReceiver,
  type DeliveryBench,
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

/** A clock that is set, and who goes by it. */
interface SetClock {
  readonly bench: Promise<DeliveryBench>
  readonly start: (
    retryDelaysMs: readonly number[],
    settings?: Partial<DeliverySettings>,
  ) => Promise<unknown>
  readonly step: (ms: number) => unknown
  /** Resolves when an engine that was started has noticed it, where engines do. */
  readonly stepUntilNoticed: (ms: number) => unknown
}

/** What holds whichever clock is set. */
function testSteps({ bench, start, step, stepUntilNoticed }: SetClock): void {
  test.each([
    ['back', -6 * HOUR_MS],
    ['forward', 6 * HOUR_MS],
  ])(
    '%s by hours while events are sent and tried again loses nothing, keeps the order and delays nothing',
    async (_name, stepMs) => {
      const { startReceiver, queue, waitForStates } = await bench
      let count = 0
      const receiver = await startReceiver((_request, response) => {
        count += 1
        const status = count % 5 === 0 ? 503 : 202
        setTimeout(() => response.writeHead(status).end(), 10)
      })
      await start([400, 400, 400, 400, 400, 400, 400, 400, 400])
      const events = numberedEvents(240, 12)
      for (let first = 0; first < 240; first += 60) {
        await queue(receiver.id, events.slice(first, first + 60))
        await vi.waitFor(() => expect(receiver.requests.length).toBeGreaterThan(first / 2), WAIT_MS)
        if (first === 60) await step(stepMs)
      }
      await waitForStates(receiver.id, { delivered: 240 })
      const bodies = receiver.requests.map(({ body }) => body)
      expect(firstArrivals(bodies)).toEqual(firstArrivals(events))
      expect(receiver.overlaps).toEqual([])
      // Every request that was not the first of its event followed one that was refused.
      expect(bodies.length).toBe(240 + Math.floor(bodies.length / 5))
    },
  )

  test('back by hours does not put off what is on its way to the database', async () => {
    const { database, startReceiver, queue, waitForStates } = await bench
    const receiver = await startReceiver(answerWith(503))
    await start(retryFast)
    const blocker = await database.pool.connect()
    await blocker.query('begin; lock table delivery_attempt in exclusive mode')
    await queue(receiver.id, ['1:1', '1:2'])
    await vi.waitFor(async () => {
      // Those of other databases of the server are seen as well.
      const { rows } = await blocker.query(
        `select from pg_locks where not granted
           and database = (select oid from pg_database where datname = current_database())`,
      )
      expect(rows).toHaveLength(1)
    }, WAIT_MS)
    receiver.respond(answerWith(202))
    await stepUntilNoticed(-6 * HOUR_MS)
    await blocker.query('rollback')
    blocker.release()
    await waitForStates(receiver.id, { delivered: 2 })
    expect(receiver.requests.map(({ body }) => body)).toEqual(['1:1', '1:1', '1:2'])
  })

  test('back by hours does not put off what is being queued', async () => {
    const { runChange, startReceiver, waitForStates } = await bench
    const receiver = await startReceiver()
    await start(retryFast)
    await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      const { id: destinationId } = receiver
      const event = { destinationId, eventId: newUuid(), eventType: 'test' }
      const delivery = { ...event, subjectKey: '1', body: '1:1' }
      await insertDeliveries(change, [delivery])
      await stepUntilNoticed(-6 * HOUR_MS)
    })
    await waitForStates(receiver.id, { delivered: 1 })
  })

  test('back by hours does not leave the claims of a dead worker standing for as long', async () => {
    const { database, startReceiver, queue, waitForStates } = await bench
    const receiver = await startReceiver()
    await queue(receiver.id, ['1:1', '1:2'])
    const dead = { leaseMs: 6_500, limit: 10, kid: null, claimId: newUuid(), ownClaimIds: [] }
    await claimDeliveries(database.db, { ...dead, destinationId: receiver.id })
    await start(retryFast, { leaseMs: 6_500, requestTimeoutMs: 1_000 })
    await step(-6 * HOUR_MS)
    await waitForStates(receiver.id, { delivered: 2 })
    // A busy machine may take longer for an answer than is waited for it.
    expect(firstArrivals(receiver.requests.map(({ body }) => body))).toEqual({ 1: ['1:1', '1:2'] })
  })

  test('back by hours does not leave a receiver alone that was to be probed', async () => {
    const { database, startReceiver, queue, waitForStates } = await bench
    const receiver = await startReceiver()
    await database.pool.query(
      `update delivery_destination set consecutive_failures = 9, failing_since = now(),
         retry_not_before = now() + interval '1.5 s'`,
    )
    await start(retryFast)
    await queue(receiver.id, ['1:1', '2:1'])
    await step(-6 * HOUR_MS)
    await waitForStates(receiver.id, { delivered: 2 })
  })
}

describe('a process whose clock is set', () => {
  const clock = new SettableClock()
  const bench = createDeliveryBench({ clock })
  afterEach(async () => (await bench).clear())
  afterAll(async () => (await bench).close())
  const step = (ms: number) => clock.step(ms)

  testSteps({
    bench,
    start: async (retryDelaysMs, settings = {}) =>
      (await bench).startEngine(retryDelaysMs, { settings }),
    step,
    stepUntilNoticed: step,
  })

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

describe('a database whose clock is set', () => {
  const bench = createDeliveryBench({ hasSettableClock: true })
  afterEach(async () => (await bench).clear())
  afterAll(async () => (await bench).close())

  const warn = vi.fn()
  afterEach(() => warn.mockReset())
  const start = async (
    retryDelaysMs: readonly number[],
    settings: Partial<DeliverySettings> = { leaseMs: 20_000, requestTimeoutMs: 10_000 },
  ) => {
    const log = { debug: vi.fn(), info: vi.fn(), warn, error: vi.fn() }
    return (await bench).startEngine(retryDelaysMs, { log, settings })
  }
  const step = async (ms: number) => (await bench).advance(ms)
  const stepUntilNoticed = async (ms: number) => {
    await step(ms)
    await vi.waitFor(() => {
      expect(warn).toHaveBeenCalledWith(
        { step_ms: expect.any(Number) as number },
        expect.anything(),
      )
    }, WAIT_MS)
  }
  testSteps({ bench, start, step, stepUntilNoticed })

  /** So late that nothing is due before time goes on, however long a busy machine takes. */
  const RETRY_MS = HOUR_MS
  /** What waits for its retry is due when it would have been, and sent then. */
  const expectOnTime = async ({ id }: BenchReceiver, deliveredCount: number) => {
    const { advance, database, statesOf, waitForStates } = await bench
    const { rows } = await database.pool.query<{ dueInMs: number }>(
      `select extract(epoch from next_attempt_at - now())::float8 * 1000 as "dueInMs"
       from delivery where body = '1:1'`,
    )
    expect(rows[0]?.dueInMs).toBeGreaterThan(RETRY_MS * 0.7)
    expect(rows[0]?.dueInMs).toBeLessThan(RETRY_MS * 1.3)
    expect(await statesOf(id)).toEqual({ queued: deliveredCount })
    await advance(RETRY_MS * 1.3)
    await waitForStates(id, { delivered: deliveredCount })
  }
  const startRefusingOnce = async () => {
    let count = 0
    return (await bench).startReceiver((_request, response) => {
      count += 1
      response.writeHead(count === 1 ? 503 : 202).end()
    })
  }

  test('back by hours while the service runs tries again when it was due', async () => {
    const { queue } = await bench
    const receiver = await startRefusingOnce()
    await start([RETRY_MS])
    await queue(receiver.id, ['1:1', '1:2'])
    await waitForRetry(await bench, receiver.id)
    await stepUntilNoticed(-6 * HOUR_MS)
    await expectOnTime(receiver, 2)
    expect(receiver.requests.map(({ body }) => body)).toEqual(['1:1', '1:1', '1:2'])
    expect(warn).toHaveBeenCalledTimes(1)
  })

  test('back by hours while the service is down tries again when it was due', async () => {
    const { advance, queue } = await bench
    const receiver = await startRefusingOnce()
    const engine = await start([RETRY_MS])
    await queue(receiver.id, ['1:1', '1:2'])
    await waitForRetry(await bench, receiver.id)
    await engine.close()
    await advance(-6 * HOUR_MS)
    await start([RETRY_MS])
    await expectOnTime(receiver, 2)
    expect(receiver.requests.map(({ body }) => body)).toEqual(['1:1', '1:1', '1:2'])
  })

  test('back by hours is followed by one of several workers', async () => {
    const { queue } = await bench
    const receiver = await startRefusingOnce()
    await start([RETRY_MS])
    await start([RETRY_MS])
    await queue(receiver.id, ['1:1'])
    await waitForRetry(await bench, receiver.id)
    await stepUntilNoticed(-6 * HOUR_MS)
    await expectOnTime(receiver, 1)
    expect(warn).toHaveBeenCalledTimes(1)
  })

  test('back by hours does not put off what follows an event whose retry seemed far', async () => {
    const { database, queue } = await bench
    const receiver = await startRefusingOnce()
    await start([RETRY_MS])
    await queue(receiver.id, ['1:1', '1:2'])
    await waitForRetry(await bench, receiver.id)
    await stepUntilNoticed(-6 * HOUR_MS)
    // As a claim does that began before the times were shifted, and ends after it.
    await database.pool.query(
      `update delivery set next_attempt_at = now() + interval '6 h' where body = '1:2'`,
    )
    await expectOnTime(receiver, 2)
    expect(receiver.requests.map(({ body }) => body)).toEqual(['1:1', '1:1', '1:2'])
  })

  test('back by hours keeps how long a receiver has failed, and what a webhook may send', async () => {
    const { advance, database, startReceiver, startEngine } = await bench
    const { pool } = database
    const { id } = await startReceiver()
    await pool.query(`update delivery_destination set failing_since = now() - interval '10 h'`)
    await pool.query(
      `insert into webhook_pace (destination_id, per_second, tokens, filled_at)
       values ($1, 1, 0, now() - interval '1 h')`,
      [id],
    )
    const engine = await startEngine(retryFast)
    await advance(-6 * HOUR_MS)
    await engine.sweep()
    const { rows } = await pool.query(
      `select round(extract(epoch from now() - failing_since) / 360)::int as failing,
         round(extract(epoch from now() - filled_at) / 360)::int as filled
       from delivery_destination d join webhook_pace p on p.destination_id = d.id`,
    )
    expect(rows).toEqual([{ failing: 100, filled: 10 }])
  })

  test('back by hours does not let a dead worker live on', async () => {
    const { advance, database, startEngine } = await bench
    const { db, network } = database
    const listener = createListener(database.connection, { log: SILENT, network })
    listener.start()
    await database.pool.query(
      `insert into delivery_worker (id, started_at, missing_since)
       values (7, now(), now() + interval '1 s')`,
    )
    const presence = createWorkerPresence({ db, listener })
    const engine = await startEngine(retryFast, { presence, settings: { presenceIntervalMs: 100 } })
    await advance(-6 * HOUR_MS)
    await vi.waitFor(async () => {
      const rows = await db.selectFrom('delivery_worker').select('id').where('id', '=', 7).execute()
      expect(rows).toEqual([])
    }, WAIT_MS)
    await engine.close()
    await listener.stop()
  })
})

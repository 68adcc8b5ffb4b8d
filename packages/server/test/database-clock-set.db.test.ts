import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { HOUR_MS } from '../src/platform/clock.ts'
import { createListener } from '../src/platform/db/listener.ts'
import { newUuid } from '../src/platform/ids.ts'
import { claimDeliveries } from '../src/signals/dispatch/claim-store.ts'
import { insertDeliveries } from '../src/signals/dispatch/delivery-store.ts'
import { createWorkerPresence } from '../src/signals/dispatch/worker-presence.ts'
import {
  createDeliveryBench,
  firstArrivals,
  numberedEvents,
  retryFast,
  WAIT_MS,
  waitForRetry,
} from './support/delivery-bench.ts'
import { answerWith } from './support/loopback-receiver.ts'
import { SILENT } from './support/test-engine.ts'

describe('a database whose clock is set', () => {
  const bench = createDeliveryBench({ hasSettableClock: true })
  afterEach(async () => (await bench).clear())
  afterAll(async () => (await bench).close())

  const startLogged = async (
    retryDelaysMs: readonly number[],
    settings = { leaseMs: 20_000, requestTimeoutMs: 10_000 },
  ) => {
    const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
    const engine = await (await bench).startEngine(retryDelaysMs, { log, settings })
    return { engine, log }
  }
  const setBackDuring = async (log: Awaited<ReturnType<typeof startLogged>>['log']) => {
    await (await bench).advance(-6 * HOUR_MS)
    await vi.waitFor(() => {
      expect(log.warn).toHaveBeenCalledWith(
        { step_ms: expect.any(Number) as number },
        expect.anything(),
      )
    }, WAIT_MS)
  }
  /** The receiver gets its refused event again after `delayMs`, within a few seconds. */
  const expectOnTime = (times: readonly number[], delayMs: number) => {
    expect(times).toHaveLength(2)
    const [first = 0, second = 0] = times
    expect(second - first).toBeGreaterThan(delayMs * 0.7)
    expect(second - first).toBeLessThan(delayMs + 5_000)
  }
  const startRefusingOnce = async () => {
    const times: number[] = []
    const receiver = await (
      await bench
    ).startReceiver((_request, response) => {
      times.push(performance.now())
      response.writeHead(times.length === 1 ? 503 : 202).end()
    })
    return { receiver, times }
  }

  test.each([
    ['back', -6 * HOUR_MS],
    ['forward', 6 * HOUR_MS],
  ])(
    '%s by hours while events are sent and tried again loses nothing, keeps the order and delays nothing',
    async (_name, stepMs) => {
      const { advance, startReceiver, queue, waitForStates } = await bench
      let count = 0
      const receiver = await startReceiver((_request, response) => {
        count += 1
        const status = count % 5 === 0 ? 503 : 202
        setTimeout(() => response.writeHead(status).end(), 10)
      })
      await startLogged([400, 400, 400, 400, 400, 400, 400, 400, 400])
      const events = numberedEvents(240, 12)
      for (let start = 0; start < 240; start += 60) {
        await queue(receiver.id, events.slice(start, start + 60))
        await vi.waitFor(() => expect(receiver.requests.length).toBeGreaterThan(start / 2), WAIT_MS)
        if (start === 60) await advance(stepMs)
      }
      await waitForStates(receiver.id, { delivered: 240 })
      const bodies = receiver.requests.map(({ body }) => body)
      expect(firstArrivals(bodies)).toEqual(firstArrivals(events))
      expect(receiver.overlaps).toEqual([])
      // Every request that was not the first of its event followed one that was refused.
      expect(bodies.length).toBe(240 + Math.floor(bodies.length / 5))
    },
  )

  test('back by hours while the service runs tries again when it was due', async () => {
    const { queue, waitForStates } = await bench
    const { receiver, times } = await startRefusingOnce()
    const { log } = await startLogged([4_000])
    await queue(receiver.id, ['1:1', '1:2'])
    await waitForRetry(await bench, receiver.id)
    await setBackDuring(log)
    await waitForStates(receiver.id, { delivered: 2 })
    expectOnTime(times.slice(0, 2), 4_000)
    expect(receiver.requests.map(({ body }) => body)).toEqual(['1:1', '1:1', '1:2'])
    expect(log.warn).toHaveBeenCalledTimes(1)
  })

  test('back by hours while the service is down tries again when it was due', async () => {
    const { advance, queue, waitForStates } = await bench
    const { receiver, times } = await startRefusingOnce()
    const { engine } = await startLogged([4_000])
    await queue(receiver.id, ['1:1', '1:2'])
    await waitForRetry(await bench, receiver.id)
    await engine.close()
    await advance(-6 * HOUR_MS)
    await startLogged([4_000])
    await waitForStates(receiver.id, { delivered: 2 })
    expectOnTime(times.slice(0, 2), 4_000)
    expect(receiver.requests.map(({ body }) => body)).toEqual(['1:1', '1:1', '1:2'])
  })

  test('back by hours is followed by one of several workers', async () => {
    const { queue, waitForStates } = await bench
    const { receiver, times } = await startRefusingOnce()
    const first = await startLogged([4_000])
    const second = await startLogged([4_000])
    await queue(receiver.id, ['1:1'])
    await waitForRetry(await bench, receiver.id)
    const { advance } = await bench
    await advance(-6 * HOUR_MS)
    await waitForStates(receiver.id, { delivered: 1 })
    expectOnTime(times, 4_000)
    const warnings = [first, second].flatMap(({ log }) => log.warn.mock.calls)
    expect(warnings).toHaveLength(1)
  })

  test('back by hours does not put off what follows an event whose retry seemed far', async () => {
    const { database, queue, waitForStates } = await bench
    const { receiver, times } = await startRefusingOnce()
    const { log } = await startLogged([4_000])
    await queue(receiver.id, ['1:1', '1:2'])
    await waitForRetry(await bench, receiver.id)
    await setBackDuring(log)
    // As a claim does that began before the times were shifted, and ends after it.
    await database.pool.query(
      `update delivery set next_attempt_at = now() + interval '5 min' where body = '1:2'`,
    )
    await waitForStates(receiver.id, { delivered: 2 })
    expectOnTime(times.slice(0, 2), 4_000)
    expect(receiver.requests.map(({ body }) => body)).toEqual(['1:1', '1:1', '1:2'])
  })

  test('back by hours does not put off what is on its way to the database', async () => {
    const { database, startReceiver, queue, waitForStates } = await bench
    const receiver = await startReceiver(answerWith(503))
    const { log } = await startLogged(retryFast)
    const blocker = await database.pool.connect()
    await blocker.query('begin; lock table delivery_attempt in exclusive mode')
    await queue(receiver.id, ['1:1', '1:2'])
    await vi.waitFor(async () => {
      const { rows } = await blocker.query('select from pg_locks where not granted')
      expect(rows).toHaveLength(1)
    }, WAIT_MS)
    receiver.respond(answerWith(202))
    await setBackDuring(log)
    await blocker.query('rollback')
    blocker.release()
    await waitForStates(receiver.id, { delivered: 2 })
    expect(receiver.requests.map(({ body }) => body)).toEqual(['1:1', '1:1', '1:2'])
  })

  test('back by hours does not put off what is being queued', async () => {
    const { runChange, startReceiver, waitForStates } = await bench
    const receiver = await startReceiver()
    const { log } = await startLogged(retryFast)
    await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      const { id: destinationId } = receiver
      const event = { destinationId, eventId: newUuid(), eventType: 'test' }
      const delivery = { ...event, subjectKey: '1', body: '1:1' }
      await insertDeliveries(change, [delivery])
      await setBackDuring(log)
    })
    await waitForStates(receiver.id, { delivered: 1 })
  })

  test('back by hours does not leave the claims of a dead worker standing for as long', async () => {
    const { advance, database, startReceiver, queue, waitForStates } = await bench
    const receiver = await startReceiver()
    await queue(receiver.id, ['1:1', '1:2'])
    const dead = { leaseMs: 6_500, limit: 10, kid: null, claimId: newUuid(), ownClaimIds: [] }
    await claimDeliveries(database.db, { ...dead, destinationId: receiver.id })
    await startLogged(retryFast, { leaseMs: 6_500, requestTimeoutMs: 1_000 })
    await advance(-6 * HOUR_MS)
    await waitForStates(receiver.id, { delivered: 2 })
    expect(receiver.requests.map(({ body }) => body)).toEqual(['1:1', '1:2'])
  })

  test('back by hours does not leave a receiver alone that was to be probed', async () => {
    const { advance, database, startReceiver, queue, waitForStates } = await bench
    const receiver = await startReceiver()
    await database.pool.query(
      `update delivery_destination set consecutive_failures = 9, failing_since = now(),
         retry_not_before = now() + interval '1.5 s'`,
    )
    await startLogged(retryFast)
    await queue(receiver.id, ['1:1', '2:1'])
    await advance(-6 * HOUR_MS)
    await waitForStates(receiver.id, { delivered: 2 })
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
})

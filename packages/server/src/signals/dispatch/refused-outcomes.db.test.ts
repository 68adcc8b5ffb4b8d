import { afterAll, afterEach, expect, test, vi } from 'vitest'
import {
  createDeliveryBench,
  firstArrivals,
  numberedEvents,
  retryFast,
  WAIT_MS,
} from '../../../test/support/delivery-bench.ts'

const bench = await createDeliveryBench()
afterEach(() => bench.clear())
afterAll(() => bench.close())

/** The database refuses every attempt whose answer says this, accepted or not. */
const REFUSED_ANSWER = 'nothing that a database takes'
const { pool } = bench.database
await pool.query(`alter table delivery_attempt add constraint attempt_is_refused
  check (response_body is distinct from '${REFUSED_ANSWER}')`)
await pool.query(`alter table delivery add constraint acceptance_is_refused
  check (accepted_attempt ->> 'response_body' is distinct from '${REFUSED_ANSWER}')`)

test('an answer that the database refuses is left out of the log of its delivery, and keeps nothing from going on in order', async () => {
  const receiver = await bench.startReceiver((request, response) => {
    const isFirst = receiver.requests.filter(({ body }) => body === request.body).length === 1
    const isRefused = request.body.startsWith('0:')
    response.writeHead(isRefused && isFirst ? 503 : 202).end(isRefused ? REFUSED_ANSWER : 'taken')
  })
  const events = numberedEvents(60, 6)
  await bench.queue(receiver.id, events)
  await bench.startEngine(retryFast)
  await bench.waitForStates(receiver.id, { delivered: events.length })
  const arrivals = firstArrivals(receiver.requests.map(({ body }) => body))
  expect(arrivals).toEqual(firstArrivals(events))
  expect(receiver.overlaps).toEqual([])
  // Each of subject 0 was tried twice: no attempt was sent again because it could not be recorded.
  expect(receiver.requests).toHaveLength(events.length + 10)
  const { rows } = await pool.query<{ code: string; status: number; count: number }>(`
    select error_code as code, status_code as status, count(*)::int as count
    from delivery_attempt group by 1, 2`)
  expect(rows).toEqual([{ code: 'outcome_refused', status: 503, count: 10 }])
})

test('a delivery of which the database takes no outcome waits before it is sent again, and others go on', async () => {
  await pool.query(`alter table delivery add constraint end_is_refused
    check (body <> 'a:1' or state = 'queued')`)
  const receiver = await bench.startReceiver()
  await bench.queue(receiver.id, ['a:1', 'b:1', 'b:2', 'c:1'])
  await bench.startEngine(retryFast)
  await bench.waitForStates(receiver.id, { queued: 1, delivered: 3 })
  await vi.waitFor(async () => {
    const { rows } = await pool.query(`select from delivery where state = 'queued'
      and claimed_by is null and next_attempt_at > now() + interval '1 minute'`)
    expect(rows).toHaveLength(1)
  }, WAIT_MS)
  expect(receiver.requests).toHaveLength(4)
})

test('what follows a delivery of which the database takes no outcome waits with it, in order', async () => {
  await pool.query(`alter table delivery add constraint first_is_refused
    check (body <> 'd:0' or state = 'queued')`)
  const isGivenUp = Promise.withResolvers<void>()
  const receiver = await bench.startReceiver((_request, response) => {
    const answer = () => void response.writeHead(202).end()
    if (receiver.requests.length <= 10) answer()
    else void isGivenUp.promise.then(answer)
  })
  const bodies = Array.from({ length: 100 }, (_, index) => `d:${index}`)
  await bench.queue(receiver.id, bodies)
  await bench.startEngine(retryFast)
  await vi.waitFor(async () => {
    const { rows } = await pool.query(`select attempt_count as count from delivery
      where body = 'd:0' and claimed_by is null and next_attempt_at > now() + interval '1 minute'`)
    expect(rows).toEqual([{ count: 1 }])
  }, WAIT_MS)
  isGivenUp.resolve()
  await bench.queue(receiver.id, ['d:100', 'e:0'])
  await vi.waitFor(() => {
    expect(receiver.requests.map(({ body }) => body)).toContain('e:0')
  }, WAIT_MS)
  const sent = receiver.requests.map(({ body }) => body).filter((body) => body !== 'e:0')
  // Those that went out before it was known.
  expect(sent.length).toBeLessThan(50)
  expect(sent).toEqual(bodies.slice(0, sent.length))
  const { rows } = await pool.query(
    `select from delivery where state = 'queued' and claimed_by is null
    and destination_id = $1`,
    [receiver.id],
  )
  expect(rows).toHaveLength(bodies.length + 1 - (sent.length - 1))
})

import { afterAll, afterEach, expect, test } from 'vitest'
import { createDeliveryBench, retryFast } from '../../../test/support/delivery-bench.ts'
import type { Respond } from '../../../test/support/loopback-receiver.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'

const bench = await createDeliveryBench()
afterEach(() => bench.clear())
afterAll(() => bench.close())
const { pool, db } = bench.database

test.each([
  { title: 'a destination', locking: 'select from delivery_destination where id = $1' },
  { title: 'deliveries', locking: 'select from delivery where destination_id = $1' },
])(
  'somebody who has locked $title holds up the outcomes of others for one wait at most',
  async ({ locking }) => {
    const locker = await pool.connect()
    let answer: (() => void) | undefined
    const locked = await bench.startReceiver((_request, response) => {
      answer = () => void response.writeHead(202).end()
    })
    const free = await bench.startReceiver()
    try {
      await bench.startEngine(retryFast)
      await bench.queue(locked.id, ['a:1'])
      await expect.poll(() => answer).toBeDefined()
      await locker.query('begin')
      await locker.query(`${locking} for no key update`, [locked.id])
      answer?.()
      await bench.queue(free.id, ['b:1', 'b:2', 'c:1'])
      await bench.waitForStates(free.id, { delivered: 3 })
      expect(await bench.statesOf(locked.id)).toEqual({ queued: 1 })
    } finally {
      await locker.query('rollback')
      locker.release()
    }
    await bench.waitForStates(locked.id, { delivered: 1 })
    expect(locked.requests).toHaveLength(1)
  },
)

test('an end that begins while outcomes wait for what somebody has locked records those of other destinations', async () => {
  const answers: (() => void)[] = []
  const respond: Respond = (_request, response) =>
    void answers.push(() => void response.writeHead(202).end())
  const locked = await bench.startReceiver(respond)
  const free = await bench.startReceiver(respond)
  const engine = await bench.startEngine(retryFast)
  await bench.queue(locked.id, ['a:1', 'b:1', 'c:1'])
  await bench.queue(free.id, ['a:1', 'b:1'])
  await expect.poll(() => answers.length).toBe(5)
  const locker = await pool.connect()
  try {
    await locker.query('begin')
    await locker.query(
      `select from delivery where destination_id = $1 and subject_key = 'b' for no key update`,
      [locked.id],
    )
    for (const answer of answers) answer()
    await waitForLock(db)
    await engine.close()
    expect(await bench.statesOf(free.id)).toEqual({ delivered: 2 })
    // How many of these are found to be free in time depends on the machine; outcome-recorder.test.ts has its own time.
    expect(await bench.statesOf(locked.id)).toHaveProperty('queued')
  } finally {
    await locker.query('rollback')
    locker.release()
  }
})

test('what is in flight has its time from the moment that an end begins', async () => {
  const silent = await bench.startReceiver(() => undefined)
  const engine = await bench.startEngine(retryFast)
  await bench.queue(silent.id, ['a:1'])
  await expect.poll(() => silent.requests.length).toBe(1)
  await engine.beginEnd(50)
  await engine.close()
  expect(await bench.statesOf(silent.id)).toEqual({ queued: 1 })
  expect(silent.requests).toHaveLength(1)
})

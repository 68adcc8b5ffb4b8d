import { afterAll, afterEach, expect, test } from 'vitest'
import { createDeliveryBench, retryFast } from '../../../test/support/delivery-bench.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'

const bench = await createDeliveryBench()
afterEach(() => bench.clear())
afterAll(() => bench.close())
const { pool, db } = bench.database

/** Ends the statement that waits for a lock, as its time limit does much later. */
async function endWaiting(): Promise<void> {
  await waitForLock(db)
  await pool.query(`select pg_cancel_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`)
}

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
      await endWaiting()
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

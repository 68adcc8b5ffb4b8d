import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createDeliveryBench, numberedEvents } from '../../../test/support/delivery-bench.ts'
import { SILENT } from '../../../test/support/test-engine.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'
import { openDatabase } from '../../platform/db/database.ts'
import type { Schema } from '../../schema/schema.ts'

const bench = await createDeliveryBench()
const { connection, db } = bench.database
/** As long as the connections of the service wait, but much shorter. */
const impatient = new Kysely<Schema>({
  dialect: new PostgresDialect({ pool: new Pool({ ...connection, lock_timeout: 200 }) }),
})
afterEach(() => bench.clear())
afterAll(async () => {
  await impatient.destroy()
  await bench.close()
})

test('claims that do not get the lock of their table in time are given up, logged once and tried again', async () => {
  const warn = vi.fn()
  const logged = () => warn.mock.calls.filter(([, text]) => text === 'deliveries not claimed')
  const receiver = await bench.startReceiver()
  const engine = await bench.startEngine([60_000], { db: impatient, log: { ...SILENT, warn } })
  const claimWhileLocked = async () => {
    const locking = await db.startTransaction().execute()
    await sql`lock table delivery in access exclusive mode`.execute(locking)
    engine.wake(receiver.id)
    // The second is the next round.
    for (let round = 0; round < 2; round += 1) {
      await waitForLock(db)
      await waitForLock(db, 0)
    }
    await locking.rollback().execute()
  }
  await claimWhileLocked()
  expect(logged()).toHaveLength(1)
  await bench.queue(receiver.id, numberedEvents(3, 3))
  await bench.waitForStates(receiver.id, { delivered: 3 })
  await claimWhileLocked()
  expect(logged()).toHaveLength(2)
})

test('connections of the service wait for a lock for a bounded time, without a statement that says so', async () => {
  const service = openDatabase<Schema>(connection, {
    network: new DatabaseNetwork(),
    poolMax: 1,
    logError: () => undefined,
  })
  const { rows } = await sql`show lock_timeout`.execute(service.preparedDb)
  expect(rows).toEqual([{ lock_timeout: '20s' }])
  await service.close()
})

import { sql, type Transaction } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { createPosture } from '../../../test/support/posture-fixtures.ts'
import type { Schema } from '../../schema/schema.ts'
import { moveCheckCounters, type CounterDelta } from './check-counter-store.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

test('what two connections count of one check does not wait for the commit of the other', async () => {
  const check_id = await createPosture(db).insertCheck()
  const deltas: CounterDelta[] = [
    { check_id, status: 'passing', delta: -20 },
    { check_id, status: 'failing', delta: 20 },
  ]
  await db.transaction().execute(async (first) => {
    await moveCheckCounters(first, deltas)
    await onOtherStripe(await readStripe(first), async (second) => {
      await sql`set local lock_timeout = '5s'`.execute(second)
      await moveCheckCounters(second, deltas)
    })
  })

  const counters = await db
    .selectFrom('check_counter')
    .select(({ fn }) => ['status', fn.sum('device_count').as('count')])
    .where('check_id', '=', check_id)
    .groupBy('status')
    .orderBy('status')
    .execute()
  expect(counters).toEqual([
    { status: 'failing', count: '40' },
    { status: 'passing', count: '-40' },
  ])
})

async function readStripe(tx: Transaction<Schema>): Promise<number> {
  const { rows } = await sql<{ stripe: number }>`select counter_stripe() as stripe`.execute(tx)
  return rows[0]?.stripe ?? -1
}

/** On a connection that counts elsewhere; one that does not is kept busy meanwhile. */
async function onOtherStripe(
  stripe: number,
  run: (tx: Transaction<Schema>) => Promise<void>,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const isOther = (await readStripe(tx)) !== stripe
    await (isOther ? run(tx) : onOtherStripe(stripe, run))
  })
}

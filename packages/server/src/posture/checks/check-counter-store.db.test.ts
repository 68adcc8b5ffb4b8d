import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { onOtherStripe, readStripe } from '../../../test/support/other-stripe.ts'
import { createPosture } from '../../../test/support/posture-fixtures.ts'
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
    await onOtherStripe(db, await readStripe(first), async (second) => {
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

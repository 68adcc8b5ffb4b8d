import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { insertCheck } from '../../../test/support/factories.ts'
import { CHECK_LIST } from './check-read.ts'

const STRIPES = 16

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

it('the counters of a check are read once for how many devices pass it and to how many it applies', async () => {
  const checkId = await insertCheck(db)
  await sql`insert into check_counter (check_id, stripe, status, device_count)
    select ${checkId}, stripe, status, 2 from generate_series(0, ${STRIPES - 1}::int) stripe,
      unnest(array['passing', 'failing', 'out_of_scope', 'inapplicable']) status`.execute(db)
  const counters = STRIPES * 4
  await sql`vacuum analyze check_counter`.execute(db)
  const { check, read } = await db.transaction().execute(async (tx) => ({
    check: await CHECK_LIST.find(tx, checkId),
    read: await countCountersRead(tx),
  }))
  expect(check).toMatchObject({
    passingCount: String(2 * STRIPES),
    targetedCount: String(4 * STRIPES),
  })
  expect(read).toBe(counters)
})

async function countCountersRead(tx: typeof db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as count
    from pg_stat_xact_user_tables where relname = 'check_counter'`.execute(tx)
  return rows[0]?.count ?? 0
}

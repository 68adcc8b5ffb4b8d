import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { skipGivenNumbers } from './given-numbers-store.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

/** Whether the numbers of all logged tables, and of each unlogged one, are skipped. */
async function listSkipped(): Promise<unknown[]> {
  const least = await db.transaction().execute((tx) => skipGivenNumbers(tx))
  const { rows } = await sql`
    select case c.relpersistence when 'u' then c.relname else 'logged' end as name,
      bool_and(coalesce(pg_sequence_last_value(s.seqrelid) >= ${least}::bigint, false)) as "isSkipped"
    from pg_sequence s join pg_class c on c.oid = s.seqrelid
    where c.relnamespace = 'public'::regnamespace and s.seqtypid = 'bigint'::regtype
    group by 1 order by 1`.execute(db)
  return rows
}

test('numbers of an unlogged table that cannot be read, as after a takeover, keep no others from being skipped', async () => {
  expect(await listSkipped()).toEqual([
    { name: 'audit_pending_id_seq', isSkipped: true },
    { name: 'logged', isSkipped: true },
  ])
  await sql`alter sequence audit_pending_id_seq maxvalue 3 restart with 2`.execute(db)
  expect(await listSkipped()).toEqual([
    { name: 'audit_pending_id_seq', isSkipped: false },
    { name: 'logged', isSkipped: true },
  ])
})

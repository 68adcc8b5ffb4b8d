import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { skipGivenNumbers } from './given-numbers-store.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

test('numbers of logged tables are skipped; those of unlogged ones, which a takeover may leave unreadable, are not touched', async () => {
  const least = await db.transaction().execute((tx) => skipGivenNumbers(tx))

  const { rows } = await sql<{ persistence: string; isSkipped: boolean }>`
    select distinct c.relpersistence as persistence,
      coalesce(pg_sequence_last_value(s.seqrelid) >= ${least}::bigint, false) as "isSkipped"
    from pg_sequence s join pg_class c on c.oid = s.seqrelid
    where c.relnamespace = 'public'::regnamespace and s.seqtypid = 'bigint'::regtype
    order by persistence`.execute(db)
  expect(rows).toEqual([
    { persistence: 'p', isSkipped: true },
    { persistence: 'u', isSkipped: false },
  ])
})

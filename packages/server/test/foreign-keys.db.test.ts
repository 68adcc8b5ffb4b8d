/*
 * Foreign keys whose side that refers has no index: a deletion on the other side reads the whole table for each
 * row. Those that stay without are here by name, with what makes them harmless.
 */
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from './support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

/** The other side is never deleted, or one at a time by an admin, and the table that refers to it is small. */
const HARMLESS = [
  'api_key.responsible_admin_id -> admin_user',
  'api_key.rotated_from_id -> api_key',
  'check_group_rule.device_group_id -> device_group',
  'check_refresh.check_id -> posture_check',
  'check_transition.check_id -> posture_check',
  'device.enrollment_secret_id -> enrollment_secret',
  'enrollment_secret.person_id -> person',
  'posture_check_tag.tag_id -> check_tag',
  'signing_key_proof.kid -> signing_key',
  'stream_signing_key.kid -> signing_key',
]

test('every row that goes with another one is found by an index', async () => {
  const { rows } = await sql<{ name: string }>`
    select c.conrelid::regclass || '.' || string_agg(a.attname, ',' order by k.place)
      || ' -> ' || c.confrelid::regclass as name
    from pg_constraint c
    cross join lateral unnest(c.conkey) with ordinality as k (attnum, place)
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.attnum
    -- Those of a partition are its table's.
    where c.contype = 'f' and c.conparentid = 0 and not exists (
      select from pg_index i
      where i.indrelid = c.conrelid
        -- Rows that refer to nothing may be missing in it.
        and coalesce(pg_get_expr(i.indpred, i.indrelid), '') in ('', '(' || a.attname || ' IS NOT NULL)')
        and (string_to_array(i.indkey::text, ' ')::int2[])[1:cardinality(c.conkey)] @> c.conkey)
    group by c.oid, c.conrelid, c.confrelid order by 1`.execute(database.db)
  expect(rows.map(({ name }) => name)).toEqual(HARMLESS)
})

import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { OPEN_COLUMNS, SEALED_COLUMNS } from './sealed-columns.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

it('names every column of bytes: it is sealed anew with another master key, or holds no secret', async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and (data_type = 'bytea' or column_name like '%\\_sealed')
    order by name`.execute(database.db)
  const named = [
    ...SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`),
    ...OPEN_COLUMNS,
  ]
  expect(rows.map(({ name }) => name)).toEqual(named.sort())
})

it('names the primary key of each table', async () => {
  for (const { table, key } of SEALED_COLUMNS) {
    const { rows } = await sql<{ name: string }>`
      select attname as name from pg_index join pg_attribute
        on attrelid = indrelid and attnum = any (indkey)
      where indisprimary and indrelid = ${table}::regclass`.execute(database.db)
    expect(rows, table).toEqual([{ name: key }])
  }
})

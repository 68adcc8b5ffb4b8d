import { sql, type Kysely } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { systemClock } from '../clock.ts'
import { openDatabase } from './database.ts'
import type { Schema } from '../../schema/schema.ts'
import { DatabaseNetwork } from './database-network.ts'

const database = await createTestDatabase()
// One connection, so that a test sees what a statement left there.
const opened = openDatabase<Schema>(database.connection, {
  network: new DatabaseNetwork(),
  poolMax: 1,
  logError: () => undefined,
})
const { db, preparedDb } = opened
afterAll(async () => {
  await opened.close()
  await database.close()
})

beforeAll(async () => {
  await sql`create table gauge (id integer primary key, value text)`.execute(db)
  await sql`insert into gauge values (1, 'one'), (2, 'two')`.execute(db)
})

async function readGauge(on: Kysely<Schema>, id: number): Promise<unknown> {
  const { rows } = await sql`select * from gauge where id = ${id}`.execute(on)
  return rows[0]
}

async function countPrepared(text: string): Promise<number> {
  const { rows } = await opened.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_prepared_statements
     where starts_with(statement, '${text}')`,
  )
  return rows[0]?.count ?? 0
}

test('prepares a statement that is repeated, once, whatever its values', async () => {
  await sql`select ${1}::integer + 41 as once`.execute(preparedDb)
  for (const id of [1, 2, 1, 2, 1, 2, 1, 2]) {
    expect(await readGauge(preparedDb, id)).toEqual({ id, value: id === 1 ? 'one' : 'two' })
  }
  expect(await countPrepared('select * from gauge')).toBe(1)
  expect(await countPrepared('select $1::integer + 41')).toBe(0)
})

test('prepares nothing where plans depend on the values', async () => {
  for (let run = 0; run < 8; run += 1) {
    await sql`select value from gauge where id = ${run}`.execute(db)
  }
  expect(await countPrepared('select value from gauge')).toBe(0)
})

test('reads a table that another version has changed meanwhile', async () => {
  await sql`alter table gauge add column unit text`.execute(db)
  expect(await readGauge(preparedDb, 1)).toEqual({ id: 1, value: 'one', unit: null })
  for (let run = 0; run < 4; run += 1) await readGauge(preparedDb, 2)
  expect(await countPrepared('select * from gauge')).toBe(2)
})

test('runs a change again whose statement another version has outdated', async () => {
  const runChange = createChangeRunner(preparedDb, systemClock, [])
  let runs = 0
  const read = () =>
    runChange({ actor: SYSTEM_ACTOR }, ({ tx }) => {
      runs += 1
      return readGauge(tx, 2)
    })
  for (let run = 0; run < 4; run += 1) await read()
  await sql`alter table gauge add column place text`.execute(db)
  runs = 0
  expect(await read()).toEqual({ id: 2, value: 'two', unit: null, place: null })
  expect(runs).toBe(2)
})

test('tells of a statement that is wrong, and goes on working', async () => {
  const fail = () => sql`select 1 / ${0}::integer`.execute(preparedDb)
  for (let run = 0; run < 4; run += 1) await expect(fail()).rejects.toThrow('division by zero')
  expect(await readGauge(preparedDb, 1)).toMatchObject({ value: 'one' })
})

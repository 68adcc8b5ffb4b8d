import type { Schema } from '../../schema/schema.ts'
import { sql } from 'kysely'
import { afterAll, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { openDatabase, pingDatabase } from './database.ts'
import { DatabaseClient } from './database-client.ts'
import { DatabaseNetwork } from './database-network.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000

const database = await createTestDatabase()
afterAll(() => database.close())

test('reads bigint and numeric without rounding, timestamptz as Date and date as text', async () => {
  const { rows } = await sql<Record<string, unknown>>`
    select 9007199254740993::bigint as big,
           array[9007199254740993::bigint] as bigs,
           12345678901234567890.123456789::numeric as exact,
           timestamptz '2026-01-02T03:04:05.678Z' as at,
           date '2026-01-02' as day`.execute(database.db)
  expect(rows).toEqual([
    {
      big: '9007199254740993',
      bigs: ['9007199254740993'],
      exact: '12345678901234567890.123456789',
      at: new Date('2026-01-02T03:04:05.678Z'),
      day: '2026-01-02',
    },
  ])
})

test('limits statements and idle transactions, and names its connections', async () => {
  const { rows } = await sql<Record<string, unknown>>`
    select current_setting('statement_timeout') as statement,
           current_setting('idle_in_transaction_session_timeout') as idle,
           current_setting('application_name') as name`.execute(database.db)
  expect(rows).toEqual([{ statement: '30s', idle: '1min', name: 'heliograph test' }])
})

test('two who count the same row at once count both, whatever the database is set to', async () => {
  const set = await createTestDatabase({ isEmpty: true })
  const settings = {
    default_transaction_isolation: 'repeatable read',
    timezone: 'Asia/Kathmandu',
    quote_all_identifiers: 'on',
  }
  try {
    const { rows: names } = await set.pool.query<{ name: string }>(
      'select current_database() as name',
    )
    for (const [name, value] of Object.entries(settings)) {
      await set.pool.query(`alter database "${names[0]?.name ?? ''}" set ${name} = '${value}'`)
    }
    const opened = openDatabase<Schema>(set.connection, {
      network: new DatabaseNetwork(),
      poolMax: 2,
      logError: () => undefined,
    })
    try {
      const { pool } = opened
      await pool.query('create table counter as select 0 as value')
      const [one, other] = [await pool.connect(), await pool.connect()]
      try {
        for (const client of [one, other]) await client.query('begin; select value from counter')
        await one.query('update counter set value = value + 1')
        const second = other.query('update counter set value = value + 1')
        await Promise.all([one.query('commit'), second])
        await other.query('commit')
      } finally {
        for (const client of [one, other]) client.release(true)
      }
      const { rows } = await pool.query(
        `select value, current_setting('timezone') as zone, format('%s', oid::regclass) as name,
           timestamptz '2026-01-02' = '2026-01-02T00:00:00Z' as is_utc
         from counter, pg_class where relname = 'counter'`,
      )
      expect(rows).toEqual([{ value: 2, zone: 'UTC', name: 'counter', is_utc: true }])
    } finally {
      await opened.close()
    }
  } finally {
    await set.close()
  }
})

test('is told from a database that is well by connections whose settings were changed, and mends them', async () => {
  const opened = openDatabase<Schema>(database.connection, {
    network: new DatabaseNetwork(),
    poolMax: 1,
    logError: () => undefined,
    applicationName: 'heliograph test',
  })
  try {
    await pingDatabase(opened.db)
    await opened.pool.query(`select set_config('search_path', '', false)`)
    await expect(pingDatabase(opened.db)).rejects.toThrow(/other settings: search_path/)
    await pingDatabase(opened.db)
    const { rows } = await opened.pool.query(
      `select current_setting('search_path') as path, current_setting('statement_timeout') as statement`,
    )
    expect(rows).toEqual([{ path: '"$user", public', statement: '30s' }])
  } finally {
    await opened.close()
  }
})

test('works as a role without administrative rights', async () => {
  const { rows } = await sql<{ superuser: boolean }>`
    select rolsuper as superuser from pg_roles where rolname = current_user`.execute(database.db)
  expect(rows).toEqual([{ superuser: false }])
})

test('tells of a connection that breaks, but not of one that the closing pool leaves', async () => {
  const logError = vi.fn()
  const network = new DatabaseNetwork()
  const options = { network, poolMax: 1, logError, applicationName: 'heliograph broken' }
  const opened = openDatabase<Schema>(database.connection, options)
  await sql`select`.execute(opened.db)
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'heliograph broken'`,
  )
  await vi.waitFor(() => expect(logError).toHaveBeenCalledTimes(1), WAIT_MS)
  const closed = opened.close()
  opened.pool.emit('error', new Error('terminating connection'), {})
  await closed
  expect(logError).toHaveBeenCalledTimes(1)
})

test('whoever waits for a connection that is closed while it begins hears of it', async () => {
  for (const turns of [0, 1, 2, 5]) {
    const client = new DatabaseClient(new DatabaseNetwork().settings(database.connection, 0))
    const connecting = client.connect()
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
    await client.close()
    await expect(connecting).rejects.toThrow('Connection terminated')
  }
})

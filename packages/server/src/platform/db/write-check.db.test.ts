import { sql } from 'kysely'
import { afterAll, beforeEach, expect, inject, test, vi } from 'vitest'
import { createTestDatabase, withClient } from '../../../test/support/database.ts'
import type { Schema } from '../../schema/schema.ts'
import { DatabaseNetwork } from './database-network.ts'
import { openDatabase } from './database.ts'
import { createWriteCheck, tryWriting } from './write-check.ts'

const database = await createTestDatabase({ poolMax: 1 })
const network = new DatabaseNetwork()
const opened = openDatabase<Schema>(database.connection, {
  network,
  poolMax: 2,
  logError: () => undefined,
  applicationName: 'heliograph test',
})
const { db } = opened
afterAll(async () => {
  await opened.close()
  await database.close()
})

beforeEach(() => network.forgetWriteFault())

/** A statement fails as it does when the server has no disk left. */
async function failWith(code: string): Promise<void> {
  const failing = sql.raw(`do $$ begin raise exception 'no' using errcode = '${code}'; end $$`)
  await expect(failing.execute(db)).rejects.toThrow('no')
}

async function nameOfDatabase(): Promise<string> {
  const { rows } = await database.pool.query<{ name: string }>('select current_database() as name')
  return rows[0]?.name ?? ''
}

/** For the connections that are opened next, and those of the pool. */
async function setSearchPath(name: string, path: string): Promise<void> {
  await database.pool.query(`alter database "${name}" set search_path = ${path}`)
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`,
  )
  await vi.waitFor(() => sql`select`.execute(db))
}

test('passes while statements succeed or fail for other reasons', async () => {
  const check = createWriteCheck(db, network)
  await check()
  await failWith('23505')
  expect(network.writeFault()).toBeUndefined()
  await check()
})

test.each(['53100', '58030'])(
  'after %s it writes for a trial, and fails until that succeeds',
  async (code) => {
    const name = await nameOfDatabase()
    await failWith(code)
    // In the place of a disk that is still full.
    await database.pool.query(`
      create schema full_disk;
      create function full_disk.generate_series(integer, integer) returns setof integer
        language plpgsql as $$ begin raise exception 'no' using errcode = '${code}'; end $$`)
    await setSearchPath(name, 'full_disk, pg_catalog, public')
    const check = createWriteCheck(db, network)
    await expect(check()).rejects.toThrow(/cannot store/)
    await expect(check()).rejects.toThrow(/cannot store/)
    await setSearchPath(name, 'public')
    await database.pool.query('drop schema full_disk cascade')
    // The next trial is only after a while; another check has not tried yet.
    await createWriteCheck(db, network)()
    await check()
  },
)

test('the trial takes space on the disk, also in a transaction that only reads, and makes nothing', async () => {
  const read = async () => {
    const { rows } = await database.pool.query<{ bytes: string; relations: string }>(
      `select temp_bytes as bytes, (select count(*) from pg_class) as relations
       from pg_stat_database where datname = current_database()`,
    )
    return { bytes: Number(rows[0]?.bytes), relations: rows[0]?.relations }
  }
  const before = await read()
  await database.pool.query('set default_transaction_read_only = on')
  await tryWriting(database.db)
  await database.pool.query('reset default_transaction_read_only')
  await expect.poll(async () => (await read()).bytes - before.bytes).toBeGreaterThan(200_000)
  expect((await read()).relations).toBe(before.relations)
})

test('a limit of temporary files keeps the trial from telling anything, which is no fault', async () => {
  const name = await nameOfDatabase()
  const { administration } = inject('postgres')
  const alter = (change: string) =>
    withClient(administration, (client) => client.query(`alter database "${name}" ${change}`))
  await alter('set temp_file_limit = 0')
  const limited = openDatabase<Schema>(database.connection, {
    network,
    poolMax: 1,
    logError: () => undefined,
    applicationName: 'heliograph test',
  })
  try {
    await failWith('53100')
    await createWriteCheck(limited.db, network)()
    expect(network.writeFault()).toBeUndefined()
  } finally {
    await limited.close()
    await alter('reset temp_file_limit')
  }
})

test('fails while the server only reads', async () => {
  const name = await nameOfDatabase()
  await database.pool.query(`alter database "${name}" set default_transaction_read_only = on`)
  const reading = openDatabase<Schema>(database.connection, {
    network: new DatabaseNetwork(),
    poolMax: 1,
    logError: () => undefined,
    applicationName: 'heliograph test',
  })
  try {
    const check = createWriteCheck(reading.db, network)
    await expect(check()).rejects.toThrow('only reads')
  } finally {
    await reading.close()
    await database.pool.query(
      `set default_transaction_read_only = off; alter database "${name}" reset default_transaction_read_only`,
    )
  }
})

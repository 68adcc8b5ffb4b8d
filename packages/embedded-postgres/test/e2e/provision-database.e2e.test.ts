import { mkdir, mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startEmbeddedPostgres } from '../../src/embedded-postgres.ts'
import { removeDataFolder } from '../../src/remove-data-folder.ts'

let dataDir: string
const nothing = () => undefined
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing }

beforeEach(async () => {
  dataDir = join(await realpath(await mkdtemp(join(tmpdir(), 'provision-'))), 'data')
  await mkdir(dataDir)
})
afterEach(() => removeDataFolder(dataDir, log))

type Query = (database: string, text: string) => Promise<unknown[]>

/** Starts the server, has `work` done as its superuser, and stops it. */
async function whileRunning<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
  const server = await startEmbeddedPostgres({ dataDir, log, isDurable: false })
  try {
    return await work(async (database, text) => {
      const client = new Client({ ...server.administration, database })
      await client.connect()
      try {
        const { rows } = await client.query<Record<string, unknown>>(text)
        return rows
      } finally {
        await client.end()
      }
    })
  } finally {
    await server.stop()
  }
}

const toPrivileges = (role: string) => `
  select has_table_privilege('${role}', 'pg_class', 'select') as "readsCatalogue",
    has_any_column_privilege('${role}', 'pg_attribute', 'select') as "readsColumns",
    has_function_privilege('${role}', 'pg_sleep(double precision)', 'execute') as "waits"`
const NONE = { readsCatalogue: false, readsColumns: false, waits: false }
const ALL = { readsCatalogue: true, readsColumns: true, waits: true }

it('a start takes from the reporting role what everybody was given since the start before', async () => {
  const before = await whileRunning(async (query) => {
    await query(
      'heliograph',
      `grant select on pg_class to public; grant select (attname) on pg_attribute to public;
       grant execute on function pg_sleep(double precision) to public`,
    )
    return query('heliograph', toPrivileges('heliograph_reporting'))
  })
  expect(before).toEqual([ALL])
  await whileRunning(async (query) => {
    expect(await query('heliograph', toPrivileges('heliograph_reporting'))).toEqual([NONE])
    expect(await query('heliograph', toPrivileges('heliograph'))).toEqual([ALL])
  })
})

it('a database that is made later confines the reporting role and leaves roles that were added what they had', async () => {
  await whileRunning((query) => query('heliograph', 'create role operator'))
  await whileRunning(async (query) => {
    await query('heliograph', 'create database later')
    expect(await query('later', toPrivileges('heliograph_reporting'))).toEqual([NONE])
    expect(await query('later', toPrivileges('operator'))).toEqual([ALL])
  })
})

it('a start that finds the roles which it knows does not connect to the template of databases again', async () => {
  const countSessions = (query: Query) =>
    query('heliograph', `select sessions::int from pg_stat_database where datname = 'template1'`)
  await whileRunning(() => Promise.resolve())
  const before = await whileRunning(countSessions)
  expect(await whileRunning(countSessions)).toEqual(before)
})

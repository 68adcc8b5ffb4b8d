/*
 * The program that the tests of the embedded database start and kill. As a service it commits rows
 * without pause and prints the number of each one that was acknowledged; as a command it prints what
 * it finds.
 */
import type { Schema } from '../../src/schema/schema.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { openDatabase } from '../../src/platform/db/database.ts'
import type { Database } from '../../src/platform/db/database.ts'
import type { DatabaseLog } from '../../src/platform/db/database-log.ts'
import { DatabaseStartError } from '../../src/platform/db/embedded/database-start-error.ts'
import { openDataFolder } from '../../src/platform/db/embedded/open-data-folder.ts'
import { toUnavailable } from '../../src/platform/db/unavailable.ts'

const [dataDir = '', purpose = '', holdMs = '0'] = process.argv.slice(2)

function print(word: string, value: unknown): void {
  process.stdout.write(`${word} ${JSON.stringify(value)}\n`)
}

const log: DatabaseLog = {
  debug: () => undefined,
  info: (fields, message) => print('log', { message, ...fields }),
  warn: (fields, message) => print('log', { message, ...fields }),
  error: (fields, message) => print('log', { message, ...fields }),
}

try {
  if (purpose === 'service') await runService()
  else await runCommand()
} catch (error) {
  if (!(error instanceof DatabaseStartError)) throw error
  print('refused', error.message)
  process.exitCode = 1
}

async function runService(): Promise<void> {
  const stopping = new AbortController()
  process.once('SIGTERM', () => stopping.abort())
  const folder = await openDataFolder({ dataDir, purpose: 'service', log })
  const database = openDatabase<Schema>(folder.connection, {
    poolMax: 4,
    logError: () => undefined,
  })
  await sql`create table if not exists acknowledged (id bigint primary key)`.execute(database.db)
  const rows = await readRows(database)
  print('ready', { rows: rows.length, connection: folder.connection })
  for (let id = rows.length + 1; !stopping.signal.aborted;) {
    if (await insertRow(database, id)) print('acknowledged', id++)
  }
  await database.close()
  await folder.stop()
  print('stopped', null)
}

/** Answers whether the row is committed; while the database restarts it is not, or not known. */
async function insertRow(database: Database<Schema>, id: number): Promise<boolean> {
  try {
    await sql`insert into acknowledged values (${id}) on conflict do nothing`.execute(database.db)
    return true
  } catch (error) {
    if (toUnavailable(error) === undefined) throw error
    print('unavailable', id)
    await sleep(20)
    return false
  }
}

async function runCommand(): Promise<void> {
  const folder = await openDataFolder({ dataDir, purpose: 'command', log })
  const database = openDatabase<Schema>(folder.connection, {
    poolMax: 1,
    logError: () => undefined,
  })
  print('found', await readRows(database))
  await sleep(Number(holdMs))
  await database.close()
  await folder.stop()
}

async function readRows({ db }: Database<Schema>): Promise<number[]> {
  const { rows } = await sql<{ id: string }>`select id from acknowledged order by id`.execute(db)
  return rows.map((row) => Number(row.id))
}

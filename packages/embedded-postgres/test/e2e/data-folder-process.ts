/*
 * The program that the tests of the embedded database start and kill. As a service it commits rows
 * without pause and prints the number of each one that was acknowledged; as a command it prints what
 * it finds.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import {
  DatabaseStartError,
  isConnectionFailure,
  openDataFolder,
  OWNER_ROLE,
} from '../../src/index.ts'
import type { ServerLog, SocketConnection } from '../../src/index.ts'

const [dataDir = '', purpose = '', holdMs = '0'] = process.argv.slice(2)

function print(word: string, value: unknown): void {
  process.stdout.write(`${word} ${JSON.stringify(value)}\n`)
}

const log: ServerLog = {
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
  const database = openPool({ ...folder.connection, user: OWNER_ROLE }, 4)
  await database.query('create table if not exists acknowledged (id bigint primary key)')
  const rows = await readRows(database)
  print('ready', { rows: rows.length, connection: folder.connection })
  for (let id = rows.length + 1; !stopping.signal.aborted;) {
    if (await insertRow(database, id)) print('acknowledged', id++)
  }
  await database.end()
  await folder.stop()
  print('stopped', null)
}

/** Answers whether the row is committed; while the database restarts it is not, or not known. */
async function insertRow(database: Pool, id: number): Promise<boolean> {
  try {
    await database.query('insert into acknowledged values ($1) on conflict do nothing', [id])
    return true
  } catch (error) {
    if (!isConnectionFailure(error)) throw error
    print('unavailable', id)
    await sleep(20)
    return false
  }
}

async function runCommand(): Promise<void> {
  const folder = await openDataFolder({ dataDir, purpose: 'command', log })
  const database = openPool({ ...folder.connection, user: OWNER_ROLE }, 1)
  print('found', await readRows(database))
  await sleep(Number(holdMs))
  await database.end()
  await folder.stop()
}

async function readRows(database: Pool): Promise<number[]> {
  const { rows } = await database.query<{ id: string }>('select id from acknowledged order by id')
  return rows.map((row) => Number(row.id))
}

/** Connections that break are told of by the statements that fail. */
function openPool(connection: SocketConnection, max: number): Pool {
  const pool = new Pool({ ...connection, max, connectionTimeoutMillis: 10_000 })
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

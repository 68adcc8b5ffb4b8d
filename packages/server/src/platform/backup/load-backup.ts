/*
 * Puts the rows of a backup into a database that has its schema, in one transaction: all or nothing.
 */
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { AppError } from '../app-error.ts'
import type { DatabaseConnection } from '../db/connection.ts'
import { damaged, type BackedUpTable, type OpenedBackup } from './backup-files.ts'
import { withDatabaseClient } from './with-database-client.ts'
import {
  beginLoad,
  commitLoad,
  countOtherSessions,
  isClockBehind,
  isEmpty,
  putBack,
  setSequences,
} from './load-store.ts'
import { copyInText, listTables, type TableShape } from './table-catalogue-store.ts'

export interface LoadOptions {
  /** As whoever owns the tables, or as a superuser. */
  readonly connection: DatabaseConnection
  readonly onProgress: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Loads a backup in place of all rows that there are. Foreign keys, unique indexes and checks are all made anew over
 * what was loaded.
 *
 * @throws AppError `conflict` where a table of either is missing in the other or gets another number of rows than the
 * backup says, and where the clock of the database is behind the backup
 */
export async function loadBackup(
  { folder, manifest }: OpenedBackup,
  { connection, onProgress, signal }: LoadOptions,
): Promise<void> {
  await withDatabaseClient(connection, 'heliograph restore', async (client) => {
    const shapes = await findShapes(client, manifest.tables)
    await assertClockIsAhead(client, manifest.taken_at)
    const takenOff = await beginLoad(client)
    for (const [done, { table, shape }] of shapes.entries()) {
      onProgress(`Loading ${table.name} (${done + 1} of ${shapes.length}) ...`)
      await loadTable(client, copyInText(shape), { folder, table, signal })
    }
    await setSequences(
      client,
      manifest.sequences.map((sequence) => ({
        name: sequence.name,
        lastValue: sequence.last_value,
      })),
    )
    await putBack(client, takenOff, (done, all) => {
      signal.throwIfAborted()
      onProgress(`Building indexes and checking references (${done + 1} of ${all}) ...`)
    })
    await commitLoad(client)
  })
}

/**
 * Looks before anything else is done to a database; `seeded` tables may have rows.
 *
 * @throws AppError `conflict` for one with rows
 */
export async function assertNoRows(
  connection: DatabaseConnection,
  seeded: readonly string[],
): Promise<void> {
  const isFree = await withDatabaseClient(connection, 'heliograph restore', (client) =>
    isEmpty(client, seeded),
  )
  if (isFree) return
  throw new AppError('conflict', 'This database has rows already, and is not overwritten.')
}

/**
 * Looks whether a service is connected to a database, which would work with rows that are not all there yet. Sees the
 * connections of the role that it is called as.
 *
 * @throws AppError `conflict` where one is
 */
export async function assertUnused(connection: DatabaseConnection): Promise<void> {
  const count = await withDatabaseClient(connection, 'heliograph restore', countOtherSessions)
  if (count === 0) return
  throw new AppError(
    'conflict',
    `A service works with this database: ${count} connections are open. Stop every process of it first.`,
  )
}

async function assertClockIsAhead(client: Client, takenAt: string): Promise<void> {
  if (!(await isClockBehind(client, takenAt))) return
  throw new AppError(
    'conflict',
    `The clock of the database is behind ${takenAt}, when this backup was made. Set it right first: receivers would take what they are told for outdated.`,
  )
}

interface LoadedTable {
  readonly table: BackedUpTable
  /** As it is in the database. */
  readonly shape: TableShape
}

async function findShapes(
  client: Client,
  tables: readonly BackedUpTable[],
): Promise<LoadedTable[]> {
  const present = new Map((await listTables(client)).map((shape) => [shape.name, shape]))
  const missing = [...present.keys()].filter((name) => !tables.some((table) => table.name === name))
  if (missing.length > 0) throw damaged(`it has no table ${missing.join(', ')}`)
  return tables.map((table) => {
    const shape = present.get(table.name)
    if (shape?.columns.join() === table.columns.join()) return { table, shape }
    throw damaged(`its table ${table.name} is not one of Heliograph, or has other columns`)
  })
}

interface TableSource {
  readonly folder: string
  readonly table: BackedUpTable
  readonly signal: AbortSignal
}

async function loadTable(
  client: Client,
  copyText: string,
  { folder, table, signal }: TableSource,
): Promise<void> {
  const copy = client.query(copyFrom(copyText))
  await pipeline(createReadStream(join(folder, table.file)), createZstdDecompress(), copy, {
    signal,
  })
  if (copy.rowCount !== table.rows) {
    throw damaged(`${table.file} has ${copy.rowCount} rows in place of ${table.rows}`)
  }
}

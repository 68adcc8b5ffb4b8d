/*
 * What a database consists of, as its catalogues tell: tables with their columns, sequences, and what hangs on
 * tables. SQL only. Unlogged tables are left out, as they are empty after a crash of the server too.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { AppError } from '../app-error.ts'
import { SECOND_MS } from '../clock.ts'
import { errorCodeOf } from '../error-code-of.ts'

/** A table whose rows are kept. */
export interface TableShape {
  readonly name: string
  /** Those that are stored, in their order; generated ones follow from them. */
  readonly columns: readonly string[]
  readonly isPartitioned: boolean
}

export interface SequenceValue {
  readonly name: string
  /** Null before the first value. */
  readonly lastValue: string | null
}

/** The table of the applied migrations; it is not copied, but made anew by the migrations. */
const LEDGER = 'schema_migration'

/** The tables of the schema `public` by name, without those of extensions. */
export async function listTables(client: Client): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape>(`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns,
      c.relkind = 'p' as "isPartitioned"
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = ''
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and c.relpersistence = 'p' and not c.relispartition
      and c.relname <> '${LEDGER}'
      and not exists (select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    group by c.oid order by c.relname`)
  return rows
}

/** The sequences of the schema `public` by name. Their values do not belong to a snapshot: read them after the rows. */
export async function listSequences(client: Client): Promise<SequenceValue[]> {
  const { rows } = await client.query<SequenceValue>(`
    select c.relname as name, pg_sequence_last_value(c.oid)::text as "lastValue"
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'S'
    order by c.relname`)
  return rows
}

export interface LedgerEntry {
  readonly version: number
  readonly name: string
  readonly checksum: string
}

/** The migrations that made the schema; none where there is no schema. */
export async function listLedger(client: Client): Promise<LedgerEntry[]> {
  const { rowCount } = await client.query(
    `select where to_regclass('public.${LEDGER}') is not null`,
  )
  if (rowCount === 0) return []
  const { rows } = await client.query<LedgerEntry>(
    `select version, name, checksum from public.${LEDGER} order by version`,
  )
  return rows
}

/** The time of the database and its version. */
export async function describeServer(client: Client): Promise<{ now: Date; version: string }> {
  const { rows } = await client.query<{ now: Date; version: string }>(
    `select now() as now, current_setting('server_version') as version`,
  )
  const [server] = rows
  if (server === undefined) throw new Error('The server did not tell its time')
  return server
}

const LOCK_WAIT_MAX_MS = 30 * SECOND_MS
const LOCK_RETRY_MS = 100
/** A table is locked for a change of its form, or was dropped meanwhile. */
const CHANGING_CODES = ['55P03', '42P01']

/**
 * Begins the transaction whose snapshot a backup holds, and answers its tables. It sees one moment and holds up nobody
 * who writes; the schema stays as it is until it ends. The tables are locked before the snapshot is taken: one that a
 * migration rewrites between would be empty in it (PostgreSQL, "Caveats" of concurrency control). Waits without a place
 * in the queue of a lock, where others would wait behind it.
 *
 * @throws AppError `unavailable` when tables are being changed for longer than 30 seconds
 */
export async function beginSnapshot(client: Client): Promise<TableShape[]> {
  const untilMs = performance.now() + LOCK_WAIT_MAX_MS
  for (;;) {
    const tables = await tryBeginSnapshot(client)
    if (tables !== undefined) return tables
    await client.query('rollback')
    if (performance.now() > untilMs) {
      throw new AppError(
        'unavailable',
        'Tables of the database have been changing for 30 seconds, as they do in a migration. Try again when that is over.',
      )
    }
    await sleep(LOCK_RETRY_MS)
  }
}

async function tryBeginSnapshot(client: Client): Promise<TableShape[] | undefined> {
  const expected = await listTables(client)
  await client.query(`
    begin isolation level repeatable read, read only;
    set local statement_timeout = 0;
    set local idle_in_transaction_session_timeout = 0;
    set local search_path = public`)
  const names = expected.map(({ name }) => `public."${name}"`)
  try {
    if (names.length > 0) {
      await client.query(`lock table ${names.join(', ')} in access share mode nowait`)
    }
  } catch (error) {
    if (CHANGING_CODES.includes(errorCodeOf(error))) return undefined
    throw error
  }
  const tables = await listTables(client)
  return JSON.stringify(tables) === JSON.stringify(expected) ? tables : undefined
}

export async function endSnapshot(client: Client): Promise<void> {
  await client.query('rollback')
}

/** The rows of a table as text, on the standard output of COPY, which reads a partitioned one by a query only. */
export function copyOutText({ name, columns, isPartitioned }: TableShape): string {
  return isPartitioned
    ? `copy (select ${toList(columns)} from public."${name}") to stdout`
    : `copy public."${name}" (${toList(columns)}) to stdout`
}

/** The same on its standard input. Only in the transaction that has emptied the table. */
export function copyInText({ name, columns, isPartitioned }: TableShape): string {
  return `copy public."${name}" (${toList(columns)}) from stdin${isPartitioned ? '' : ' with (freeze)'}`
}

function toList(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(', ')
}

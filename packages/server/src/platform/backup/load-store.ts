/*
 * Puts rows into the tables of an empty schema, as fast as the server can and all at once: what hangs on the tables
 * is taken off and put back, which checks the rows as well. SQL only; where the rows come from is for others.
 */
import type { Client } from 'pg'
import { listTables, type SequenceValue } from './table-catalogue-store.ts'

/** What was taken off, and how to put it back. */
export interface TakenOff {
  readonly restore: readonly string[]
}

/** Building an index is the most memory that loading needs. */
const INDEX_MEMORY = '256MB'

/** Begins to load: empties every table and takes off triggers, foreign keys and indexes without a constraint. */
export async function beginLoad(client: Client): Promise<TakenOff> {
  await client.query(`
    begin;
    set local statement_timeout = 0;
    set local idle_in_transaction_session_timeout = 0;
    set local lock_timeout = '30s';
    set local search_path = public;
    set local maintenance_work_mem = '${INDEX_MEMORY}'`)
  const triggers = await listStatements(client, TRIGGERS)
  const indexes = await listStatements(client, INDEXES)
  const foreignKeys = await listStatements(client, FOREIGN_KEYS)
  for (const { takeOff } of [...triggers, ...foreignKeys, ...indexes]) await client.query(takeOff)
  const tables = (await listTables(client)).map(({ name }) => `"${name}"`)
  if (tables.length > 0) await client.query(`truncate ${tables.join(', ')}`)
  return { restore: [...indexes, ...foreignKeys, ...triggers].map(({ putBack }) => putBack) }
}

/** Puts back what was taken off. Throws where a row does not fit. */
export async function putBack(
  client: Client,
  { restore }: TakenOff,
  onStep: (done: number, all: number) => void,
): Promise<void> {
  for (const [done, statement] of restore.entries()) {
    onStep(done, restore.length)
    await client.query(statement)
  }
}

export async function setSequences(
  client: Client,
  sequences: readonly SequenceValue[],
): Promise<void> {
  for (const { name, lastValue } of sequences) {
    await client.query('select setval($1::regclass, $2::bigint, $3)', [
      `public."${name}"`,
      lastValue ?? '1',
      lastValue !== null,
    ])
  }
}

export async function commitLoad(client: Client): Promise<void> {
  // Plans are bad until the server knows what is in the tables.
  await client.query('analyze')
  await client.query('commit')
}

/** Whether the clock of the database is before a time; clocks of two machines may differ by a minute. */
export async function isClockBehind(client: Client, time: string): Promise<boolean> {
  const { rows } = await client.query<{ is_behind: boolean }>(
    `select now() + interval '1 minute' < $1::timestamptz as is_behind`,
    [time],
  )
  return rows[0]?.is_behind === true
}

/** Connections of the product to the database, but for those that restore. */
export async function countOtherSessions(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
       and application_name like 'heliograph%' and application_name <> 'heliograph restore'`,
  )
  return rows[0]?.count ?? 0
}

/** Whether no table but the `seeded` ones has a row: a schema that was never used, or none at all. */
export async function isEmpty(client: Client, seeded: readonly string[]): Promise<boolean> {
  for (const { name } of await listTables(client)) {
    if (seeded.includes(name)) continue
    const { rowCount } = await client.query(`select from public."${name}" limit 1`)
    if (rowCount !== 0) return false
  }
  return true
}

interface Statements {
  readonly takeOff: string
  readonly putBack: string
}

/** Each as it fires at present: always, in origin sessions, in replicas, or not at all. */
const TRIGGERS = `
  select format('alter table %s disable trigger %I', tgrelid::regclass, tgname) as "takeOff",
    format('alter table %s enable %s trigger %I', tgrelid::regclass,
      case tgenabled when 'A' then 'always' when 'R' then 'replica' else '' end, tgname) as "putBack"
  from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('public', 'partitions') and not tgisinternal and tgenabled <> 'D' and tgparentid = 0
  order by c.relname, tgname`

const FOREIGN_KEYS = `
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as "takeOff",
    format('alter table %s add constraint %I %s', conrelid::regclass, conname,
      pg_get_constraintdef(oid)) as "putBack"
  from pg_constraint
  where connamespace = 'public'::regnamespace and contype = 'f' and conparentid = 0
  order by conrelid::regclass::text, conname`

const INDEXES = `
  select format('drop index %s', indexrelid::regclass) as "takeOff",
    replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') as "putBack"
  from pg_index i join pg_class c on c.oid = i.indrelid
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and not exists (select from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u', 'x'))
  order by indexrelid::regclass::text`

async function listStatements(client: Client, query: string): Promise<Statements[]> {
  const { rows } = await client.query<Statements>(query)
  return rows
}

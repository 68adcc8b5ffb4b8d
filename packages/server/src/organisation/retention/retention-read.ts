/*
 * What retention keeps, in figures: of each policy how much there is, since when, and what the sweep has
 * done. SQL only.
 */
import { sql, type Kysely } from 'kysely'
import type { StoredRecord } from '../../schema/define-table.ts'
import { listRecords } from '../../platform/db/record-table.ts'
import type { RetentionFacts } from '../../schema/retention-facts.ts'
import { RETENTION, type RetentionName } from '../../schema/retention.ts'
import type { Schema } from '../../schema/schema.ts'

/** A policy in figures. */
export interface RetentionFigures {
  readonly name: RetentionName
  /** How old a row may become; null for ever, and undefined before a worker has started. */
  readonly keepsMs: number | null | undefined
  /** Rows of the table; an estimate where it is large. */
  readonly rows: number
  /** Of the table with its indexes. */
  readonly bytes: number
  /** The time that the age of the oldest row counts from; null when there is none. */
  readonly oldestAt: Date | null
  readonly passStartedAt: Date | null
  /** Null while a pass is under way. */
  readonly passFinishedAt: Date | null
  /** Rows that the present or last pass has ended. */
  readonly passCount: number
  /** Rows that all passes have ended. */
  readonly totalCount: number
  readonly error: string | null
}

/** Before a worker has started. */
const NO_PROGRESS: Progress = {
  keepsMs: undefined,
  passStartedAt: null,
  passFinishedAt: null,
  passCount: 0,
  totalCount: 0,
  error: null,
}

/** Tables below this size are counted. */
const COUNTED_BYTES_MAX = 8 * 1024 * 1024

/** The figures of every policy, in the order of the list. */
export async function readRetentionFigures(db: Kysely<Schema>): Promise<RetentionFigures[]> {
  const states = new Map((await listStates(db)).map((state) => [state.policy, state]))
  const sizes = new Map((await listSizes(db)).map((size) => [size.table, size]))
  const figures: RetentionFigures[] = []
  for (const [name, facts] of Object.entries(RETENTION) as [RetentionName, RetentionFacts][]) {
    const size = sizes.get(facts.table)
    const isCounted = size === undefined || size.bytes < COUNTED_BYTES_MAX || size.rows < 0
    figures.push({
      ...toProgress(states.get(name)),
      name,
      rows: isCounted ? await countRows(db, facts) : size.rows,
      bytes: size?.bytes ?? 0,
      oldestAt: await findOldest(db, facts),
    })
  }
  return figures
}

type Progress = Omit<RetentionFigures, 'name' | 'rows' | 'bytes' | 'oldestAt'>

function toProgress(state: StoredRecord<'retention_state'> | undefined): Progress {
  if (state === undefined) return NO_PROGRESS
  return {
    keepsMs: state.keepsMs === null ? null : Number(state.keepsMs),
    passStartedAt: state.passStartedAt,
    passFinishedAt: state.passFinishedAt,
    passCount: Number(state.passCount),
    totalCount: Number(state.totalCount),
    error: state.error,
  }
}

/** Rows that each policy has ended since the installation began, by its name. */
export async function readEndedCounts(db: Kysely<Schema>): Promise<ReadonlyMap<string, number>> {
  const states = await listStates(db)
  return new Map(states.map(({ policy, totalCount }) => [policy, Number(totalCount)]))
}

/** Seconds since each pass began that is under way, and 0 for the others, by the name of the policy. */
export async function readPassSeconds(db: Kysely<Schema>): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ policy: string; seconds: number }>`
    select policy, case
      when pass_finished_at is null and pass_started_at is not null and keeps_ms is not null
      then extract(epoch from clock_timestamp() - pass_started_at) else 0 end::float8 as seconds
    from retention_state`.execute(db)
  return new Map(rows.map(({ policy, seconds }) => [policy, seconds]))
}

async function listStates(db: Kysely<Schema>) {
  return listRecords(db.selectFrom('retention_state').selectAll())
}

interface TableSize {
  readonly table: string
  readonly bytes: number
  /** By the last analysis; negative before the first one. */
  readonly rows: number
}

async function listSizes(db: Kysely<Schema>): Promise<TableSize[]> {
  const tables = [...new Set(Object.values(RETENTION).map(({ table }) => table))]
  const { rows } = await sql<TableSize>`
    with parts as (
      select name as "table", oid from unnest(${tables}::text[]) name, lateral
        (select name::regclass::oid as oid
         union all select inhrelid from pg_inherits where inhparent = name::regclass) part)
    select "table", sum(pg_total_relation_size(c.oid))::float8 as bytes,
      coalesce(sum(c.reltuples) filter (where c.reltuples >= 0 and c.relkind = 'r'), -1)::float8 as rows
    from parts join pg_class c using (oid) group by 1`.execute(db)
  return rows
}

async function countRows(db: Kysely<Schema>, { table }: RetentionFacts): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from ${sql.table(table)}`.execute(db)
  return rows[0]?.count ?? 0
}

/** By the age where an index has it, else of the first row. */
async function findOldest(
  db: Kysely<Schema>,
  { table, key, ageBy, walk }: RetentionFacts,
): Promise<Date | null> {
  const age = sql.ref(ageBy)
  const order = walk === 'age' ? age : sql.ref(key)
  const isAged = walk === 'age' ? sql`${age} is not null` : sql`true`
  const { rows } = await sql<{ at: Date | null }>`
    select ${age} as at from ${sql.table(table)} where ${isAged} order by ${order} limit 1`.execute(
    db,
  )
  return rows[0]?.at ?? null
}

import { sql, type Kysely, type Transaction } from 'kysely'
import type { RecordChanges, StoredRecord } from '../../schema/define-table.ts'
import { findRecord, takeRecord, toRecord } from '../../platform/db/record-table.ts'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import { parseExactJson } from '../../platform/wire/exact-json.ts'
import type { Schema } from '../../schema/schema.ts'
import type { JsonColumn } from '../../schema/tables/reporting-tables.ts'
import { rowsOf } from '../../schema/row-store.ts'

const queries = rowsOf('reporting_query', 'reporting query')

export type ReportingQuery = StoredRecord<'reporting_query'>
export type ReportingQueryRun = StoredRecord<'reporting_query_run'>
export type ResultColumns = Record<string, JsonColumn>

/** A row of a result; `key` orders the rows of all runs. */
export interface ResultRow {
  readonly key: string
  readonly columns: ResultColumns
}

export const insertReportingQuery = queries.insert

export async function deleteReportingQuery(
  tx: Transaction<Schema>,
  id: string,
): Promise<ReportingQuery | undefined> {
  return findRecord(tx.deleteFrom('reporting_query').where('id', '=', id).returningAll())
}

/** @throws AppError `not_found` */
export const getReportingQuery = queries.get

/** A page of saved queries by ascending id. */
export async function listReportingQueries(
  db: Kysely<Schema>,
  window: PageWindow,
): Promise<ReportingQuery[]> {
  const rows = await readPage(db.selectFrom('reporting_query').selectAll(), 'id', window)
  return rows.map(toRecord)
}

/** The latest run of a query. */
export async function findLatestRun(
  db: Kysely<Schema>,
  queryId: string,
): Promise<ReportingQueryRun | undefined> {
  return findRecord(
    db
      .selectFrom('reporting_query_run')
      .selectAll()
      .where('query_id', '=', queryId)
      .orderBy('id', 'desc')
      .limit(1),
  )
}

/**
 * The query; others can neither run nor change it until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export const getReportingQueryForUpdate = queries.getForUpdate

/** Changes a query that is locked; its results are forgotten. */
export async function updateReportingQuery(
  tx: Transaction<Schema>,
  id: string,
  values: RecordChanges<'reporting_query'>,
): Promise<ReportingQuery> {
  await tx.deleteFrom('reporting_query_run').where('query_id', '=', id).execute()
  return queries.update(tx, id, values)
}

/** How many queries are saved; nobody else saves one until the transaction ends. */
export async function countReportingQueriesLocked(tx: Transaction<Schema>): Promise<number> {
  await sql`lock table reporting_query in share row exclusive mode`.execute(tx)
  const { count } = await tx
    .selectFrom('reporting_query')
    .select((select) => select.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Stores the rows of a run and forgets runs that began before `keepAfter`. */
export async function insertRun(
  tx: Transaction<Schema>,
  run: {
    readonly queryId: string
    readonly ranAt: Date
    /** Each row as the text of a JSON object. */
    readonly rows: readonly string[]
    readonly keepAfter: Date
  },
): Promise<ReportingQueryRun> {
  await tx
    .deleteFrom('reporting_query_run')
    .where('query_id', '=', run.queryId)
    .where('ran_at', '<', run.keepAfter)
    .execute()
  const inserted = await takeRecord(
    tx
      .insertInto('reporting_query_run')
      .values({ query_id: run.queryId, ran_at: run.ranAt, row_count: run.rows.length })
      .returningAll(),
  )
  await sql`insert into reporting_query_row (run_id, ordinal, columns)
    select ${inserted.id}::bigint, ordinality, value
    from jsonb_array_elements(${`[${run.rows.join(',')}]`}::jsonb) with ordinality`.execute(tx)
  return inserted
}

/** The run that a row key belongs to; undefined when it is no longer kept. */
export async function findRun(
  db: Kysely<Schema>,
  queryId: string,
  runId: string,
): Promise<ReportingQueryRun | undefined> {
  return findRecord(
    db
      .selectFrom('reporting_query_run')
      .selectAll()
      .where('query_id', '=', queryId)
      .where('id', '=', runId),
  )
}

/** How large the rows of a run are, in bytes of JSON. */
export async function getRunBytes(db: Kysely<Schema>, runId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('reporting_query_row')
    .select(sql<string | null>`sum(octet_length(columns::text))`.as('bytes'))
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow()
  return Number(bytes ?? 0)
}

/** The rows of a run after an ordinal. */
export async function listResultRows(
  db: Kysely<Schema>,
  runId: string,
  afterOrdinal: number,
  limit: number,
): Promise<ResultRow[]> {
  const rows = await db
    .selectFrom('reporting_query_row')
    .select(['ordinal', sql<string>`columns::text`.as('columns')])
    .where('run_id', '=', runId)
    .where('ordinal', '>', afterOrdinal)
    .orderBy('ordinal')
    .limit(limit)
    .execute()
  return rows.map(({ ordinal, columns }) => ({
    key: toRowKey(runId, ordinal),
    columns: parseExactJson(columns) as ResultColumns,
  }))
}

/** The key of a row: its run and its place in it. */
export function toRowKey(runId: string, ordinal: number): string {
  return `${runId}.${ordinal}`
}

/** The parts of a row key. Keys come from signed cursors, so a broken one is a bug. */
export function parseRowKey(key: string): { readonly runId: string; readonly ordinal: number } {
  const [runId, ordinal] = key.split('.')
  if (runId === undefined || ordinal === undefined) throw new Error('a row key without a run')
  return { runId, ordinal: Number(ordinal) }
}

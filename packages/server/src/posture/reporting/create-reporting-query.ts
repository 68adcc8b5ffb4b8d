import type { Change } from '../../changes/change.ts'
import { AppError, notFound } from '../../platform/app-error.ts'
import { parseId } from '../../platform/ids.ts'
import { parseName } from '../../platform/parse-text.ts'
import { checkReportingSql } from './check-reporting-sql.ts'
import {
  countReportingQueriesLocked,
  deleteReportingQuery,
  getReportingQueryForUpdate,
  insertReportingQuery,
  updateReportingQuery,
  type ReportingQuery,
} from './reporting-query-store.ts'
import { auditedAs } from '../../changes/audited-record.ts'

const audit = auditedAs('reporting_query', 'reporting query')

/** Everything that is kept is bounded. */
const REPORTING_QUERIES_MAX = 1_000

/**
 * Saves a query over the reporting tables.
 *
 * @throws AppError `invalid_body` when the name is empty or the SQL is not one SELECT over them;
 * `limit_reached`
 */
export async function createReportingQuery(
  change: Change,
  input: { readonly name: string; readonly sql: string },
): Promise<ReportingQuery> {
  await checkReportingSql(input.sql)
  if ((await countReportingQueriesLocked(change.tx)) >= REPORTING_QUERIES_MAX) throw tooMany()
  const query = await insertReportingQuery(change.tx, {
    name: parseName(input.name, 'name'),
    sql: input.sql,
    createdAt: change.at,
    updatedAt: change.at,
  })
  audit.created(change, query, toAudit(query))
  return query
}

/**
 * Changes the name, the SQL or both of a saved query, whose results are computed anew; a change of
 * nothing leaves no audit entry.
 *
 * @throws AppError `not_found`; `invalid_body` as saving one does
 */
export async function changeReportingQuery(
  change: Change,
  id: string,
  input: { readonly name?: string | undefined; readonly sql?: string | undefined },
): Promise<ReportingQuery> {
  const queryId = parseId(id, 'reporting query')
  const before = await getReportingQueryForUpdate(change.tx, queryId)
  const name = input.name === undefined ? before.name : parseName(input.name, 'name')
  const { sql = before.sql } = input
  if (name === before.name && sql === before.sql) return before
  await checkReportingSql(sql)
  const after = await updateReportingQuery(change.tx, queryId, { name, sql, updatedAt: change.at })
  audit.updated(change, after, toAudit(before), toAudit(after))
  return after
}

/**
 * Removes a saved query and its results.
 *
 * @throws AppError `not_found`
 */
export async function removeReportingQuery(change: Change, id: string): Promise<ReportingQuery> {
  const query = await deleteReportingQuery(change.tx, parseId(id, 'reporting query'))
  if (query === undefined) throw notFound('reporting query', id)
  audit.deleted(change, query, toAudit(query))
  return query
}

function toAudit({ name, sql }: ReportingQuery) {
  return { name, sql }
}

function tooMany(): AppError {
  return new AppError(
    'limit_reached',
    `There are ${REPORTING_QUERIES_MAX} reporting queries, as many as are allowed. Delete some.`,
  )
}

import type { Change } from '../audit/change.ts'
import { notFound, parseId } from '../platform/http/wire-values.ts'
import { parseName } from '../platform/parse-text.ts'
import { checkReportingSql } from './check-reporting-sql.ts'
import {
  deleteReportingQuery,
  insertReportingQuery,
  type ReportingQuery,
} from './reporting-query-store.ts'

/**
 * Saves a query over the reporting tables.
 *
 * @throws AppError `invalid_body` when the name is empty or the SQL is not one SELECT over them
 */
export async function createReportingQuery(
  change: Change,
  input: { readonly name: string; readonly sql: string },
): Promise<ReportingQuery> {
  await checkReportingSql(input.sql)
  const query = await insertReportingQuery(change.tx, {
    name: parseName(input.name, 'name'),
    sql: input.sql,
    createdAt: change.at,
  })
  change.recordAudit({
    action: 'reporting_query.created',
    target: { type: 'reporting_query', id: query.id },
    description: `created the reporting query ${query.name}`,
    after: { name: query.name, sql: query.sql },
  })
  return query
}

/**
 * Removes a saved query and its results.
 *
 * @throws AppError `not_found`
 */
export async function removeReportingQuery(change: Change, id: string): Promise<ReportingQuery> {
  const query = await deleteReportingQuery(change.tx, parseId(id, 'reporting query'))
  if (query === undefined) throw notFound('reporting query', id)
  change.recordAudit({
    action: 'reporting_query.deleted',
    target: { type: 'reporting_query', id: query.id },
    description: `deleted the reporting query ${query.name}`,
    before: { name: query.name, sql: query.sql },
  })
  return query
}

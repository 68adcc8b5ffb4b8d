import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import { AppError, notFound } from '../../platform/app-error.ts'
import type { PageWindow } from '../../platform/db/page.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { parseId } from '../../platform/ids.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import {
  findReportingQuery,
  findRun,
  listReportingQueries,
  listResultRows,
  parseRowKey,
  type ReportingQuery,
  type ReportingQueryRun,
  type ResultRow,
} from './reporting-query-store.ts'
import { reportingQueryWriteRoutes } from './reporting-query-write-routes.ts'
import {
  ensureFreshRun,
  RESULT_ROWS_MAX,
  type ReportingRunDependencies,
} from './run-reporting-query.ts'

const resultSchema = z
  .record(z.string(), z.unknown())
  .describe('One row: the names and values depend on the query.')
  .meta({ id: 'ReportQueryResult' })

const reportQuerySchema = z
  .object({
    id: z.int().describe('An integer, unlike the ids of other records.'),
    name: z.string(),
    osquery_sql: z.string().describe('SQL over the reporting tables.'),
    result_count: z.int(),
    created_at: timestampSchema,
    results: z.array(resultSchema).optional().describe('Absent with `omit_results`.'),
  })
  .meta({ id: 'ReportQuery' })

/** A row of the list; the one beyond the page has no content. */
interface QueryRow {
  readonly id: string
  readonly json?: z.input<typeof reportQuerySchema>
}

const omitResults = z
  .enum(['1', 'true', '0', 'false', ''])
  .optional()
  .transform((text) => text === '1' || text === 'true')
  .meta({
    type: 'string',
    description:
      '`1` or `true` leaves the results out, for result sets that are too large for one answer.',
  })

export interface ReportingQueryRouteDependencies extends ReportingRunDependencies {
  readonly runChange: RunChange
}

/** The operations on saved reporting queries. */
export function reportingQueryRoutes(dependencies: ReportingQueryRouteDependencies): ApiRoute[] {
  return [...readRoutes(dependencies), ...reportingQueryWriteRoutes(dependencies)]
}

function readRoutes(dependencies: ReportingRunDependencies): ApiRoute[] {
  const { db } = dependencies
  const tags = ['Reporting']
  const getQuery = async (id: string): Promise<ReportingQuery> => {
    const query = await findReportingQuery(db, parseId(id, 'reporting query'))
    if (query === undefined) throw notFound('reporting query', id)
    return query
  }
  return [
    listRoute({
      path: '/reporting/queries',
      summary: 'List reporting queries',
      tags,
      permission: null,
      filters: z.object({ omit_results: omitResults }),
      item: reportQuerySchema,
      fetch: async ({ window, filters }): Promise<QueryRow[]> => {
        const queries = await listReportingQueries(db, window)
        const shown = queries.slice(0, window.limit - 1)
        const complete: QueryRow[] = []
        for (const query of shown) {
          const json = await toQueryJson(dependencies, query, filters.omit_results)
          complete.push({ id: query.id, json })
        }
        // The row beyond the page only tells that there is one.
        return [...complete, ...queries.slice(shown.length).map(({ id }) => ({ id }))]
      },
      toJson: (row) => row.json ?? unreachableRow(),
    }),
    route({
      method: 'GET',
      path: '/reporting/queries/:id',
      summary: 'Show a reporting query',
      tags,
      permission: null,
      query: z.object({ omit_results: omitResults }),
      responses: { 200: reportQuerySchema },
      handler: async ({ params, query }) =>
        toQueryJson(dependencies, await getQuery(params.id), query.omit_results),
    }),
    listRoute({
      path: '/reporting/queries/:id/results',
      summary: 'List the results of a reporting query',
      tags,
      permission: null,
      item: resultSchema,
      fetch: async ({ params, window }) =>
        listResults(dependencies, await getQuery(params.id), window),
      toJson: (row) => row.columns,
      keyOf: (row) => row.key,
    }),
  ]
}

async function toQueryJson(
  dependencies: ReportingRunDependencies,
  query: ReportingQuery,
  isOmitted: boolean,
): Promise<z.input<typeof reportQuerySchema>> {
  const run = await ensureFreshRun(dependencies, query)
  const base = {
    id: Number(query.id),
    name: query.name,
    osquery_sql: query.sql,
    result_count: run.row_count,
    created_at: toTimestamp(query.created_at),
  }
  if (isOmitted) return base
  const rows = await listResultRows(dependencies.db, run.id, 0, RESULT_ROWS_MAX)
  return { ...base, results: rows.map((row) => row.columns) }
}

/** The first page shows a fresh result; further pages stay with the result that they began with. */
async function listResults(
  dependencies: ReportingRunDependencies,
  query: ReportingQuery,
  { afterId, limit }: PageWindow,
): Promise<ResultRow[]> {
  if (afterId === undefined) {
    const run = await ensureFreshRun(dependencies, query)
    return listResultRows(dependencies.db, run.id, 0, limit)
  }
  const { runId, ordinal } = parseRowKey(afterId)
  const run: ReportingQueryRun | undefined = await findRun(dependencies.db, query.id, runId)
  if (run === undefined) {
    throw new AppError(
      'invalid_cursor',
      'The result that this cursor belongs to is no longer kept; start from the first page.',
    )
  }
  return listResultRows(dependencies.db, run.id, ordinal, limit)
}

function unreachableRow(): never {
  throw new Error('a row beyond the page is never shown')
}

import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import type { PageWindow } from '../../platform/db/page.ts'
import { parseId } from '../../platform/ids.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import {
  reportQuerySchema,
  resultSchema,
  toQueryJson,
  toQueryListJson,
  type QueryJsonDependencies,
  type ReportQueryJson,
} from './reporting-query-json.ts'
import {
  findRun,
  getReportingQuery,
  listReportingQueries,
  listResultRows,
  parseRowKey,
  type ReportingQuery,
  type ReportingQueryRun,
  type ResultRow,
} from './reporting-query-store.ts'
import { reportingQueryWriteRoutes } from './reporting-query-write-routes.ts'
import { createFreshRuns, type ReportingRunDependencies } from './run-reporting-query.ts'

/** A row of the list; the one beyond the page has no content. */
interface QueryRow {
  readonly id: string
  readonly json?: ReportQueryJson
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
  const ensureFreshRun = createFreshRuns(dependencies)
  return [
    ...readRoutes({ ...dependencies, ensureFreshRun }),
    ...reportingQueryWriteRoutes(dependencies),
  ]
}

function readRoutes(dependencies: QueryJsonDependencies): ApiRoute[] {
  const { db } = dependencies
  const tags = ['Reporting']
  const getQuery = (id: string) => getReportingQuery(db, parseId(id, 'reporting query'))
  return [
    listRoute({
      path: '/reporting/queries',
      summary: 'List reporting queries',
      tags,
      permission: null,
      mayConflict: true,
      filters: z.object({ omit_results: omitResults }),
      item: reportQuerySchema,
      fetch: ({ window, filters }) => listQueries(dependencies, window, filters.omit_results),
      toJson: (row) => row.json ?? unreachableRow(),
    }),
    route({
      method: 'GET',
      path: '/reporting/queries/:id',
      summary: 'Show a reporting query',
      tags,
      permission: null,
      mayConflict: true,
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
      mayConflict: true,
      item: resultSchema,
      fetch: async ({ params, window }) =>
        listResults(dependencies, await getQuery(params.id), window),
      toJson: (row) => row.columns,
      keyOf: (row) => row.key,
    }),
  ]
}

async function listQueries(
  dependencies: QueryJsonDependencies,
  window: PageWindow,
  isOmitted: boolean,
): Promise<QueryRow[]> {
  const queries = await listReportingQueries(dependencies.db, window)
  const shown = await toQueryListJson(dependencies, queries.slice(0, window.limit - 1), isOmitted)
  // The row beyond the page only tells that there is one.
  return queries.map(({ id }, index) => {
    const json = shown[index]
    return json === undefined ? { id } : { id, json }
  })
}

/** The first page shows a fresh result; further pages stay with the result that they began with. */
async function listResults(
  { db, ensureFreshRun }: QueryJsonDependencies,
  query: ReportingQuery,
  { afterId, limit }: PageWindow,
): Promise<ResultRow[]> {
  if (afterId === undefined) {
    const run = await ensureFreshRun(query)
    return listResultRows(db, run.id, 0, limit)
  }
  const { runId, ordinal } = parseRowKey(afterId)
  const run: ReportingQueryRun | undefined = await findRun(db, query.id, runId)
  if (run === undefined) {
    throw new AppError(
      'invalid_cursor',
      'The result that this cursor belongs to is no longer kept; start from the first page.',
    )
  }
  return listResultRows(db, run.id, ordinal, limit)
}

function unreachableRow(): never {
  throw new Error('a row beyond the page is never shown')
}

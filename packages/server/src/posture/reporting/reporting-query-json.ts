/*
 * Saved queries with their results, as the API shows them. A list shows what it can: a query that fails
 * says why and hides none of the others. What one answer holds is bounded in bytes and in time.
 */
import { z } from 'zod'
import { AppError, conflict } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { getRunBytes, listResultRows, type ReportingQuery } from './reporting-query-store.ts'
import type { EnsureFreshRun, ReportingRunDependencies } from './run-reporting-query.ts'
import { RESULT_ROWS_MAX } from './sandbox/reporting-sandbox.ts'

export const resultSchema = z
  .record(z.string(), z.unknown())
  .describe('One row: the names and values depend on the query.')
  .meta({ id: 'ReportQueryResult' })

export const reportQuerySchema = z
  .object({
    id: z.int().describe('An integer, unlike the ids of other records.'),
    name: z.string(),
    osquery_sql: z.string().describe('SQL over the reporting tables.'),
    result_count: z.int(),
    created_at: timestampSchema,
    results: z.array(resultSchema).optional().describe('Absent with `omit_results`.'),
    error: z
      .string()
      .optional()
      .describe(
        'In lists and with `omit_results`: why the query has no result. Shown alone with its results, it answers 409 instead.',
      ),
  })
  .meta({ id: 'ReportQuery' })

export type ReportQueryJson = z.input<typeof reportQuerySchema>

/** A list begins to run no query after this time. */
const LIST_TIME_MAX_MS = 20 * SECOND_MS

export interface QueryJsonDependencies extends ReportingRunDependencies {
  readonly ensureFreshRun: EnsureFreshRun
}

/**
 * One query with its result. Without the result, one that fails says why.
 *
 * @throws AppError as its run does, where the result is asked for
 */
export async function toQueryJson(
  dependencies: QueryJsonDependencies,
  query: ReportingQuery,
  isOmitted: boolean,
): Promise<ReportQueryJson> {
  const budget = new AnswerBudget(dependencies.sandbox.resultBytesMax)
  const shown = { dependencies, query, isOmitted }
  return isOmitted ? toJsonOrError(budget, shown) : toJsonWithin(budget, shown)
}

/**
 * Queries with their results, those that fail with their error.
 *
 * @throws AppError `conflict` when the results are too large for one answer
 */
export async function toQueryListJson(
  dependencies: QueryJsonDependencies,
  queries: readonly ReportingQuery[],
  isOmitted: boolean,
): Promise<ReportQueryJson[]> {
  const budget = new AnswerBudget(dependencies.sandbox.resultBytesMax)
  const list: ReportQueryJson[] = []
  for (const query of queries) {
    list.push(await toJsonOrError(budget, { dependencies, query, isOmitted }))
  }
  return list
}

interface Shown {
  readonly dependencies: QueryJsonDependencies
  readonly query: ReportingQuery
  readonly isOmitted: boolean
}

async function toJsonOrError(budget: AnswerBudget, shown: Shown): Promise<ReportQueryJson> {
  if (budget.isTimeUp()) return toFailedJson(shown.query, TIME_IS_UP)
  try {
    return await toJsonWithin(budget, shown)
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'conflict' || budget.isExceeded) throw error
    return toFailedJson(shown.query, error.message)
  }
}

async function toJsonWithin(
  budget: AnswerBudget,
  { dependencies, query, isOmitted }: Shown,
): Promise<ReportQueryJson> {
  const run = await dependencies.ensureFreshRun(query)
  const json = { ...toBase(query), result_count: run.rowCount }
  if (isOmitted) return json
  budget.take(await getRunBytes(dependencies.db, run.id))
  const rows = await listResultRows(dependencies.db, run.id, 0, RESULT_ROWS_MAX)
  return { ...json, results: rows.map((row) => row.columns) }
}

function toFailedJson(query: ReportingQuery, error: string): ReportQueryJson {
  return { ...toBase(query), result_count: 0, error }
}

function toBase(query: ReportingQuery) {
  return {
    id: Number(query.id),
    name: query.name,
    osquery_sql: query.sql,
    created_at: toTimestamp(query.createdAt),
  }
}

const TIME_IS_UP = `The queries before it took longer than ${LIST_TIME_MAX_MS / SECOND_MS} seconds. Ask for this query alone.`

/** What one answer may hold and take. */
class AnswerBudget {
  readonly #bytesMax: number
  readonly #startMs = performance.now()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get isExceeded(): boolean {
    return this.#bytes > this.#bytesMax
  }

  isTimeUp(): boolean {
    return performance.now() - this.#startMs > LIST_TIME_MAX_MS
  }

  /** @throws AppError `conflict` */
  take(bytes: number): void {
    this.#bytes += bytes
    if (!this.isExceeded) return
    throw conflict(
      `The results are larger than ${this.#bytesMax} bytes, as large as one answer may be. Ask for fewer queries with per_page, or leave the results out with omit_results=1 and page through those of each query.`,
    )
  }
}

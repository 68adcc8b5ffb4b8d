import type { Kysely } from 'kysely'
import { AppError, notFound } from '../../platform/app-error.ts'
import { MINUTE_MS, SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { checkReportingSql } from './check-reporting-sql.ts'
import {
  findLatestRun,
  findReportingQueryForUpdate,
  insertRun,
  listRowsOfSql,
  type ReportingQuery,
  type ReportingQueryRun,
  type ResultColumns,
} from './reporting-query-store.ts'

/** A result younger than this is shown again instead of being computed anew. */
const FRESH_MS = MINUTE_MS
/** A reader may page through one result for this long. */
const KEPT_MS = 30 * MINUTE_MS
const STATEMENT_TIMEOUT_MS = 10 * SECOND_MS
/** Rows beyond this are left out. */
export const RESULT_ROWS_MAX = 10_000

const RUN_LIMITS = { timeoutMs: STATEMENT_TIMEOUT_MS, rows: RESULT_ROWS_MAX }

export interface ReportingRunDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
}

/**
 * A run of the query that is at most a minute old: the latest one, or a new one. Readers of one query
 * wait for one another, so that it runs once.
 *
 * @throws AppError `not_found` when it was deleted meanwhile; `conflict` when the SQL fails on the data or takes longer than ten seconds
 */
export async function ensureFreshRun(
  { db, clock }: ReportingRunDependencies,
  query: ReportingQuery,
): Promise<ReportingQueryRun> {
  const latest = await findLatestRun(db, query.id)
  if (isFresh(latest, clock)) return latest
  return db.transaction().execute(async (tx) => {
    const locked = await findReportingQueryForUpdate(tx, query.id)
    if (locked === undefined) throw notFound('reporting query', query.id)
    const meanwhile = await findLatestRun(tx, query.id)
    if (isFresh(meanwhile, clock)) return meanwhile
    const ranAt = clock.now()
    return insertRun(tx, {
      queryId: query.id,
      ranAt,
      rows: await runReadOnly(db, locked.sql),
      keepAfter: new Date(ranAt.getTime() - KEPT_MS),
    })
  })
}

function isFresh(run: ReportingQueryRun | undefined, clock: Clock): run is ReportingQueryRun {
  if (run === undefined) return false
  const ageMs = clock.now().getTime() - run.ran_at.getTime()
  return ageMs >= 0 && ageMs < FRESH_MS
}

/**
 * Runs saved SQL over the reporting views and nothing else. It is checked again although it was
 * checked when it was saved: the tables of this program may be fewer than those of the one before.
 */
async function runReadOnly(db: Kysely<Schema>, text: string): Promise<ResultColumns[]> {
  await checkReportingSql(text)
  try {
    return await db
      .transaction()
      .setAccessMode('read only')
      .execute((tx) => listRowsOfSql(tx, text, RUN_LIMITS))
  } catch (error) {
    throw toRefusal(error)
  }
}

const QUERY_CANCELED = '57014'

/** PostgreSQL's text on a user's own SQL is public: it speaks of nothing else. */
function toRefusal(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  if (error.code === QUERY_CANCELED) {
    return new AppError(
      'conflict',
      `The query took longer than ${STATEMENT_TIMEOUT_MS / SECOND_MS} seconds and was stopped.`,
    )
  }
  const isFaultOfQuery = /^(22|42|21)/.test(String(error.code))
  if (!isFaultOfQuery) return error
  return new AppError('conflict', `The query failed: ${error.message}.`, {
    cause: error,
  })
}

import type { Kysely } from 'kysely'
import { conflict } from '../../platform/app-error.ts'
import { MINUTE_MS, type Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  findLatestRun,
  getReportingQuery,
  getReportingQueryForUpdate,
  insertRun,
  type ReportingQuery,
  type ReportingQueryRun,
} from './reporting-query-store.ts'
import type { ReportingSandbox } from './sandbox/reporting-sandbox.ts'

/** A result younger than this is shown again instead of being computed anew. */
const FRESH_MS = MINUTE_MS
/** A reader may page through one result for this long. */
const KEPT_MS = 30 * MINUTE_MS
/** How often a query is run again that was changed while it ran. */
const TRIES_MAX = 3

export interface ReportingRunDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly sandbox: ReportingSandbox
}

/** A run of the query that is at most a minute old. */
export type EnsureFreshRun = (query: ReportingQuery) => Promise<ReportingQueryRun>

/**
 * Answers with the latest run of a query or a new one. Those who ask for one query in one process wait
 * for one run, and none of them holds a connection of the service while it lasts.
 *
 * What it makes throws AppError `not_found` for a query that was deleted meanwhile, and as
 * {@link ReportingSandbox.run} does.
 */
export function createFreshRuns(dependencies: ReportingRunDependencies): EnsureFreshRun {
  const running = new Map<string, Promise<ReportingQueryRun>>()
  return async ({ id }) => {
    const latest = await findLatestRun(dependencies.db, id)
    if (isFresh(latest, dependencies.clock)) return latest
    const present = running.get(id) ?? runAnew(dependencies, id).finally(() => running.delete(id))
    running.set(id, present)
    return present
  }
}

async function runAnew(
  dependencies: ReportingRunDependencies,
  id: string,
): Promise<ReportingQueryRun> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const run = await runOnce(dependencies, await getReportingQuery(dependencies.db, id))
    if (run !== undefined) return run
  }
  throw conflict('The query was changed again and again while it ran.')
}

/** Undefined when the query was changed while it ran. */
async function runOnce(
  { db, clock, sandbox }: ReportingRunDependencies,
  query: ReportingQuery,
): Promise<ReportingQueryRun | undefined> {
  const ranAt = clock.now()
  const { rows } = await sandbox.run(query.sql)
  return db.transaction().execute(async (tx) => {
    const locked = await getReportingQueryForUpdate(tx, query.id)
    if (locked.sql !== query.sql) return undefined
    // Another process may have run it too.
    const meanwhile = await findLatestRun(tx, query.id)
    if (isFresh(meanwhile, clock)) return meanwhile
    const keepAfter = new Date(ranAt.getTime() - KEPT_MS)
    return insertRun(tx, { queryId: query.id, ranAt, rows, keepAfter })
  })
}

function isFresh(run: ReportingQueryRun | undefined, clock: Clock): run is ReportingQueryRun {
  if (run === undefined) return false
  const ageMs = clock.now().getTime() - run.ranAt.getTime()
  return ageMs >= 0 && ageMs < FRESH_MS
}

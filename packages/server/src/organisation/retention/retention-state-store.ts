/*
 * How far the sweep of each policy of retention is, as rows: a process that stops half-way is followed by
 * one that goes on. Times are those of the database. SQL only.
 */
import { sql, type QueryExecutorProvider } from 'kysely'
import type {
  RetentionBatch,
  RetentionPlace,
  RetentionPolicy,
} from '../../platform/retention/retention-policy.ts'

const ERROR_LENGTH_MAX = 500

/** A pass over a table that is under way or is to begin. */
export interface DuePass {
  readonly name: string
  /** Null at the beginning of the table. */
  readonly after: RetentionPlace | null
  readonly isUnderWay: boolean
}

/**
 * The time from which this sweep counts the age of rows: `now`, or where that is farther, `stepMs` after that of the
 * sweep before. What it answers is written down.
 */
export async function advanceSweepTime(
  db: QueryExecutorProvider,
  { now, stepMs }: { readonly now: Date; readonly stepMs: number },
): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`
    insert into retention_clock as known (reached_at) values (${now})
    on conflict (is_single) do update set reached_at =
      least(excluded.reached_at, known.reached_at + ${stepMs} * interval '1 millisecond')
    returning reached_at as at`.execute(db)
  return rows[0]?.at ?? now
}

/** Writes down for how long each policy keeps, where it is not known. */
export async function putRetentionPolicies(
  db: QueryExecutorProvider,
  policies: readonly RetentionPolicy[],
): Promise<void> {
  await sql`
    insert into retention_state as known (policy, keeps_ms)
    select policy, keeps_ms from unnest(${policies.map(({ name }) => name)}::text[],
      ${policies.map(({ keepsMs }) => keepsMs)}::bigint[]) as given (policy, keeps_ms)
    on conflict (policy) do update set keeps_ms = excluded.keeps_ms
      where known.keeps_ms is distinct from excluded.keeps_ms`.execute(db)
}

/**
 * The passes that are under way, and those that are due: never made, over for long enough, or over at a time
 * to come, of a clock that has been set back since.
 */
export async function listDuePasses(
  db: QueryExecutorProvider,
  policies: readonly RetentionPolicy[],
): Promise<DuePass[]> {
  const { rows } = await sql<DuePass>`
    select state.policy as name, state.place as after,
      state.pass_started_at is not null and state.pass_finished_at is null as "isUnderWay"
    from unnest(${policies.map(({ name }) => name)}::text[],
      ${policies.map(({ passEveryMs }) => passEveryMs)}::float8[]) as given (policy, every_ms)
    join retention_state state using (policy)
    where state.pass_finished_at is null
      or state.pass_finished_at <= clock_timestamp() - given.every_ms * interval '1 millisecond'
      or state.pass_finished_at > clock_timestamp()
    order by state.policy`.execute(db)
  return rows
}

/** Notes that a pass begins, and how many rows have ended with their partitions. */
export async function beginPass(
  db: QueryExecutorProvider,
  name: string,
  endedCount: number,
): Promise<void> {
  await sql`update retention_state
    set pass_started_at = clock_timestamp(), pass_finished_at = null, pass_count = ${endedCount},
      total_count = total_count + ${endedCount}
    where policy = ${name}`.execute(db)
}

/** Notes what a batch has done, and the end of the pass when it was the last one. */
export async function advancePass(
  db: QueryExecutorProvider,
  { name, isResumed = false }: RetentionPolicy,
  { count, place, isOver }: RetentionBatch,
): Promise<void> {
  const next = isOver && !isResumed ? null : place
  await sql`update retention_state set place = ${next}::text[], error = null,
      pass_finished_at = case when ${isOver}::boolean then clock_timestamp() end,
      pass_count = pass_count + ${count}, total_count = total_count + ${count}
    where policy = ${name}`.execute(db)
}

/** Notes why a batch failed; it is tried again. */
export async function failPass(
  db: QueryExecutorProvider,
  name: string,
  error: string,
): Promise<void> {
  await sql`update retention_state set error = ${error.slice(0, ERROR_LENGTH_MAX)}
    where policy = ${name}`.execute(db)
}

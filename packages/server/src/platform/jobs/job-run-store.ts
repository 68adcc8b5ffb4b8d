import { sql, type QueryExecutorProvider } from 'kysely'

/** The last run of a periodic job of the installation. */
export interface JobRun {
  readonly name: string
  readonly startedAt: Date
  /** Null while it runs, and after a process that died while it ran. */
  readonly finishedAt: Date | null
  /** Why it failed; null when it did not. */
  readonly error: string | null
}

export interface JobInterval {
  readonly name: string
  readonly intervalMs: number
}

const ERROR_LENGTH_MAX = 500

/** In how many milliseconds a job is due, by the clock of the database; 0 when it is due. */
export async function findJobDelay(
  db: QueryExecutorProvider,
  { name, intervalMs }: JobInterval,
): Promise<number> {
  const { rows } = await sql<{ delay_ms: number }>`
    select greatest(0, ${intervalMs}::float8 - 1000 * extract(epoch from
      clock_timestamp() - coalesce(finished_at, started_at))::float8) as delay_ms
    from job_run where name = ${name}`.execute(db)
  return Math.ceil(rows[0]?.delay_ms ?? 0)
}

/**
 * Notes that a run begins, unless the job is not due: another process has just run it. The caller holds
 * the lock of the job.
 */
export async function insertJobRun(
  db: QueryExecutorProvider,
  { name, intervalMs }: JobInterval,
): Promise<boolean> {
  const { rows } = await sql`
    insert into job_run as known (name, started_at) values (${name}, clock_timestamp())
    on conflict (name) do update
      set started_at = excluded.started_at, finished_at = null, error = null
      where coalesce(known.finished_at, known.started_at)
        <= clock_timestamp() - ${intervalMs}::float8 * interval '1 millisecond'
    returning name`.execute(db)
  return rows.length === 1
}

/** Notes how the run ended; `error` is null when it succeeded. */
export async function updateJobRun(
  db: QueryExecutorProvider,
  name: string,
  error: string | null,
): Promise<void> {
  await sql`
    update job_run
    set finished_at = clock_timestamp(), error = ${error?.slice(0, ERROR_LENGTH_MAX) ?? null}
    where name = ${name}`.execute(db)
}

/** The last run of every job that has run. */
export async function listJobRuns(db: QueryExecutorProvider): Promise<JobRun[]> {
  const { rows } = await sql<JobRun>`
    select name, started_at as "startedAt", finished_at as "finishedAt", error
    from job_run order by name`.execute(db)
  return rows
}

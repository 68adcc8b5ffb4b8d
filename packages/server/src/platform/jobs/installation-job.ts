/*
 * A periodic job that one process at a time does for all: whoever gets its advisory lock when it is due
 * runs it. The lock ends with the process; the last run is a row, so that a restart neither repeats the
 * job nor puts it off. When it is due decides the clock of the database.
 */
import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import type { AdvisoryLock } from '../db/advisory-lock.ts'
import type { Listener } from '../db/listener.ts'
import { toUnavailable } from '../db/unavailable.ts'
import type { PeriodicJob } from './job.ts'
import { findJobDelay, insertJobRun, updateJobRun } from './job-run-store.ts'
import { startRepeating } from './periodic-job.ts'
import { describeFailedRun, type LogJobError, type RunningJob } from './running-job.ts'

export interface InstallationJobDependencies<Tables> {
  readonly db: Kysely<Tables>
  /** Its connection holds the locks. */
  readonly listener: Pick<Listener, 'tryLock' | 'unlock'>
  /** The first integer of the locks of jobs. */
  readonly lockClass: number
  readonly logError: LogJobError
}

/** How soon to look again for a job that is due but held by another process, and for a database that is away. */
const HELD_RETRY_MS = 10 * SECOND_MS

/** The lock that is held while the job runs. */
export function toJobLock(lockClass: number, name: string): AdvisoryLock {
  return [lockClass, createHash('sha256').update(name).digest().readInt32BE()]
}

/** Runs the job when it is due, at once if it is due now. */
export function startInstallationJob<Tables>(
  job: PeriodicJob,
  dependencies: InstallationJobDependencies<Tables>,
): RunningJob {
  return startRepeating(async () => {
    try {
      return Math.min(await runIfDue(job, dependencies), job.intervalMs)
    } catch (error) {
      dependencies.logError(error, describeFailedRun(job.name))
      const pauseMs = toUnavailable(error) === undefined ? MINUTE_MS : HELD_RETRY_MS
      return Math.min(pauseMs, job.intervalMs)
    }
  }, 0)
}

/** Answers in how many milliseconds to look again. */
async function runIfDue<Tables>(
  job: PeriodicJob,
  { db, listener, lockClass, logError }: InstallationJobDependencies<Tables>,
): Promise<number> {
  const delayMs = await findJobDelay(db, job)
  if (delayMs > 0) return delayMs
  const lock = toJobLock(lockClass, job.name)
  if (!(await listener.tryLock(lock))) return HELD_RETRY_MS
  try {
    // Another process may have run it between the look and the lock.
    if (!(await insertJobRun(db, job))) return await findJobDelay(db, job)
    const failure = await findFailure(job)
    if (failure !== undefined) logError(failure.error, describeFailedRun(job.name))
    await updateJobRun(db, job.name, failure === undefined ? null : toText(failure.error))
  } finally {
    await listener.unlock(lock)
  }
  return job.intervalMs
}

async function findFailure({ run }: PeriodicJob): Promise<{ error: unknown } | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    return { error }
  }
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/*
 * Runs the jobs of a process, each by its kind. Does not own the work, nor which jobs a process runs.
 */
import type { Clock } from '../clock.ts'
import { runAs } from '../db/pool-turns.ts'
import type { Listener } from '../db/listener.ts'
import { startDueJob } from './due-job.ts'
import { startInstallationJob, type InstallationJobDependencies } from './installation-job.ts'
import type { DueJob, Job } from './job.ts'
import { startPeriodicJob } from './periodic-job.ts'
import type { RunningJob } from './running-job.ts'

export interface JobRunnerDependencies<Tables> extends InstallationJobDependencies<Tables> {
  readonly clock: Clock
  readonly listener: Listener
}

/** All at once, each job would open a connection to the database for its first look, which is over in a moment. */
const BETWEEN_STARTS_MS = 10

/** Starts the jobs one after the other, in the order of the list. */
export function startJobs<Tables>(
  jobs: readonly Job[],
  dependencies: JobRunnerDependencies<Tables>,
): RunningJob {
  const running = jobs.map((job, index) =>
    startLater(index * BETWEEN_STARTS_MS, () => startJob(asJob(job), dependencies)),
  )
  return {
    stop: async () => {
      await Promise.all(running.map((job) => job.stop()))
    },
  }
}

function startLater(delayMs: number, start: () => RunningJob): RunningJob {
  let job: RunningJob | undefined
  const timer = setTimeout(() => {
    job = start()
  }, delayMs)
  return {
    stop: async () => {
      clearTimeout(timer)
      await job?.stop()
    },
  }
}

/** A run takes its connections to the database in the turns of jobs. */
function asJob<Role extends string>(job: Job<Role>): Job<Role> {
  return job.kind === 'due'
    ? { ...job, run: () => runAs('jobs', job.run) }
    : { ...job, run: () => runAs('jobs', job.run) }
}

function startJob<Tables>(job: Job, dependencies: JobRunnerDependencies<Tables>): RunningJob {
  if (job.kind === 'due') return startDue(job, dependencies)
  if (job.scope === 'installation') return startInstallationJob(job, dependencies)
  return startPeriodicJob(job, dependencies.logError)
}

function startDue(
  declared: DueJob,
  { clock, listener, logError }: Omit<JobRunnerDependencies<never>, 'db'>,
): RunningJob {
  const job = startDueJob({ ...declared, clock, logError })
  const { channel } = declared
  if (channel === undefined) return job
  const unsubscribe = listener.subscribe(channel, (payload) => {
    const at = new Date(payload)
    job.wake(Number.isNaN(at.getTime()) ? clock.now() : at)
  })
  return {
    stop: async () => {
      unsubscribe()
      await job.stop()
    },
  }
}

/*
 * Runs the jobs of a process and counts what they do. Does not own the work, nor which jobs a process
 * runs.
 */
import type { Clock } from '../clock.ts'
import type { Listener } from '../db/listener.ts'
import { startDueJob } from './due-job.ts'
import type { DueJob, Job, PeriodicJob } from './job.ts'
import { startPeriodicJob } from './periodic-job.ts'
import type { LogJobError, RunningJob } from './running-job.ts'

export interface JobRunnerDependencies {
  readonly clock: Clock
  readonly listener: Listener
  readonly logError: LogJobError
}

/** Starts the jobs. */
export function startJobs(jobs: readonly Job[], dependencies: JobRunnerDependencies): RunningJob {
  const running = jobs.map((job) =>
    job.kind === 'due' ? startDue(job, dependencies) : startPeriodic(job, dependencies),
  )
  return {
    stop: async () => {
      await Promise.all(running.map((job) => job.stop()))
    },
  }
}

function startPeriodic(job: PeriodicJob, { logError }: JobRunnerDependencies): RunningJob {
  return startPeriodicJob({ ...job, logError })
}

function startDue(
  { name, channel, run, pollMs }: DueJob,
  { clock, listener, logError }: JobRunnerDependencies,
): RunningJob {
  const job = startDueJob({
    name,
    clock,
    run,
    logError,
    ...(pollMs === undefined ? {} : { pollMs }),
  })
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

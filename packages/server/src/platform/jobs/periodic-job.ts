import type { PeriodicJob } from './job.ts'
import { describeFailedRun, type LogJobError, type RunningJob } from './running-job.ts'

/** Runs the job every `intervalMs`, counted from the end of one run to the beginning of the next. */
export function startPeriodicJob(
  { name, intervalMs, run }: Pick<PeriodicJob, 'name' | 'intervalMs' | 'run'>,
  logError: LogJobError,
): RunningJob {
  return startRepeating(async () => {
    await run().catch((error: unknown) => logError(error, describeFailedRun(name)))
    return intervalMs
  }, intervalMs)
}

/** Calls `turn` after `firstMs`, and then each time after as many milliseconds as it answers. */
export function startRepeating(turn: () => Promise<number>, firstMs: number): RunningJob {
  let isStopped = false
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  function plan(sleepMs: number): void {
    if (isStopped) return
    timer = setTimeout(() => {
      running = turn().then(plan)
    }, sleepMs)
    timer.unref()
  }

  plan(firstMs)
  return {
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

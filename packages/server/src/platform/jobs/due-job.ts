import { MINUTE_MS, SECOND_MS, type Clock } from '../clock.ts'
import type { DueJob } from './job.ts'
import { describeFailedRun, type LogJobError, type RunningJob } from './running-job.ts'

/** Background work that is due at times which the database knows. */
export interface RunningDueJob extends RunningJob {
  /** Shortens the present sleep when something is due at `at` or sooner. */
  wake(at: Date): void
}

export interface DueJobOptions extends Pick<DueJob, 'name' | 'run' | 'pollMs'> {
  readonly clock: Clock
  /** A failed run is tried again after the poll interval. */
  readonly logError: LogJobError
}

const POLL_MS = 5 * SECOND_MS
/**
 * Of what is due later than this a job learns in time by itself: nobody need be told. It looks again within `POLL_MS`
 * of its last run. What is left of a minute is for that run and for the change, which says this before it commits.
 */
export const FOUND_AHEAD_MS = MINUTE_MS
/** How soon to look again for what is due but held by another process. */
const HELD_RETRY_MS = 100

/** Runs at once and then whenever something is due, or after the poll interval. */
export function startDueJob(options: DueJobOptions): RunningDueJob {
  const { clock, logError, name, pollMs = POLL_MS } = options
  let isStopped = false
  let isRunning = false
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  /** When the next run begins; during a run, the earliest time that it was told of. */
  let plannedAtMs = Number.POSITIVE_INFINITY

  function plan(atMs: number): void {
    if (isStopped) return
    clearTimeout(timer)
    const nowMs = clock.now().getTime()
    const sleepMs = Math.min(Math.max(0, atMs - nowMs), pollMs)
    plannedAtMs = nowMs + sleepMs
    timer = setTimeout(runOnce, sleepMs)
    timer.unref()
  }

  function runOnce(): void {
    isRunning = true
    plannedAtMs = Number.POSITIVE_INFINITY
    running = attempt().then((nextMs) => {
      isRunning = false
      plan(Math.min(nextMs, plannedAtMs))
    })
  }

  async function attempt(): Promise<number> {
    try {
      const next = await options.run()
      const nowMs = clock.now().getTime()
      const nextMs = next?.getTime() ?? Number.POSITIVE_INFINITY
      return nextMs > nowMs ? nextMs : nowMs + HELD_RETRY_MS
    } catch (error) {
      logError(error, describeFailedRun(name))
      return Number.POSITIVE_INFINITY
    }
  }

  runOnce()
  return {
    wake(at) {
      // Written so that an invalid time wakes nobody.
      if (!(at.getTime() < plannedAtMs)) return
      if (isRunning) plannedAtMs = at.getTime()
      else plan(at.getTime())
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

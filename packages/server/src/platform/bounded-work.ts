/*
 * Work that costs memory and processor time, so that only so much of it may run at once, and only so much wait.
 * Owns the order of those who wait; what the work is, others decide.
 */
import { AppError } from './app-error.ts'

export interface WorkBounds {
  /** Pieces that run at once. */
  readonly runningMax: number
  /** Pieces that wait for a place; one more is refused at once. */
  readonly waitingMax: number
  /** How one more is refused: the service is at its bounds, as when left out, or callers ask too often. */
  readonly refusal?: 'unavailable' | 'rate_limited'
}

/** Runs pieces of work within bounds, in the order in which they came. */
export interface BoundedWork {
  /** @throws AppError with the code of {@link WorkBounds.refusal} when too many wait */
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

const RETRY_AFTER_SECONDS = 2

export function createBoundedWork({
  runningMax,
  waitingMax,
  refusal = 'unavailable',
}: WorkBounds): BoundedWork {
  const waiting: (() => void)[] = []
  let running = 0
  const begin = async () => {
    if (running < runningMax) {
      running += 1
      return
    }
    if (waiting.length >= waitingMax) {
      throw new AppError(refusal, 'Too many ask for this at once. Try again in a moment.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    }
    await new Promise<void>((resolve) => void waiting.push(resolve))
  }
  const end = () => {
    const next = waiting.shift()
    // The place goes on to whoever waits longest, without being free in between.
    if (next === undefined) running -= 1
    else next()
  }
  return {
    run: async (work) => {
      await begin()
      try {
        return await work()
      } finally {
        end()
      }
    },
  }
}

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
  /** How long a piece waits for its place before it is refused; as long as it takes when left out. */
  readonly waitMaxMs?: number
  /** How one more is refused: the service is at its bounds, as when left out, or callers ask too often. */
  readonly refusal?: 'unavailable' | 'rate_limited'
}

/** Runs pieces of work within bounds, in the order in which they came. */
export interface BoundedWork {
  /** @throws AppError with the code of {@link WorkBounds.refusal} when too many wait, or it waits too long */
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

const RETRY_AFTER_SECONDS = 2

export function createBoundedWork({
  runningMax,
  waitingMax,
  waitMaxMs,
  refusal = 'unavailable',
}: WorkBounds): BoundedWork {
  const waiting = new Set<() => void>()
  let running = 0
  const begin = async () => {
    if (running < runningMax) {
      running += 1
      return
    }
    if (waiting.size >= waitingMax) throw tooMany(refusal)
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        waiting.delete(take)
      }
      const take = () => {
        leave()
        resolve()
      }
      const giveUp = () => {
        leave()
        reject(tooMany(refusal))
      }
      const timer = waitMaxMs === undefined ? undefined : setTimeout(giveUp, waitMaxMs)
      waiting.add(take)
    })
  }
  const end = () => {
    const [next] = waiting
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

function tooMany(refusal: 'unavailable' | 'rate_limited'): AppError {
  return new AppError(refusal, 'Too many ask for this at once. Try again in a moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

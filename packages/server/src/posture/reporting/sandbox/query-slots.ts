import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../../platform/app-error.ts'
import { SECOND_MS } from '../../../platform/clock.ts'

/** How many may wait, and how long, until they are told to come back. */
const WAITING_MAX = 100
const WAIT_MAX_MS = 15 * SECOND_MS
const RETRY_AFTER_SECONDS = 5

/** Lets a few queries run at once and the others wait for their turn, in order. */
export class QuerySlots {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  /**
   * Runs `work` when a slot is free.
   *
   * @throws AppError `unavailable` when too many wait, or it waited too long
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#take()
    try {
      return await work()
    } finally {
      this.#give()
    }
  }

  async #take(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    if (this.#waiting.length >= WAITING_MAX) throw busy()
    const timer = new AbortController()
    const turn = Promise.withResolvers<void>()
    this.#waiting.push(turn.resolve)
    try {
      await Promise.race([turn.promise, giveUp(timer.signal)])
    } catch (error) {
      const index = this.#waiting.indexOf(turn.resolve)
      // The turn came at the same moment: it goes to the next.
      if (index < 0) this.#give()
      else this.#waiting.splice(index, 1)
      throw error
    } finally {
      timer.abort()
    }
  }

  #give(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free += 1
    else next()
  }
}

async function giveUp(signal: AbortSignal): Promise<never> {
  await sleep(WAIT_MAX_MS, undefined, { signal })
  throw busy()
}

function busy(): AppError {
  return new AppError('unavailable', 'Too many reporting queries run at the moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

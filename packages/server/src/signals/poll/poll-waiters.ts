import type { DestinationId } from '../../schema/branded-ids.ts'
/*
 * Receivers that wait for events of a destination, woken by what wakes the delivery engine. Owns who
 * waits and how many may; what a poll answers is poll-sets.ts.
 */
/** Why waiting is over: something may have come, or nothing came while it lasted. */
export type PollWaitOutcome = 'woken' | 'over'

export interface PollWaiter {
  readonly outcome: Promise<PollWaitOutcome>
  /** Wakes after a time too, unless the waiting is over before: something that is there becomes due. */
  wakeIn(delayMs: number): void
  end(): void
}

type Settle = (outcome: PollWaitOutcome) => void

const OVER: PollWaiter = {
  outcome: Promise.resolve('over'),
  wakeIn: () => undefined,
  end: () => undefined,
}

export class PollWaiters {
  /** More than these are answered at once. */
  readonly #waitersMax: number
  readonly #settlers = new Map<DestinationId, Set<Settle>>()
  readonly #looks = new Map<string, Promise<unknown>>()
  #count = 0
  #isClosed = false

  constructor(waitersMax: number) {
    this.#waitersMax = waitersMax
  }

  /**
   * Begins to wait. Begin before looking, so that nothing that comes in between is missed; `end` when
   * done. Beyond the limit, and after `close`, the waiting is over at once. `signal` ends it too: the
   * receiver is gone.
   */
  begin(destinationId: DestinationId, timeoutMs: number, signal?: AbortSignal): PollWaiter {
    const isFull = this.#count >= this.#waitersMax
    if (this.#isClosed || isFull || timeoutMs <= 0 || signal?.aborted === true) return OVER
    const { promise, resolve } = Promise.withResolvers<PollWaitOutcome>()
    const giveUp = () => resolve('over')
    const timer = setTimeout(giveUp, timeoutMs)
    signal?.addEventListener('abort', giveUp, { once: true })
    let dueTimer: NodeJS.Timeout | undefined
    this.#add(destinationId, resolve)
    return {
      outcome: promise,
      wakeIn: (delayMs) => {
        if (delayMs < timeoutMs) dueTimer = setTimeout(() => resolve('woken'), delayMs)
      },
      end: () => {
        clearTimeout(timer)
        clearTimeout(dueTimer)
        signal?.removeEventListener('abort', giveUp)
        this.#remove(destinationId, resolve)
      },
    }
  }

  #add(destinationId: DestinationId, settle: Settle): void {
    const settlers = this.#settlers.get(destinationId) ?? new Set()
    this.#settlers.set(destinationId, settlers.add(settle))
    this.#count += 1
  }

  #remove(destinationId: DestinationId, settle: Settle): void {
    const settlers = this.#settlers.get(destinationId)
    if (settlers?.delete(settle) !== true) return
    this.#count -= 1
    if (settlers.size === 0) this.#settlers.delete(destinationId)
  }

  /** Something was queued for the destination. */
  wake(destinationId: DestinationId): void {
    for (const settle of this.#settlers.get(destinationId) ?? []) settle('woken')
  }

  /** Something may have been queued for any destination: wake-ups may have been missed. */
  wakeAll(): void {
    for (const destinationId of this.#settlers.keys()) this.wake(destinationId)
  }

  /**
   * Looks once for all that ask for the same in one turn of the event loop: a wake-up with a hundred
   * receivers behind it asks the database one question. A key stands for one kind of look.
   */
  share<Result>(key: string, look: () => Promise<Result>): Promise<Result> {
    const joined = this.#looks.get(key)
    // One kind of look per key, so that the result is of its type.
    if (joined !== undefined) return joined as Promise<Result>
    const begun = new Promise((resolve) => setImmediate(resolve)).then(() => {
      // From here on the look may miss what others were woken for: they begin another.
      this.#looks.delete(key)
      return look()
    })
    this.#looks.set(key, begun)
    return begun
  }

  /** Those of which somebody waits for events. */
  destinationIds(): DestinationId[] {
    return [...this.#settlers.keys()]
  }

  /** How many wait at this moment. */
  count(): number {
    return this.#count
  }

  /** Ends every waiting, and lets none begin. */
  close(): void {
    this.#isClosed = true
    for (const settlers of this.#settlers.values()) for (const settle of settlers) settle('over')
  }
}

/** Receivers that wait for events of a destination; woken by what wakes the delivery engine. */
export interface PollWaiters {
  /**
   * Begins to wait; resolves `woken` when something may have come or `timeoutMs` have passed. Begin
   * before looking, so that nothing that comes in between is missed; `end` when done.
   */
  begin(destinationId: string, timeoutMs: number): PollWaiter
  /** Something was queued for the destination. */
  wake(destinationId: string): void
  /** Ends every waiting, and lets none begin. */
  close(): void
}

export interface PollWaiter {
  readonly woken: Promise<void>
  end(): void
}

/** More would be connections without use; those beyond are answered at once. */
const WAITERS_MAX = 1_000

export function createPollWaiters(): PollWaiters {
  return new WaiterTable()
}

class WaiterTable implements PollWaiters {
  readonly #wakers = new Map<string, Set<() => void>>()
  #count = 0
  #isClosed = false

  begin(destinationId: string, timeoutMs: number): PollWaiter {
    if (this.#isClosed || this.#count >= WAITERS_MAX) {
      return { woken: Promise.resolve(), end: () => undefined }
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, Math.max(0, timeoutMs))
    const wakers = this.#wakers.get(destinationId) ?? new Set()
    this.#wakers.set(destinationId, wakers.add(resolve))
    this.#count += 1
    return {
      woken: promise,
      end: () => {
        clearTimeout(timer)
        if (!wakers.delete(resolve)) return
        this.#count -= 1
        if (wakers.size === 0 && this.#wakers.get(destinationId) === wakers) {
          this.#wakers.delete(destinationId)
        }
        resolve()
      },
    }
  }

  wake(destinationId: string): void {
    for (const wake of this.#wakers.get(destinationId) ?? []) wake()
  }

  close(): void {
    this.#isClosed = true
    for (const wakers of this.#wakers.values()) for (const wake of wakers) wake()
  }
}

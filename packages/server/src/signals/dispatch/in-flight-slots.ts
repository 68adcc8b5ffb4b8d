/*
 * Shares the requests that the process may have in flight between its destinations. Every destination
 * has a few of its own whatever the others do, so that many slow receivers cannot starve a healthy
 * one; the rest is given out in turn.
 */

/** Somebody who wants to send. */
export interface SlotUser {
  /** Requests that the user has in flight. */
  readonly inFlightCount: number
  /** A slot may be free now. */
  onSlotFree(): void
}

export interface InFlightLimits {
  /** In flight over all destinations, not counting what each may always have. */
  readonly inFlightMax: number
  /** In flight that every destination may have even when the others hold everything. */
  readonly reservedPerDestination: number
}

export class InFlightSlots {
  readonly #limits: InFlightLimits
  readonly #waiting = new Set<SlotUser>()
  #inFlightCount = 0

  constructor(limits: InFlightLimits) {
    this.#limits = limits
  }

  get inFlightCount(): number {
    return this.#inFlightCount
  }

  /** Takes a slot if there is one; otherwise the user is called when one may be free. */
  take(user: SlotUser): boolean {
    const isReserved = user.inFlightCount < this.#limits.reservedPerDestination
    if (!isReserved && this.#inFlightCount >= this.#limits.inFlightMax) {
      this.#waiting.add(user)
      return false
    }
    this.#inFlightCount += 1
    return true
  }

  /** Gives a slot back. Those who wait are called in the order in which they came, until one takes it. */
  release(): void {
    this.#inFlightCount -= 1
    for (const user of [...this.#waiting]) {
      if (this.#inFlightCount >= this.#limits.inFlightMax) return
      this.#waiting.delete(user)
      user.onSlotFree()
    }
  }

  /** The user no longer waits. */
  forget(user: SlotUser): void {
    this.#waiting.delete(user)
  }
}

/*
 * When a worker that does not claim first for a destination looks for what was queued there: a moment after the one
 * that does, since as a rule it is claimed by then, and what every worker would ask for each commit would be for
 * nothing. At once for some time after the first has left something: it stands still, or has more than it can do.
 */
import { SECOND_MS } from '../../platform/clock.ts'

const FIRST_LOOKS_MS = 250
/** What is found after so much of that time has been left by the first: timers end a little early. */
const LEFT_AFTER_MS = 200
/** Then the first is waited for once more, which may work again. */
const STAND_IN_MS = 10 * SECOND_MS

export class StandIn {
  /** From then on what was queued is left by the first; both on the steady clock of `performance.now()`. */
  #leftAtMs = Infinity
  #endsAtMs = -Infinity

  /** The worker looks at once: it stands in for the first. */
  get isActive(): boolean {
    return performance.now() < this.#endsAtMs
  }

  /** Something was queued that is left to the first: answers for how long, in milliseconds. */
  leaveToFirst(): number {
    this.#leftAtMs = Math.min(this.#leftAtMs, performance.now() + LEFT_AFTER_MS)
    return FIRST_LOOKS_MS
  }

  /** A look of this worker that began then has ended. */
  noteLook(beganMs: number, hasFound: boolean): void {
    if (beganMs < this.#leftAtMs) return
    this.#leftAtMs = Infinity
    if (hasFound) this.#endsAtMs = performance.now() + STAND_IN_MS
  }
}

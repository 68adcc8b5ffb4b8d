/*
 * When a worker that does not claim first for a destination looks for what was queued there: a moment after the one
 * that does, since as a rule it is claimed by then, and what every worker would ask for each commit would be for
 * nothing. At once for some time after the first has left something: it stands still, or has more than it can do.
 */
import { SECOND_MS } from '../../platform/clock.ts'
import type { ClaimedDelivery } from './delivery-channel.ts'

/** How much later the others look than the first. */
export const OTHERS_DELAY_MS = 250
/**
 * What nobody has tried to send for so long since it was due is left by the first: timers end a little early. When it
 * was created says nothing of that.
 */
export const LEFT_AFTER_MS = 200
/** Then the first is waited for once more, which may work again. */
const STAND_IN_MS = 10 * SECOND_MS

export class StandIn {
  /** On the steady clock of `performance.now()`. */
  #endsAtMs = -Infinity

  /** The worker looks at once: it stands in for the first. */
  get isActive(): boolean {
    return performance.now() < this.#endsAtMs
  }

  /** This worker has claimed them. */
  noteClaimed(deliveries: readonly Pick<ClaimedDelivery, 'wasLeft'>[]): void {
    const isLeft = deliveries.some(({ wasLeft }) => wasLeft === true)
    if (isLeft) this.#endsAtMs = performance.now() + STAND_IN_MS
  }
}

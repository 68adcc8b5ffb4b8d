import type { ClaimedDelivery } from './delivery-channel.ts'

/** The claims of a destination that this process holds, each with its number of unfinished deliveries. */
export class ActiveClaims {
  readonly #counts = new Map<string, number>()
  #count = 0

  /** Deliveries that are claimed, and neither recorded nor released. */
  get count(): number {
    return this.#count
  }

  claimIds(): string[] {
    return [...this.#counts.keys()]
  }

  add(claimId: string, deliveryCount: number): void {
    if (deliveryCount === 0) return
    this.#counts.set(claimId, deliveryCount)
    this.#count += deliveryCount
  }

  /** The delivery is recorded or released. */
  finish({ claimId }: ClaimedDelivery): void {
    const left = (this.#counts.get(claimId) ?? 1) - 1
    this.#count -= 1
    if (left === 0) this.#counts.delete(claimId)
    else this.#counts.set(claimId, left)
  }
}

import type { ClaimedDelivery } from './delivery-channel.ts'

/** Which claims of a destination this process holds, and how many of their deliveries are not done. */
export class ClaimLedger {
  readonly #counts = new Map<string, number>()
  #count = 0

  /** Deliveries in hand: claimed, and neither recorded nor given back. */
  get count(): number {
    return this.#count
  }

  claimIds(): string[] {
    return [...this.#counts.keys()]
  }

  open(claimId: string, deliveryCount: number): void {
    if (deliveryCount === 0) return
    this.#counts.set(claimId, deliveryCount)
    this.#count += deliveryCount
  }

  settle({ claimId }: ClaimedDelivery): void {
    const left = (this.#counts.get(claimId) ?? 1) - 1
    this.#count -= 1
    if (left === 0) this.#counts.delete(claimId)
    else this.#counts.set(claimId, left)
  }
}

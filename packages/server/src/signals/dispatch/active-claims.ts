/*
 * What is claimed and neither recorded nor released: of a destination, and how much of it all destinations of a process
 * may have at once, so that many slow receivers do not fill its memory.
 */
import type { ClaimedDelivery } from './delivery-channel.ts'
import type { DeliverySettings } from './delivery-settings.ts'

/** How much each destination may have claimed, by how many have something claimed. */
export class ClaimShares {
  readonly #settings: Pick<
    DeliverySettings,
    'claimSize' | 'claimedMax' | 'claimedByAllMax' | 'claimedMin'
  >
  #destinationCount = 0

  constructor(settings: DeliverySettings) {
    this.#settings = settings
  }

  /** A destination has something claimed now that had nothing. */
  enter(): void {
    this.#destinationCount += 1
  }

  /** All that a destination had claimed has ended. */
  leave(): void {
    this.#destinationCount -= 1
  }

  /** What one destination may have claimed, and how much of it at once. */
  get share(): { readonly max: number; readonly claimSize: number } {
    const { claimSize, claimedMax, claimedByAllMax, claimedMin } = this.#settings
    const share = Math.floor(claimedByAllMax / Math.max(1, this.#destinationCount))
    const max = Math.min(claimedMax, Math.max(claimedMin, share))
    return { max, claimSize: Math.ceil((claimSize * max) / claimedMax) }
  }
}

/** The claims of a destination that this process holds, each with its number of unfinished deliveries. */
export class ActiveClaims {
  readonly #shares: ClaimShares
  readonly #counts = new Map<string, number>()
  #count = 0

  constructor(shares: ClaimShares) {
    this.#shares = shares
  }

  /** Deliveries that are claimed, and neither recorded nor released. */
  get count(): number {
    return this.#count
  }

  /** How many deliveries may be claimed at once now; 0 while there is no room for as many. */
  get room(): number {
    const { max, claimSize } = this.#shares.share
    return max - this.#count >= claimSize ? claimSize : 0
  }

  claimIds(): string[] {
    return [...this.#counts.keys()]
  }

  add(claimId: string, deliveryCount: number): void {
    if (deliveryCount === 0) return
    if (this.#count === 0) this.#shares.enter()
    this.#counts.set(claimId, deliveryCount)
    this.#count += deliveryCount
  }

  /** The delivery is recorded or released. */
  finish({ claimId }: ClaimedDelivery): void {
    const left = (this.#counts.get(claimId) ?? 1) - 1
    this.#count -= 1
    if (left === 0) this.#counts.delete(claimId)
    else this.#counts.set(claimId, left)
    if (this.#count === 0) this.#shares.leave()
  }
}

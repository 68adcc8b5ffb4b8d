/*
 * What is claimed and neither recorded nor released: of a destination, and how much of it all destinations of a process
 * may have at once, so that many slow receivers do not fill its memory.
 */
import type { ClaimedDelivery } from './delivery-channel.ts'
import type { DeliverySettings } from './delivery-settings.ts'

/** How much each destination may have claimed, by how much all have and by how many they are. */
export class ClaimShares {
  readonly #settings: Pick<
    DeliverySettings,
    'claimSize' | 'claimedMax' | 'claimedByAllMax' | 'claimedMin'
  >
  #destinationCount = 0
  #count = 0

  constructor(settings: DeliverySettings) {
    this.#settings = settings
  }

  /** One destination has so much now, claimed or asked for, and had so much before. */
  change(before: number, now: number): void {
    this.#count += now - before
    if (before === 0 && now > 0) this.#destinationCount += 1
    if (before > 0 && now === 0) this.#destinationCount -= 1
  }

  /**
   * How much a destination that has so much, and asked for so much, may claim at once; 0 when it has its share, or all
   * together have what they may. Who has nothing may always claim a little, since nothing of its own would wake it.
   */
  roomOf(count: number, asked: number): number {
    const { claimSize, claimedMax, claimedByAllMax, claimedMin } = this.#settings
    // Those who have something share what the process may have, with this one.
    const otherCount = this.#destinationCount - (count + asked > 0 ? 1 : 0)
    const share = Math.floor(claimedByAllMax / (otherCount + 1))
    // One alone needs no more than keeps its receiver busy; of very many each needs enough for a claim to be worth it.
    const max = Math.min(claimedMax, Math.max(claimedMin, share))
    // As large a part of it as a claim of one alone: the next one is made while those before are sent.
    const usual = Math.ceil((claimSize * max) / claimedMax)
    // Of a small share that part would be few, and each of them dear: all that is left of it, up to the least share.
    const size = Math.max(usual, Math.min(claimSize, claimedMin, max - count))
    // And no claim before half of such a share is left, which again would be one of few.
    const least = Math.max(usual, Math.min(claimSize, Math.ceil(claimedMin / 2)))
    // What is asked for by this one is what its claim is about: it is no one else's.
    const free = claimedByAllMax - (this.#count - asked)
    // Who has nothing gets what is free, and where that is less a little all the same: never more than the least share.
    if (count === 0) return Math.min(size, Math.max(Math.min(least, claimedMin), free))
    return max - count >= least && free >= size ? size : 0
  }
}

/** The claims of a destination that this process holds, each with its number of unfinished deliveries. */
export class ActiveClaims {
  readonly #shares: ClaimShares
  readonly #counts = new Map<string, number>()
  #count = 0
  /** What the claim that is under way may bring. */
  #asked = 0

  constructor(shares: ClaimShares) {
    this.#shares = shares
  }

  /** Deliveries that are claimed, and neither recorded nor released. */
  get count(): number {
    return this.#count
  }

  /** Nothing is claimed, nor may a claim that is under way bring anything. */
  get isEmpty(): boolean {
    return this.#count + this.#asked === 0
  }

  /** How many deliveries may be claimed at once now; 0 while there is no room for as many. */
  get room(): number {
    return this.#shares.roomOf(this.#count, this.#asked)
  }

  claimIds(): string[] {
    return [...this.#counts.keys()]
  }

  /** A claim of so many begins, after the one before has ended. */
  ask(limit: number): void {
    this.#set(this.#count, limit)
  }

  /** No claim is under way any more, whatever became of it. */
  endAsking(): void {
    this.#set(this.#count, 0)
  }

  add(claimId: string, deliveryCount: number): void {
    if (deliveryCount === 0) return
    this.#counts.set(claimId, deliveryCount)
    this.#set(this.#count + deliveryCount, 0)
  }

  /** The delivery is recorded or released. */
  finish({ claimId }: ClaimedDelivery): void {
    const left = (this.#counts.get(claimId) ?? 1) - 1
    if (left === 0) this.#counts.delete(claimId)
    else this.#counts.set(claimId, left)
    this.#set(this.#count - 1, this.#asked)
  }

  #set(count: number, asked: number): void {
    this.#shares.change(this.#count + this.#asked, count + asked)
    this.#count = count
    this.#asked = asked
  }
}

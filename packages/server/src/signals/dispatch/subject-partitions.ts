/*
 * The order of a dispatcher's claimed deliveries. The subject is the partition key: of each partition one
 * delivery at a time may be sent, the others wait behind it. Owns that order in memory; which deliveries may
 * be claimed at all is the claim statement's (claim-store.ts).
 */
import type { ClaimedDelivery, PreparedRequest } from './delivery-channel.ts'

/** A claimed delivery with the request that sends it. */
export interface PreparedDelivery {
  readonly delivery: ClaimedDelivery
  readonly prepared: PreparedRequest
}

interface Block {
  /** When the refused deliveries are due again, on the steady clock of `performance.now()`. */
  untilMs: number
  reasonCount: number
  /** The claim that had begun last when the last reason ended. */
  endedDuringClaim: number
}

export class SubjectPartitions {
  /** By subject; the first delivery of each partition is ready or in flight. */
  readonly #partitions = new Map<string, PreparedDelivery[]>()
  /** Subjects of which something is being released, until no claim can be under way that missed it. */
  readonly #blocks = new Map<string, Block>()
  #lastAddedClaim = 0
  #lastRefusedClaim = 0
  #ready: PreparedDelivery[] = []

  get readyCount(): number {
    return this.#ready.length
  }

  /**
   * Adds a delivery of a claim; claims are numbered in the order in which they begin. When its subject was
   * blocked at any moment since the claim began, or the claim is refused as a whole, it is refused: answers the time,
   * on the steady clock, until which it must be released.
   */
  add(item: PreparedDelivery, claimNumber: number): number | undefined {
    const { subjectKey } = item.delivery
    if (claimNumber <= this.#lastRefusedClaim) return performance.now()
    if (subjectKey === null) {
      this.#ready.push(item)
      return undefined
    }
    const block = this.#blocks.get(subjectKey)
    if (block !== undefined && (block.reasonCount > 0 || block.endedDuringClaim >= claimNumber)) {
      return block.untilMs
    }
    const partition = this.#partitions.get(subjectKey)
    if (partition === undefined) {
      this.#partitions.set(subjectKey, [item])
      this.#ready.push(item)
    } else {
      partition.push(item)
    }
    return undefined
  }

  /** Refuses what is yet to be added of the claims that have begun, up to the one with this number. */
  refuseClaims(lastClaimNumber: number): void {
    this.#lastRefusedClaim = lastClaimNumber
  }

  /** The next delivery that may be sent. */
  next(): PreparedDelivery | undefined {
    return this.#ready.shift()
  }

  /** The delivery has reached its end: the next one of its subject may be sent. */
  finish({ subjectKey }: ClaimedDelivery): void {
    if (subjectKey === null) return
    const partition = this.#partitions.get(subjectKey)
    partition?.shift()
    const next = partition?.[0]
    if (next === undefined) this.#partitions.delete(subjectKey)
    else this.#ready.push(next)
  }

  /** The delivery is to be tried again later: removes its partition, answers those that waited behind it. */
  drop({ subjectKey }: ClaimedDelivery): ClaimedDelivery[] {
    if (subjectKey === null) return []
    const followers = this.#partitions.get(subjectKey)?.slice(1) ?? []
    this.#partitions.delete(subjectKey)
    return followers.map(({ delivery }) => delivery)
  }

  /** The delivery had reached its end and is sent again: removes and answers what of its subject is not in flight. */
  dropUnsent({ subjectKey }: ClaimedDelivery): ClaimedDelivery[] {
    const partition = this.#partitions.get(subjectKey ?? '') ?? []
    const [first] = partition
    if (subjectKey === null || first === undefined) return []
    const isReady = this.#ready.includes(first)
    if (isReady) {
      this.#ready = this.#ready.filter((item) => item !== first)
      this.#partitions.delete(subjectKey)
    }
    return partition.splice(isReady ? 0 : 1).map(({ delivery }) => delivery)
  }

  /**
   * Refuses the subject's deliveries until `unblock`, which is called once for each `block`. Needed while
   * the database still shows a delivery as claimed that is no longer in memory: a claim made meanwhile
   * would continue the subject behind it.
   */
  block(subjectKey: string, untilMs: number): void {
    const block = this.#blocks.get(subjectKey)
    if (block === undefined) {
      this.#blocks.set(subjectKey, { untilMs, reasonCount: 1, endedDuringClaim: 0 })
      return
    }
    if (block.reasonCount === 0 || untilMs > block.untilMs) block.untilMs = untilMs
    block.reasonCount += 1
  }

  /**
   * The database knows. Claims that have begun, up to the one with this number, may have looked
   * before: their deliveries are still refused.
   */
  unblock(subjectKey: string, lastClaimNumber: number): void {
    const block = this.#blocks.get(subjectKey)
    if (block === undefined) return
    block.reasonCount -= 1
    block.endedDuringClaim = lastClaimNumber
    if (block.reasonCount === 0 && lastClaimNumber <= this.#lastAddedClaim) {
      this.#blocks.delete(subjectKey)
    }
  }

  /** Blocks the subjects of deliveries that are due after `delayMs`, and answers them for `unblockAll`. */
  blockAll(deliveries: readonly ClaimedDelivery[], delayMs: number): string[] {
    const subjectKeys = [...new Set(deliveries.flatMap(({ subjectKey }) => subjectKey ?? []))]
    const untilMs = performance.now() + delayMs
    for (const subjectKey of subjectKeys) this.block(subjectKey, untilMs)
    return subjectKeys
  }

  unblockAll(subjectKeys: readonly string[], lastClaimNumber: number): void {
    for (const subjectKey of subjectKeys) this.unblock(subjectKey, lastClaimNumber)
  }

  /** All deliveries of the claim and of those before it have been added or released. */
  endClaim(claimNumber: number): void {
    this.#lastAddedClaim = claimNumber
    for (const [subjectKey, block] of this.#blocks) {
      if (block.reasonCount === 0 && block.endedDuringClaim <= claimNumber) {
        this.#blocks.delete(subjectKey)
      }
    }
  }

  /** Removes and answers everything that is not in flight, but for what is to be kept: that is ready. */
  clear(isKept: (delivery: ClaimedDelivery) => boolean = () => false): ClaimedDelivery[] {
    const removed = this.#ready
    this.#ready = []
    for (const { delivery } of removed) {
      if (delivery.subjectKey === null) continue
      removed.push(...(this.#partitions.get(delivery.subjectKey)?.slice(1) ?? []))
      this.#partitions.delete(delivery.subjectKey)
    }
    for (const partition of this.#partitions.values()) removed.push(...partition.splice(1))
    this.#ready = removed.filter(({ delivery }) => isKept(delivery))
    return removed.map(({ delivery }) => delivery).filter((delivery) => !isKept(delivery))
  }
}

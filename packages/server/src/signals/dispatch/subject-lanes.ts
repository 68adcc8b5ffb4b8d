/*
 * The order of the deliveries that a pump has in hand: one per subject at a time, the others of the
 * subject wait behind it. When the first one has to be tried again later, those behind it go back.
 */
import type { ClaimedDelivery, PreparedRequest } from './delivery-channel.ts'

/** A delivery in hand with its request. */
export interface HandItem {
  readonly delivery: ClaimedDelivery
  readonly prepared: PreparedRequest
}

interface Hold {
  until: Date
  reasonCount: number
  /** The claim that had begun last when the last reason ended. */
  endedDuringClaim: number
}

export class SubjectLanes {
  /** By subject; the first of each lane is ready or in flight. */
  readonly #lanes = new Map<string, HandItem[]>()
  /** Subjects of which something goes back, until no claim can be under way that does not know. */
  readonly #held = new Map<string, Hold>()
  #lastTakenClaim = 0
  #ready: HandItem[] = []

  get readyCount(): number {
    return this.#ready.length
  }

  /**
   * Takes a delivery of a claim in hand; claims are numbered in the order in which they begin. Answers
   * the time to give it back for when its subject was held at any moment since the claim began.
   */
  add(item: HandItem, claimNumber: number): Date | undefined {
    const { subjectKey } = item.delivery
    if (subjectKey === null) {
      this.#ready.push(item)
      return undefined
    }
    const hold = this.#held.get(subjectKey)
    if (hold !== undefined && (hold.reasonCount > 0 || hold.endedDuringClaim >= claimNumber)) {
      return hold.until
    }
    const lane = this.#lanes.get(subjectKey)
    if (lane === undefined) {
      this.#lanes.set(subjectKey, [item])
      this.#ready.push(item)
    } else {
      lane.push(item)
    }
    return undefined
  }

  /** The next delivery that may be sent. */
  next(): HandItem | undefined {
    return this.#ready.shift()
  }

  /** Puts back what `next` gave and could not be sent. */
  putBack(item: HandItem): void {
    this.#ready.unshift(item)
  }

  /** The delivery has reached its end: the next one of its subject may go. */
  finish({ subjectKey }: ClaimedDelivery): void {
    if (subjectKey === null) return
    const lane = this.#lanes.get(subjectKey)
    lane?.shift()
    const next = lane?.[0]
    if (next === undefined) this.#lanes.delete(subjectKey)
    else this.#ready.push(next)
  }

  /** The delivery leaves the hand unfinished: answers those that waited behind it, out of hand too. */
  drop({ subjectKey }: ClaimedDelivery): HandItem[] {
    if (subjectKey === null) return []
    const followers = this.#lanes.get(subjectKey)?.slice(1) ?? []
    this.#lanes.delete(subjectKey)
    return followers
  }

  /**
   * Takes no delivery of the subject until `unhold`, called once for each `hold`. To be held while
   * the database still shows a delivery as claimed that is no longer in hand: a claim made meanwhile
   * would continue the subject behind it.
   */
  hold(subjectKey: string, until: Date): void {
    const hold = this.#held.get(subjectKey)
    if (hold === undefined) {
      this.#held.set(subjectKey, { until, reasonCount: 1, endedDuringClaim: 0 })
      return
    }
    if (hold.reasonCount === 0 || until > hold.until) hold.until = until
    hold.reasonCount += 1
  }

  /**
   * The database knows. Claims that have begun, up to the one with this number, may have looked
   * before: their deliveries are still refused.
   */
  unhold(subjectKey: string, lastClaimNumber: number): void {
    const hold = this.#held.get(subjectKey)
    if (hold === undefined) return
    hold.reasonCount -= 1
    hold.endedDuringClaim = lastClaimNumber
    if (hold.reasonCount === 0 && lastClaimNumber <= this.#lastTakenClaim) {
      this.#held.delete(subjectKey)
    }
  }

  /** All deliveries of the claim and of those before it have been added or given back. */
  endClaim(claimNumber: number): void {
    this.#lastTakenClaim = claimNumber
    for (const [subjectKey, hold] of this.#held) {
      if (hold.reasonCount === 0 && hold.endedDuringClaim <= claimNumber) {
        this.#held.delete(subjectKey)
      }
    }
  }

  /** Takes everything that is not in flight out of hand. */
  clear(): HandItem[] {
    const removed = this.#ready
    this.#ready = []
    for (const { delivery } of removed) {
      if (delivery.subjectKey === null) continue
      removed.push(...(this.#lanes.get(delivery.subjectKey)?.slice(1) ?? []))
      this.#lanes.delete(delivery.subjectKey)
    }
    for (const lane of this.#lanes.values()) removed.push(...lane.splice(1))
    return removed
  }
}

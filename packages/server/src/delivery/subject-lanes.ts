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
}

export class SubjectLanes {
  /** By subject; the first of each lane is ready or in flight. */
  readonly #lanes = new Map<string, HandItem[]>()
  /** Subjects of which something goes back, until the database knows; by how many reasons. */
  readonly #held = new Map<string, Hold>()
  #ready: HandItem[] = []

  get readyCount(): number {
    return this.#ready.length
  }

  /** Takes a delivery in hand. Answers the time to give it back for when its subject is held. */
  add(item: HandItem): Date | undefined {
    const { subjectKey } = item.delivery
    if (subjectKey === null) {
      this.#ready.push(item)
      return undefined
    }
    const hold = this.#held.get(subjectKey)
    if (hold !== undefined) return hold.until
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
      this.#held.set(subjectKey, { until, reasonCount: 1 })
      return
    }
    hold.reasonCount += 1
    if (until > hold.until) hold.until = until
  }

  unhold(subjectKey: string): void {
    const hold = this.#held.get(subjectKey)
    if (hold === undefined) return
    hold.reasonCount -= 1
    if (hold.reasonCount === 0) this.#held.delete(subjectKey)
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

/*
 * Moves the deliveries of one destination: claims what is due, has it prepared, sends within its
 * share, and hands outcomes to the recorder. Every destination has a pump of its own, so that none
 * waits for another's receiver. Owns pace and order; what a request and an answer are is the channel's.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { attemptDelivery, type AttemptDependencies } from './attempt-delivery.ts'
import { FAILURES_TO_OPEN, isCircuitOpen } from './circuit-breaker.ts'
import { claimAtPace } from './claim-at-pace.ts'
import { ClaimLedger } from './claim-ledger.ts'
import {
  claimDeliveries,
  findDestinationOutlook,
  releaseClaims,
  type DestinationOutlook,
} from './claim-store.ts'
import {
  isReceiverFailure,
  type ClaimedDelivery,
  type DeliveryChannel,
  type DestinationKind,
} from './delivery-channel.ts'
import type { DeliveryOutcome } from './delivery-outcome.ts'
import type { FlightSlots, SlotUser } from './flight-slots.ts'
import type { OutcomeRecorder } from './outcome-recorder.ts'
import { SubjectLanes, type HandItem } from './subject-lanes.ts'

/** What all pumps of a process share. */
export interface PumpDependencies extends AttemptDependencies {
  readonly db: Kysely<Schema>
  readonly channels: ReadonlyMap<DestinationKind, DeliveryChannel>
  readonly slots: FlightSlots
  readonly recorder: OutcomeRecorder
  /** A new UUID for a claim. */
  readonly newClaimId: () => string
}

/** What one statement claimed. */
interface Claim {
  readonly number: number
  readonly deliveries: readonly ClaimedDelivery[]
  readonly channel: DeliveryChannel
}

type PreparedClaim = Awaited<ReturnType<DeliveryChannel['prepare']>>

/** Due work that could not be claimed is held by somebody else: a moment later it is not. */
const BLOCKED_PAUSE_MS = 200
/** After a fault of the database or of preparing. */
const FAULT_PAUSE_MS = 1_000
/** `setTimeout` takes no more; the sweep comes long before. */
const TIMER_MAX_MS = 60_000

export class DestinationPump implements SlotUser {
  readonly #id: string
  readonly #shared: PumpDependencies
  readonly #lanes = new SubjectLanes()
  readonly #ledger = new ClaimLedger()
  readonly #background = new Set<Promise<unknown>>()
  #channel: DeliveryChannel | undefined
  #claimNumber = 0
  #inFlightCount = 0
  #failuresInRow = 0
  #isWoken = false
  #isFilling = false
  #isStopped = false
  /** The last look ended because too much is in hand: what is settled next wakes the pump. */
  #waitsForRoom = false
  #plannedAt: Date | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(id: string, shared: PumpDependencies) {
    this.#id = id
    this.#shared = shared
  }

  get inFlightCount(): number {
    return this.#inFlightCount
  }

  /** Nothing in hand and nothing planned: the pump may be thrown away. */
  get isIdle(): boolean {
    return this.#ledger.count === 0 && !this.#isFilling && this.#timer === undefined
  }

  /** Something may be due, or the destination has changed. */
  wake(): void {
    this.#isWoken = true
    if (this.#isStopped || this.#isFilling) return
    this.#clearTimer()
    this.#plannedAt = undefined
    this.#isFilling = true
    this.#track(this.#fill())
  }

  /** Plans a look at a time when something is due. */
  wakeAt(time: Date): void {
    this.#plannedAt = time
    if (this.#isStopped || this.#isFilling) return
    this.#clearTimer()
    const delayMs = Math.max(0, time.getTime() - this.#shared.clock.now().getTime())
    this.#timer = setTimeout(() => this.wake(), Math.min(delayMs, TIMER_MAX_MS))
  }

  /** Gives back what is not in flight, and claims it anew. */
  startOver(): void {
    this.#retreat()
    this.wake()
  }

  onSlotFree(): void {
    this.#send()
  }

  /** Claims nothing more, gives back what is not in flight, resolves when nothing is in flight. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#clearTimer()
    this.#shared.slots.forget(this)
    this.#retreat()
    while (this.#background.size > 0) await Promise.allSettled(this.#background)
  }

  async #fill(): Promise<void> {
    try {
      await this.#claimAll()
    } catch (error) {
      this.#shared.log.warn({ err: error, destination_id: this.#id }, 'deliveries not claimed')
      this.#plan(FAULT_PAUSE_MS)
    }
    this.#isFilling = false
    if (this.#isWoken) this.wake()
    else if (this.#plannedAt !== undefined) this.wakeAt(this.#plannedAt)
  }

  /**
   * Claims until nothing more may be claimed. A claim begins to be prepared as soon as it is there,
   * also while the one before still is, and the next one is under way meanwhile: neither the database
   * nor the signing threads wait for each other. They are taken in hand in their order. Only when
   * deliveries were refused for the sake of order are they given back before anything else happens:
   * a claim beside that would meet them again and again.
   */
  async #claimAll(): Promise<void> {
    let taking = Promise.resolve(false)
    try {
      while (!this.#isStopped) {
        this.#isWoken = false
        this.#plannedAt = undefined
        const claim = await this.#claim()
        const preparing = claim === undefined ? undefined : this.#prepare(claim)
        const hasRefused = await taking
        if (claim === undefined || preparing === undefined) return
        taking = this.#takeInHand(claim, preparing)
        if (hasRefused) await taking
      }
    } finally {
      await taking
    }
  }

  /** One look at the destination and one claim; undefined when there is nothing to do now. */
  async #claim(): Promise<Claim | undefined> {
    const { db, clock, channels, settings, newClaimId } = this.#shared
    const now = clock.now()
    const outlook = await findDestinationOutlook(db, this.#id, now)
    const channel = outlook === undefined ? undefined : channels.get(outlook.kind)
    if (outlook === undefined || channel === undefined || outlook.state === 'deleted') {
      this.#retreat()
      return undefined
    }
    const isStopped = outlook.state !== 'active'
    if (isStopped) this.#retreatButForLastWords()
    if (!this.#mayClaim(outlook, now)) return undefined
    const room = Math.min(settings.claimSize, settings.handMax - this.#ledger.count)
    const claimId = newClaimId()
    this.#claimNumber += 1
    const number = this.#claimNumber
    const wanted = isCircuitOpen(outlook) ? 1 : room
    const paced = { destinationId: this.#id, wanted, now }
    const { deliveries, waitMs } = await claimAtPace(channel.pace, paced, (limit) =>
      claimDeliveries(db, {
        destinationId: this.#id,
        now,
        claimId,
        ownClaimIds: this.#ledger.claimIds(),
        leaseMs: settings.leaseMs,
        limit,
        kid: channel.claimKid(this.#id),
        isStopped,
      }),
    )
    this.#ledger.open(claimId, deliveries.length)
    if (deliveries.length > 0) return { number, deliveries, channel }
    this.#plan(waitMs ?? BLOCKED_PAUSE_MS)
    return undefined
  }

  /** Whether to claim now; otherwise plans when. */
  #mayClaim(outlook: DestinationOutlook, now: Date): boolean {
    const { retryNotBefore, nextDueAt } = outlook
    this.#waitsForRoom = !this.#hasRoom(isCircuitOpen(outlook))
    if (retryNotBefore !== null && retryNotBefore > now) {
      this.#retreat()
      if (nextDueAt !== null) this.#plan(retryNotBefore.getTime() - now.getTime())
      return false
    }
    if (this.#waitsForRoom || nextDueAt === null) return false
    this.#failuresInRow = Math.min(this.#failuresInRow, outlook.consecutiveFailures)
    if (nextDueAt <= now) return true
    this.#plan(nextDueAt.getTime() - now.getTime())
    return false
  }

  /** A probe goes out alone; and failures that the database does not know of yet are awaited. */
  #hasRoom(isProbe: boolean): boolean {
    const { handMax, claimSize } = this.#shared.settings
    if (isProbe || this.#failuresInRow >= FAILURES_TO_OPEN) return this.#ledger.count === 0
    return handMax - this.#ledger.count >= claimSize
  }

  /** The requests of a claim; undefined when there are none to be had now. */
  async #prepare({ deliveries, channel }: Claim): Promise<PreparedClaim> {
    try {
      return await channel.prepare(this.#id, deliveries)
    } catch (error) {
      const fields = { err: error, destination_id: this.#id }
      this.#shared.log.error(fields, 'deliveries could not be prepared')
      return undefined
    }
  }

  /** Takes a claim in hand once it is prepared; answers whether any of it was refused. */
  async #takeInHand(
    { number, deliveries, channel }: Claim,
    preparing: Promise<PreparedClaim>,
  ): Promise<boolean> {
    const refused: Promise<void>[] = []
    const prepared = this.#isStopped ? undefined : await preparing
    const later = new Date(this.#shared.clock.now().getTime() + FAULT_PAUSE_MS)
    if (prepared === undefined) refused.push(this.#giveBack(deliveries, later))
    for (const [index, request] of (prepared ?? []).entries()) {
      const delivery = deliveries[index]
      if (delivery === undefined) continue
      const notBefore =
        request === undefined ? later : this.#lanes.add({ delivery, prepared: request }, number)
      if (notBefore !== undefined) refused.push(this.#giveBack([delivery], notBefore))
    }
    this.#channel = channel
    this.#send()
    await Promise.all(refused)
    this.#lanes.endClaim(number)
    return refused.length > 0
  }

  /** Sends what is ready, as far as the destination's and the process's shares go. */
  #send(): void {
    const { settings, slots } = this.#shared
    while (this.#channel !== undefined && this.#inFlightCount < settings.concurrency) {
      if (this.#isStopped || this.#lanes.readyCount === 0 || !slots.take(this)) return
      const item = this.#lanes.next()
      if (item !== undefined) this.#track(this.#attempt(item, this.#channel))
    }
  }

  async #attempt(item: HandItem, channel: DeliveryChannel): Promise<void> {
    const { slots } = this.#shared
    this.#inFlightCount += 1
    try {
      const attempt = await attemptDelivery(item, channel, this.#shared)
      if (attempt.kind === 'finished') this.#settle(attempt.outcome)
      else this.#yield(item, attempt.notBefore)
    } finally {
      this.#inFlightCount -= 1
      slots.release()
      this.#send()
    }
  }

  #settle(outcome: DeliveryOutcome): void {
    const { delivery, nextAttemptAt, verdict } = outcome
    const endHold = nextAttemptAt === null ? undefined : this.#hold([delivery], nextAttemptAt)
    if (nextAttemptAt === null) this.#lanes.finish(delivery)
    else this.#giveBackItems(this.#lanes.drop(delivery), nextAttemptAt)
    this.#failuresInRow = isReceiverFailure(verdict) ? this.#failuresInRow + 1 : 0
    // Before the database says so: a receiver that refuses connections would see the whole hand.
    if (this.#failuresInRow >= FAILURES_TO_OPEN) this.#retreat()
    this.#shared.recorder.record(outcome, () => {
      endHold?.()
      this.#settleClaims([delivery], verdict.kind === 'retry')
    })
  }

  /** Gives a delivery back that was taken in hand and not sent, with those behind it. */
  #yield(item: HandItem, notBefore: Date): void {
    this.#giveBackItems([item, ...this.#lanes.drop(item.delivery)], notBefore)
  }

  /**
   * Holds the subjects of deliveries that leave the hand. Answers what to call once the database
   * knows.
   */
  #hold(deliveries: readonly ClaimedDelivery[], until: Date): () => void {
    const subjectKeys = new Set(deliveries.flatMap(({ subjectKey }) => subjectKey ?? []))
    for (const subjectKey of subjectKeys) this.#lanes.hold(subjectKey, until)
    return () => {
      for (const subjectKey of subjectKeys) this.#lanes.unhold(subjectKey, this.#claimNumber)
    }
  }

  /** Gives back everything that is not in flight. */
  #retreat(): void {
    this.#giveBackItems(this.#lanes.clear(), this.#shared.clock.now())
  }

  /** Gives back what is not in flight, but for what tells the receiver that nothing more comes. */
  #retreatButForLastWords(): void {
    const items = this.#lanes.clear()
    const isLastWord = ({ delivery }: HandItem) => delivery.outlivesStop === true
    for (const item of items.filter(isLastWord).reverse()) this.#lanes.putBack(item)
    this.#giveBackItems(
      items.filter((item) => !isLastWord(item)),
      this.#shared.clock.now(),
    )
  }

  #giveBackItems(items: readonly HandItem[], notBefore: Date): void {
    void this.#giveBack(
      items.map(({ delivery }) => delivery),
      notBefore,
    )
  }

  #giveBack(deliveries: readonly ClaimedDelivery[], notBefore: Date): Promise<void> {
    if (deliveries.length === 0) return Promise.resolve()
    const { db, log } = this.#shared
    const endHold = this.#hold(deliveries, notBefore)
    const released = releaseClaims(db, deliveries, notBefore)
      .catch((error: unknown) => {
        // The lease brings them back.
        log.warn({ err: error, destination_id: this.#id }, 'deliveries could not be given back')
      })
      .then(() => {
        endHold()
        this.#settleClaims(deliveries, true)
      })
    this.#track(released)
    return released
  }

  /** The deliveries are recorded or given back; looks again when that may have changed anything. */
  #settleClaims(deliveries: readonly ClaimedDelivery[], isLookNeeded: boolean): void {
    for (const delivery of deliveries) this.#ledger.settle(delivery)
    if (isLookNeeded || (this.#waitsForRoom && this.#hasRoom(false))) this.wake()
  }

  #plan(delayMs: number): void {
    this.#plannedAt = new Date(this.#shared.clock.now().getTime() + delayMs)
  }

  #clearTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #track(work: Promise<unknown>): void {
    this.#background.add(work)
    void work.finally(() => this.#background.delete(work))
  }
}

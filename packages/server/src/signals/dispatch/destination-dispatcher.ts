/*
 * Dispatches the deliveries of one destination. A round repeats these steps until nothing more may be claimed:
 * look at the schedule, claim, prepare, order by subject; then each delivery is sent and its outcome recorded.
 * Every destination has a dispatcher of its own, so that none waits for another's receiver. Owns pace and
 * order; what a request and an answer are is the channel's.
 */
import type { DestinationId } from '../../schema/branded-ids.ts'
import { ActiveClaims } from './active-claims.ts'
import { attemptDelivery, toAttemptRules, type AttemptRules } from './attempt-delivery.ts'
import { FAILURES_TO_OPEN, isCircuitOpen } from './circuit-breaker.ts'
import { DOUBT_INTERVAL_MS, DoubtfulClaims } from './doubtful-claims.ts'
import { BackgroundWork } from './background-work.ts'
import { claimAtPace, prepareClaim, type Look, type NumberedClaim } from './claim-at-pace.ts'
import { ConsecutiveFailures } from './consecutive-failures.ts'
import {
  claimBySchedule,
  findDestinationSchedule,
  isUsual,
  type Claimed,
  type DestinationSchedule,
} from './claim-store.ts'
import {
  isReceiverFailure,
  type ClaimedDelivery,
  type DeliveryChannel,
  type PreparedRequest,
} from './delivery-channel.ts'
import type { DeliveryOutcome } from './delivery-outcome.ts'
import { EVERY_DELIVERY, type DeliveryRange } from './delivery-range-store.ts'
import type { DispatcherDependencies } from './dispatcher-dependencies.ts'
import type { SlotUser } from './in-flight-slots.ts'
import { OTHERS_DELAY_MS, StandIn } from './stand-in.ts'
import { SubjectPartitions, type PreparedDelivery } from './subject-partitions.ts'
import { Wakeups } from './wakeups.ts'

/** Due work that could not be claimed is held by another worker: a moment later it is not. */
const BLOCKED_PAUSE_MS = 200
/**
 * After a claim that left nothing of what was due and did not look what falls due next: whatever is queued meanwhile
 * wakes the dispatcher, what is known to fall due earlier is claimed then, and the rest is planned when it looks again.
 */
const LOOK_AGAIN_MS = 100
/** After a fault of the database or of preparing. */
const FAULT_PAUSE_MS = 1_000

export class DestinationDispatcher implements SlotUser {
  readonly #id: DestinationId
  readonly #shared: DispatcherDependencies
  readonly #partitions = new SubjectPartitions()
  readonly #claims: ActiveClaims
  readonly #doubtful: DoubtfulClaims
  readonly #background = new BackgroundWork()
  readonly #failures = new ConsecutiveFailures()
  readonly #standIn = new StandIn()
  readonly #end = new AbortController()
  readonly #wakeups = new Wakeups(() => this.#background.add(this.#dispatch()))
  #rules: AttemptRules | undefined
  #range = EVERY_DELIVERY
  /** By which the next look may claim at once; undefined when the last look does not let one expect that it may. */
  #channel: DeliveryChannel | undefined
  /** When something falls due, as far as it is known; on the steady clock of `performance.now()`. */
  #nextDueAtMs = Infinity
  #claimNumber = 0
  #inFlightCount = 0
  /** The last round ended because too much is claimed: the next outcome or release wakes the dispatcher. */
  #isFull = false

  constructor(id: DestinationId, shared: DispatcherDependencies) {
    this.#id = id
    this.#shared = shared
    this.#claims = new ActiveClaims(shared.claimShares)
    this.#doubtful = new DoubtfulClaims(id)
  }

  get inFlightCount(): number {
    return this.#inFlightCount
  }

  /** Nothing is claimed and nothing planned, and it need not be known that another worker has left something. */
  get canBeForgotten(): boolean {
    const hasNothing = this.#claims.count === 0 && this.#doubtful.isEmpty
    return hasNothing && this.#wakeups.isIdle && !this.#standIn.isActive
  }

  /** Something may be due, or the destination has changed. */
  readonly wake = () => this.#wakeups.wake()

  /** The same, where another worker claims first. */
  wakeAfterFirst(): void {
    // Who has claimed something, or is about to, must see at once that the destination has changed.
    if (!this.#claims.isEmpty || this.#standIn.isActive) this.wake()
    else this.wakeWithin(OTHERS_DELAY_MS)
  }

  /** Something is due after this time. */
  wakeWithin(delayMs: number): void {
    this.#nextDueAtMs = Math.min(this.#nextDueAtMs, performance.now() + delayMs)
    this.#wakeups.wakeWithin(delayMs)
  }

  /** What is prepared and not sent goes back, with all that claims bring which have begun: they may know the former. */
  onTargetChanged(): void {
    this.#partitions.refuseClaims(this.#claimNumber)
    this.#releaseUnsent()
  }

  readonly onSlotFree = () => this.#send()

  /** Claims nothing more, and gives back what is not in flight. */
  stop(): void {
    this.#end.abort()
    this.#wakeups.stop()
    this.#shared.slots.forget(this)
    this.#releaseUnsent()
  }

  /** After `stop`, and when nothing is in flight: resolves when no claim is under way, and all is given back. */
  readonly whenDone = () => this.#background.whenDone()

  async #dispatch(): Promise<void> {
    try {
      await this.#runRound()
      this.#doubtful.endFailing()
    } catch (error) {
      this.#doubtful.logFailing(error, this.#shared.log)
      this.#wakeups.wakeIn(FAULT_PAUSE_MS)
    }
    if (!this.#doubtful.isEmpty) this.#wakeups.wakeWithin(DOUBT_INTERVAL_MS)
  }

  /**
   * A claim begins to be prepared as soon as it is there, also while the one before still is, and the next
   * one is under way meanwhile: neither the database nor the signing threads wait for each other. Claims
   * are ordered one after another. Only when deliveries were refused for the sake of order are they
   * released before anything else happens: a claim beside that would meet them again and again.
   */
  async #runRound(): Promise<void> {
    const about = { log: this.#shared.log, end: this.#end.signal }
    let ordering = Promise.resolve(false)
    try {
      while (!about.end.aborted) {
        this.#wakeups.forget()
        const beganMs = performance.now()
        const claim = await this.#claim().finally(() => this.#claims.endAsking())
        this.#standIn.noteClaimed(claim?.deliveries ?? [])
        const preparing = claim && prepareClaim(this.#id, claim, about)
        const hasRefused = await ordering
        if (claim === undefined || preparing === undefined) return
        ordering = this.#order(claim, preparing)
        if (hasRefused) await ordering
        if (claim.isAll) this.#planLook(beganMs, claim.nextDueAtMs)
        // What a look would tell, the one that claimed has told.
        else this.#isFull = !this.#hasRoom(false)
        if (claim.isAll || this.#isFull) return
      }
    } finally {
      await ordering
    }
  }

  /** After a claim of all that was due, which began then, at what falls due next, as far as it is known. */
  #planLook(beganMs: number, nextDueAtMs = performance.now() + LOOK_AGAIN_MS): void {
    if (this.#nextDueAtMs <= beganMs) this.#nextDueAtMs = Infinity
    this.#wakeups.wakeWithin(Math.min(nextDueAtMs, this.#nextDueAtMs) - performance.now())
  }

  /** Step 1 and 2: looks at the destination and claims; undefined when there is nothing to do now. */
  async #claim(): Promise<NumberedClaim | undefined> {
    const { db, channels, deliveryEnd } = this.#shared
    await this.#doubtful.release(db)
    const range = { fromId: this.#range.fromId, toId: deliveryEnd.id }
    const { claim, met, schedule } = await this.#look(range)
    if (claim !== undefined) return claim
    const channel = schedule === undefined ? undefined : channels.get(schedule.kind)
    if (schedule === undefined || channel === undefined || schedule.state === 'deleted') {
      this.#releaseUnsent()
      return undefined
    }
    this.#channel = isUsual(schedule) ? channel : undefined
    const isStopped = schedule.state !== 'active'
    if (isStopped) this.#releaseUnsent(({ outlivesStop }) => outlivesStop === true)
    this.#range = schedule.range
    if (this.#end.signal.aborted || !this.#mayClaim(schedule)) return undefined
    if (met === 'held') {
      this.#wakeups.wakeWithin(BLOCKED_PAUSE_MS)
      return undefined
    }
    const request = this.#beginClaim(isCircuitOpen(schedule) ? 1 : this.#claims.room)
    const { waitMs, ...claimed } = await claimAtPace(db, channel, {
      ...request,
      isStopped,
      isPaced: schedule.isPaced,
      isPastBlocked: met === 'blocked',
      range: this.#range,
    }).catch(this.#doubtful.onFailure(request.claimId))
    if (claimed.deliveries.length > 0) return this.#hold(request.claimId, claimed, channel)
    this.#wakeups.wakeWithin(waitMs ?? BLOCKED_PAUSE_MS)
    return undefined
  }

  /**
   * Looks at the schedule. Where the last look found nothing unusual and there is room, the statement that looks also
   * claims: as a rule it is as it was.
   */
  async #look(range: DeliveryRange): Promise<Look> {
    const channel = this.#channel
    this.#channel = undefined
    this.#failures.beginLook()
    const isProbing = this.#failures.count >= FAILURES_TO_OPEN
    if (channel === undefined || isProbing || !this.#hasRoom(false)) {
      return { schedule: await findDestinationSchedule(this.#shared.db, this.#id, range) }
    }
    const request = this.#beginClaim(this.#claims.room)
    const { schedule, mayClaim, claimed } = await claimBySchedule(this.#shared.db, channel.kind, {
      ...request,
      kid: channel.claimKid(this.#id),
      range,
    }).catch(this.#doubtful.onFailure(request.claimId))
    const met = mayClaim ? (claimed.hasParked ? 'blocked' : 'held') : undefined
    if (schedule === undefined || claimed.deliveries.length === 0) return { met, schedule }
    this.#channel = channel
    this.#range = schedule.range
    this.#isFull = false
    this.#failures.learn(schedule.consecutiveFailures)
    const nextDueInMs = schedule.nextDueInMs ?? Infinity
    // What was due all the same was held by somebody at that moment.
    const nextDueAtMs = nextDueInMs > 0 ? performance.now() + nextDueInMs : undefined
    return { claim: { ...this.#hold(request.claimId, claimed, channel), nextDueAtMs }, schedule }
  }

  /** What every claim asks for. Claims are numbered before they look, one after another. */
  #beginClaim(limit: number) {
    const { settings, newClaimId } = this.#shared
    this.#claimNumber += 1
    this.#claims.ask(limit)
    return {
      destinationId: this.#id,
      claimId: newClaimId(),
      ownClaimIds: this.#claims.claimIds(),
      leaseMs: settings.leaseMs,
      limit,
    }
  }

  /** Remembers what the claim that was begun last has claimed. */
  #hold(claimId: string, claimed: Claimed, channel: DeliveryChannel): NumberedClaim {
    this.#claims.add(claimId, claimed.deliveries.length)
    return { number: this.#claimNumber, ...claimed, channel }
  }

  /** Whether to claim now; otherwise plans when. */
  #mayClaim(schedule: DestinationSchedule): boolean {
    const { pausedForMs, nextDueInMs } = schedule
    this.#isFull = !this.#hasRoom(isCircuitOpen(schedule))
    if (pausedForMs > 0) {
      this.#releaseUnsent()
      if (nextDueInMs !== null) this.#wakeups.wakeWithin(pausedForMs)
      return false
    }
    if (this.#isFull || nextDueInMs === null) return false
    this.#failures.learn(schedule.consecutiveFailures)
    if (nextDueInMs <= 0) return true
    this.#nextDueAtMs = performance.now() + nextDueInMs
    this.#wakeups.wakeWithin(nextDueInMs)
    return false
  }

  /** A probe goes out alone; and failures that the database does not know of yet are awaited. */
  #hasRoom(isProbe: boolean): boolean {
    if (isProbe || this.#failures.count >= FAILURES_TO_OPEN) return this.#claims.count === 0
    return this.#claims.room > 0
  }

  /** Step 4: adds a prepared claim to the partitions; answers whether any of it was refused. */
  async #order(
    { number, deliveries, channel }: NumberedClaim,
    preparing: ReturnType<typeof prepareClaim>,
  ): Promise<boolean> {
    const refused: Promise<void>[] = []
    const prepared = await preparing
    const { aborted: isStopped } = this.#end.signal
    if (isStopped) refused.push(this.#release(deliveries, 0))
    else if (prepared === undefined) refused.push(this.#release(deliveries, FAULT_PAUSE_MS))
    for (const [index, request] of (isStopped ? [] : (prepared ?? [])).entries()) {
      const delivery = deliveries[index]
      if (delivery === undefined) continue
      if (request === 'ended') this.#finish([delivery], true)
      else refused.push(...this.#enqueue(delivery, request, number))
    }
    this.#rules = toAttemptRules(channel, this.#shared)
    this.#send()
    await Promise.all(refused)
    this.#partitions.endClaim(number)
    return refused.length > 0
  }

  /** Adds a delivery to its partition; what is refused, or cannot be sent now, is being released. */
  #enqueue(
    delivery: ClaimedDelivery,
    prepared: PreparedRequest | undefined,
    claimNumber: number,
  ): Promise<void>[] {
    if (prepared === undefined) return [this.#release([delivery], FAULT_PAUSE_MS)]
    const untilMs = this.#partitions.add({ delivery, prepared }, claimNumber)
    if (untilMs === undefined) return []
    return [this.#release([delivery], Math.max(0, untilMs - performance.now()))]
  }

  /** Step 5: sends what is ready, as far as the destination's and the process's shares go. */
  #send(): void {
    const { settings, slots } = this.#shared
    while (this.#rules !== undefined && this.#inFlightCount < settings.concurrency) {
      if (this.#end.signal.aborted || this.#partitions.readyCount === 0 || !slots.take(this)) return
      const item = this.#partitions.next()
      if (item !== undefined) void this.#shared.attempts.add(this.#attempt(item, this.#rules))
    }
  }

  async #attempt(item: PreparedDelivery, rules: AttemptRules): Promise<void> {
    const { delivery } = item
    this.#inFlightCount += 1
    try {
      const attempt = await attemptDelivery(item, rules, this.#shared)
      if (attempt.kind === 'finished') this.#record(attempt.outcome)
      else void this.#release([delivery, ...this.#partitions.drop(delivery)], attempt.delayMs)
    } finally {
      this.#inFlightCount -= 1
      this.#shared.slots.release()
      this.#send()
    }
  }

  /** Step 6: what follows in memory at once; the database follows a moment later, with other outcomes. */
  #record(outcome: DeliveryOutcome): void {
    const { delivery, retryDelayMs, verdict } = outcome
    const retried = retryDelayMs === null ? [] : [delivery]
    const subjects = this.#partitions.blockAll(retried, retryDelayMs ?? 0)
    if (retryDelayMs === null) this.#partitions.finish(delivery)
    else void this.#release(this.#partitions.drop(delivery), retryDelayMs)
    this.#failures.add(isReceiverFailure(verdict))
    // Before the database says so: a receiver that refuses connections would see all that is claimed.
    if (this.#failures.count >= FAILURES_TO_OPEN) this.#releaseUnsent()
    const unblock = () => {
      this.#failures.noteRecorded()
      this.#partitions.unblockAll(subjects, this.#claimNumber)
    }
    this.#shared.recorder.record(outcome, {
      onRecorded: () => {
        unblock()
        this.#finish([delivery], verdict.kind === 'retry')
      },
      onGivenUp: (pauseMs) =>
        this.#release([delivery, ...this.#partitions.dropUnsent(delivery)], pauseMs).then(unblock),
    })
  }

  /** Releases what is not in flight, but for what is to be kept. */
  #releaseUnsent(isKept?: (delivery: ClaimedDelivery) => boolean): void {
    void this.#release(this.#partitions.clear(isKept), 0)
  }

  /** Gives claimed deliveries back to the database, due after `delayMs`. Never rejects. */
  #release(deliveries: readonly ClaimedDelivery[], delayMs: number): Promise<void> {
    if (deliveries.length === 0) return Promise.resolve()
    const subjects = this.#partitions.blockAll(deliveries, delayMs)
    const releasing = this.#shared.releases.release(this.#id, deliveries, delayMs).then(() => {
      this.#partitions.unblockAll(subjects, this.#claimNumber)
      this.#finish(deliveries, true)
    })
    return this.#background.add(releasing)
  }

  /** The deliveries are recorded or released; looks again when that may have changed anything. */
  #finish(deliveries: readonly ClaimedDelivery[], isLookNeeded: boolean): void {
    for (const delivery of deliveries) this.#claims.finish(delivery)
    if (isLookNeeded || (this.#isFull && this.#hasRoom(false))) this.wake()
  }
}

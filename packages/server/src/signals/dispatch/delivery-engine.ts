/*
 * Delivers what is queued: one dispatcher per destination, woken by the notification that follows a commit which
 * queues for it, by the times at which retries are due, and by a slow sweep that misses nothing. At least
 * once and in order per subject; a crash anywhere repeats a delivery with the same event id.
 * Does not own what is queued nor what a request looks like. Nothing begins before `start`.
 */
import type { Kysely } from 'kysely'
import type { RunChange } from '../../changes/change.ts'
import type { Clock } from '../../platform/clock.ts'
import { randomInteger } from '../../platform/ids.ts'
import { startPeriodicJob } from '../../platform/jobs/periodic-job.ts'
import type { RunningJob } from '../../platform/jobs/running-job.ts'
import type { TopicSink } from '../../platform/live/topic-notifier.ts'
import type { GuardedClient } from '../../platform/net/guarded-client.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { ClaimShares } from './active-claims.ts'
import { BackgroundWork } from './background-work.ts'
import { ClaimReleases } from './claim-releases.ts'
import { listWaitingDestinations } from './claim-store.ts'
import { DatabaseClock } from './database-clock.ts'
import type { DeliveryChannel } from './delivery-channel.ts'
import { DeliveryEnd } from './delivery-end.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { DEFAULT_DELIVERY_SETTINGS, type DeliverySettings } from './delivery-settings.ts'
import { DestinationDispatcher } from './destination-dispatcher.ts'
import type { DispatcherDependencies } from './dispatcher-dependencies.ts'
import { InFlightSlots } from './in-flight-slots.ts'
import { OutcomeRecorder } from './outcome-recorder.ts'
import type { WorkerPresence } from './worker-presence.ts'

export interface DeliveryEngineDependencies {
  readonly db: Kysely<Schema>
  /** For the times of attempts in the log. What is due, and until when, is the database's to say. */
  readonly clock: Clock
  readonly log: DeliveryLog
  readonly client: Pick<GuardedClient, 'request'>
  /** At most one channel per kind; destinations of other kinds are left alone. */
  readonly channels: readonly DeliveryChannel[]
  /** What differs from `DEFAULT_DELIVERY_SETTINGS`. */
  readonly settings: Partial<DeliverySettings>
  /** Runs the changes of channels that react to a destination. */
  readonly runChange: RunChange
  /** Told which deliveries have moved on. */
  readonly topics: TopicSink
  /** Makes this process known as a worker, and finds those that died. */
  readonly presence: WorkerPresence
}

const CLOSE_GRACE_MS = 5_000
const RANDOM_STEPS = 2 ** 32

/** The engine of one process. */
export class DeliveryEngine {
  readonly #shared: DispatcherDependencies
  readonly #presence: WorkerPresence
  readonly #databaseClock: DatabaseClock
  readonly #deliveryEnd: DeliveryEnd
  readonly #abort = new AbortController()
  readonly #dispatchers = new Map<DestinationId, DestinationDispatcher>()
  #jobs: readonly RunningJob[] = []
  #ending: Promise<void> | undefined
  #isStarted = false
  #isClosed = false

  constructor(dependencies: DeliveryEngineDependencies) {
    const { db, clock, log, client, channels, runChange, presence, topics } = dependencies
    const settings = { ...DEFAULT_DELIVERY_SETTINGS, ...dependencies.settings }
    const random = (): number => randomInteger(0, RANDOM_STEPS) / RANDOM_STEPS
    this.#presence = presence
    this.#databaseClock = new DatabaseClock({ db, log, leaseMs: settings.leaseMs })
    this.#deliveryEnd = new DeliveryEnd(db)
    this.#shared = {
      db,
      clock,
      log,
      random,
      client,
      settings,
      channels: new Map(channels.map((channel) => [channel.kind, channel])),
      slots: new InFlightSlots(settings),
      claimShares: new ClaimShares(settings),
      releases: new ClaimReleases({ db, log }),
      attempts: new BackgroundWork(),
      recorder: new OutcomeRecorder({ db, log, random, runChange, topics }),
      deliveryEnd: this.#deliveryEnd,
      newClaimId: () => presence.newClaimId(),
      signal: this.#abort.signal,
    }
  }

  /** Takes up what is due and begins to sweep. Resolves after the first look at the database. */
  async start(): Promise<void> {
    this.#isStarted = true
    const { sweepIntervalMs, presenceIntervalMs } = this.#shared.settings
    await this.#presence.start()
    await this.sweep()
    if (this.#isClosed) return
    this.#jobs = [
      this.#repeat('sweep for due deliveries', sweepIntervalMs, () => this.#sweepAgain()),
      this.#repeat('look for dead workers', presenceIntervalMs, () => this.#releaseDead()),
    ]
  }

  /**
   * Work was queued for the destination, or it changed. Cheap; unknown ids do no harm. Does nothing before
   * `start`: in a process that does not deliver.
   */
  wake(destinationId: DestinationId): void {
    const isId = /^\d{1,19}$/.test(destinationId)
    if (!this.#isStarted || this.#isClosed || !isId) return
    const dispatcher = this.#dispatcherOf(destinationId)
    if (this.#presence.isFirstFor(destinationId)) dispatcher.wake()
    else dispatcher.wakeAfterFirst()
  }

  /**
   * Requests to the destination have another address, or are authenticated otherwise; those to any, when it is
   * undefined. What is prepared and not sent is prepared again.
   */
  onTargetChanged(destinationId?: DestinationId): void {
    for (const [id, dispatcher] of this.#dispatchers) {
      if (destinationId === undefined || id === destinationId) dispatcher.onTargetChanged()
    }
  }

  /** Looks at every destination: after the connection that listens was away. */
  async sweep(): Promise<void> {
    const { db, channels } = this.#shared
    await this.#databaseClock.follow()
    await this.#deliveryEnd.follow()
    const waiting = await listWaitingDestinations(db, [...channels.keys()])
    if (this.#isClosed) return
    for (const { id, nextDueInMs } of waiting) {
      if (nextDueInMs <= 0) this.#dispatcherOf(id).wake()
      else this.#dispatcherOf(id).wakeWithin(nextDueInMs)
    }
  }

  /**
   * Claims nothing more, gives back what is not in flight, and lets the rest end for at most `graceMs`; resolves when
   * nothing is in flight. For who must end something else before `close`.
   */
  beginEnd(graceMs = CLOSE_GRACE_MS): Promise<void> {
    this.#ending ??= this.#endAttempts(graceMs)
    return this.#ending
  }

  /** `beginEnd`, and records what came of it. Close it before the guarded client and the database. */
  async close(graceMs = CLOSE_GRACE_MS): Promise<void> {
    await this.beginEnd(graceMs)
    // Before all that may wait for a lock: a claim that is under way, or what is given back.
    await this.#shared.recorder.close()
    const dispatchers = [...this.#dispatchers.values()]
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.whenDone()))
    await Promise.all(this.#jobs.map((job) => job.stop()))
    await this.#presence.close().catch((error: unknown) => {
      this.#shared.log.warn({ err: error }, 'the worker could not sign off')
    })
  }

  async #endAttempts(graceMs: number): Promise<void> {
    this.#isClosed = true
    this.#shared.releases.stop()
    this.#shared.recorder.expectEnd()
    for (const job of this.#jobs) void job.stop()
    const timer = setTimeout(() => this.#abort.abort(), graceMs)
    for (const dispatcher of this.#dispatchers.values()) dispatcher.stop()
    await this.#shared.attempts.whenDone()
    clearTimeout(timer)
  }

  #repeat(name: string, intervalMs: number, run: () => Promise<void>): RunningJob {
    const { log } = this.#shared
    const logError = (error: unknown, message: string) => log.warn({ err: error }, message)
    return startPeriodicJob({ name, intervalMs, run }, logError)
  }

  async #sweepAgain(): Promise<void> {
    for (const [id, dispatcher] of this.#dispatchers) {
      if (dispatcher.canBeForgotten) this.#dispatchers.delete(id)
    }
    await this.sweep()
  }

  /** Takes over what workers that died had claimed. */
  async #releaseDead(): Promise<void> {
    const freed = await this.#presence.releaseDead()
    if (freed.length === 0) return
    const { log } = this.#shared
    log.warn({ destination_count: freed.length }, 'took over the deliveries of a dead worker')
    for (const id of freed) this.wake(id)
  }

  #dispatcherOf(id: DestinationId): DestinationDispatcher {
    const known = this.#dispatchers.get(id)
    if (known !== undefined) return known
    const dispatcher = new DestinationDispatcher(id, this.#shared)
    this.#dispatchers.set(id, dispatcher)
    return dispatcher
  }
}

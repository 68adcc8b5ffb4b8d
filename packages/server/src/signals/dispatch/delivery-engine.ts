/*
 * Delivers what is queued: one pump per destination, woken by whoever queues, by NOTIFY from other
 * processes, by the times at which retries are due, and by a slow sweep that misses nothing. At least
 * once and in order per subject; a crash anywhere repeats a delivery with the same event id.
 * Does not own what is queued nor what a request looks like.
 */
import type { Kysely } from 'kysely'
import { createChangeRunner, type RunChange } from '../../changes/change.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { newUuid, randomInteger } from '../../platform/ids.ts'
import type { GuardedClient } from '../../platform/net/guarded-client.ts'
import { listWaitingDestinations } from './claim-store.ts'
import { ClockFollower, type ClockWatch } from './clock-steps.ts'
import type { DeliveryChannel } from './delivery-channel.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { DEFAULT_DELIVERY_SETTINGS, type DeliverySettings } from './delivery-settings.ts'
import { DestinationPump, type PumpDependencies } from './destination-pump.ts'
import { FlightSlots } from './flight-slots.ts'
import { createOutcomeRecorder } from './outcome-recorder.ts'
import type { WorkerPresence } from './worker-presence.ts'

/** The NOTIFY channel of queued deliveries and changed destinations; the payload is a destination id. */
export const DELIVERY_CHANNEL = 'delivery'

export interface DeliveryEngine {
  /** Takes up what is due and begins to sweep. Resolves after the first look at the database. */
  start(): Promise<void>
  /** Work was queued for the destination, or it changed. Cheap; unknown ids do no harm. */
  wake(destinationId: string): void
  /** Looks at every destination: after the connection that listens was away. */
  sweep(): Promise<void>
  /**
   * Stops claiming, lets what is in flight end for at most `graceMs`, records it and gives the rest
   * back. Close it before the guarded client and the database.
   */
  close(graceMs?: number): Promise<void>
}

export interface DeliveryEngineDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly log: DeliveryLog
  readonly client: Pick<GuardedClient, 'request'>
  /** At most one channel per kind; destinations of other kinds are left alone. */
  readonly channels: readonly DeliveryChannel[]
  readonly settings?: Partial<DeliverySettings>
  /** Runs the changes of channels that are told of a destination; without it, one on `db`. */
  readonly runChange?: RunChange
  /** Without it, what a dead process had claimed waits for the end of its lease. */
  readonly presence?: WorkerPresence | undefined
  /** Without it, what was planned before the clock was set back comes as late as the clock says. */
  readonly clockWatch?: ClockWatch | undefined
}

const CLOSE_GRACE_MS = 5_000
const RANDOM_STEPS = 2 ** 32

export function createDeliveryEngine(dependencies: DeliveryEngineDependencies): DeliveryEngine {
  return new PumpingEngine(dependencies)
}

class PumpingEngine implements DeliveryEngine {
  readonly #shared: PumpDependencies
  readonly #abort = new AbortController()
  readonly #pumps = new Map<string, DestinationPump>()
  readonly #presence: WorkerPresence | undefined
  readonly #clockFollower: ClockFollower | undefined
  #sweepTimer: NodeJS.Timeout | undefined
  #presenceTimer: NodeJS.Timeout | undefined
  #presenceWork: Promise<void> = Promise.resolve()
  #sweepWork: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(dependencies: DeliveryEngineDependencies) {
    const { db, clock, log, client, channels, settings, presence, clockWatch } = dependencies
    const { runChange = createChangeRunner(db, clock, []) } = dependencies
    this.#presence = presence
    const allSettings = { ...DEFAULT_DELIVERY_SETTINGS, ...settings }
    const { leaseMs } = allSettings
    this.#clockFollower =
      clockWatch && new ClockFollower({ db, clock, log, watch: clockWatch, leaseMs })
    const random = (): number => randomInteger(0, RANDOM_STEPS) / RANDOM_STEPS
    this.#shared = {
      db,
      clock,
      log,
      random,
      client,
      channels: new Map(channels.map((channel) => [channel.kind, channel])),
      slots: new FlightSlots(allSettings),
      recorder: createOutcomeRecorder({ db, clock, log, random, runChange }),
      newClaimId: presence === undefined ? newUuid : () => presence.newClaimId(),
      settings: allSettings,
      signal: this.#abort.signal,
    }
  }

  async start(): Promise<void> {
    await this.#presence?.start()
    await this.sweep()
    this.#planSweep()
    this.#planPresence()
  }

  wake(destinationId: string): void {
    if (!this.#isClosed && /^\d{1,19}$/.test(destinationId)) this.#pumpFor(destinationId).wake()
  }

  async sweep(): Promise<void> {
    const { db, clock, channels } = this.#shared
    const now = clock.now()
    const waiting = await listWaitingDestinations(db, [...channels.keys()], now)
    if (this.#isClosed) return
    for (const { id, nextDueAt } of waiting) {
      const pump = this.#pumpFor(id)
      if (nextDueAt <= now) pump.wake()
      else pump.wakeAt(nextDueAt)
    }
  }

  async close(graceMs = CLOSE_GRACE_MS): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#sweepTimer)
    clearTimeout(this.#presenceTimer)
    const timer = setTimeout(() => this.#abort.abort(), graceMs)
    await Promise.all([...this.#pumps.values()].map((pump) => pump.stop()))
    clearTimeout(timer)
    await this.#shared.recorder.close()
    await this.#sweepWork
    await this.#presenceWork
    await this.#presence?.close().catch((error: unknown) => {
      this.#shared.log.warn({ err: error }, 'the worker could not sign off')
    })
  }

  /** Takes over what workers that died had claimed. */
  #planPresence(): void {
    if (this.#isClosed || this.#presence === undefined) return
    const { presenceIntervalMs } = this.#shared.settings
    this.#presenceTimer = setTimeout(() => {
      this.#presenceWork = this.#releaseDead().then(() => this.#planPresence())
    }, presenceIntervalMs)
  }

  async #releaseDead(): Promise<void> {
    const { log } = this.#shared
    try {
      const freed = (await this.#presence?.releaseDead()) ?? []
      if (freed.length === 0) return
      log.warn({ destination_count: freed.length }, 'took over the deliveries of a dead worker')
      for (const id of freed) this.wake(id)
    } catch (error) {
      log.warn({ err: error }, 'the look for dead workers failed')
    }
  }

  #planSweep(): void {
    if (this.#isClosed) return
    this.#sweepTimer = setTimeout(() => {
      this.#sweepWork = this.#sweepAgain()
    }, this.#shared.settings.sweepIntervalMs)
  }

  async #sweepAgain(): Promise<void> {
    for (const [id, pump] of this.#pumps) {
      if (pump.isIdle) this.#pumps.delete(id)
    }
    try {
      await this.#followClock()
      await this.sweep()
    } catch (error) {
      this.#shared.log.warn({ err: error }, 'the sweep for due deliveries failed')
    }
    this.#planSweep()
  }

  /** What is in hand was claimed for as long as the clock said then: it is claimed anew. */
  async #followClock(): Promise<void> {
    const wasSetBack = (await this.#clockFollower?.follow()) ?? false
    if (wasSetBack) for (const pump of this.#pumps.values()) pump.startOver()
  }

  #pumpFor(id: string): DestinationPump {
    const known = this.#pumps.get(id)
    if (known !== undefined) return known
    const pump = new DestinationPump(id, this.#shared)
    this.#pumps.set(id, pump)
    return pump
  }
}

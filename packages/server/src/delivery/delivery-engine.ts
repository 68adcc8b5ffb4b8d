/*
 * Delivers what is queued: one pump per destination, woken by whoever queues, by NOTIFY from other
 * processes, by the times at which retries are due, and by a slow sweep that misses nothing. At least
 * once and in order per subject; a crash anywhere repeats a delivery with the same event id.
 * Does not own what is queued nor what a request looks like.
 */
import type { Kysely } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { Schema } from '../platform/db/schema.ts'
import { randomInteger } from '../platform/ids.ts'
import type { GuardedClient } from '../platform/net/guarded-client.ts'
import { listWaitingDestinations } from './claim-store.ts'
import type { DeliveryChannel } from './delivery-channel.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { DEFAULT_DELIVERY_SETTINGS, type DeliverySettings } from './delivery-settings.ts'
import { DestinationPump, type PumpDependencies } from './destination-pump.ts'
import { FlightSlots } from './flight-slots.ts'
import { createOutcomeRecorder } from './outcome-recorder.ts'

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
  #sweepTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor({ db, clock, log, client, channels, settings }: DeliveryEngineDependencies) {
    const allSettings = { ...DEFAULT_DELIVERY_SETTINGS, ...settings }
    const random = (): number => randomInteger(0, RANDOM_STEPS) / RANDOM_STEPS
    this.#shared = {
      db,
      clock,
      log,
      random,
      client,
      channels: new Map(channels.map((channel) => [channel.kind, channel])),
      slots: new FlightSlots(allSettings),
      recorder: createOutcomeRecorder({ db, clock, log, random }),
      settings: allSettings,
      signal: this.#abort.signal,
    }
  }

  async start(): Promise<void> {
    await this.sweep()
    this.#planSweep()
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
    const timer = setTimeout(() => this.#abort.abort(), graceMs)
    await Promise.all([...this.#pumps.values()].map((pump) => pump.stop()))
    clearTimeout(timer)
    await this.#shared.recorder.close()
  }

  #planSweep(): void {
    if (this.#isClosed) return
    this.#sweepTimer = setTimeout(
      () => void this.#sweepAgain(),
      this.#shared.settings.sweepIntervalMs,
    )
  }

  async #sweepAgain(): Promise<void> {
    for (const [id, pump] of this.#pumps) {
      if (pump.isIdle) this.#pumps.delete(id)
    }
    try {
      await this.sweep()
    } catch (error) {
      this.#shared.log.warn({ err: error }, 'the sweep for due deliveries failed')
    }
    this.#planSweep()
  }

  #pumpFor(id: string): DestinationPump {
    const known = this.#pumps.get(id)
    if (known !== undefined) return known
    const pump = new DestinationPump(id, this.#shared)
    this.#pumps.set(id, pump)
    return pump
  }
}

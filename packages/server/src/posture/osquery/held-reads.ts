/*
 * Devices whose request for work is held until there is some. Owns who is held, for how long and how many, and the
 * pace at which they are woken; whether there is work is decided by whoever holds them. Nothing here asks the
 * database.
 */
import { TimerWheel, WHEEL_TICK_MS, type TimedTask } from '../../platform/timer-wheel.ts'

/**
 * Why a wait ended: somebody told of the device; its time came; or nobody waits for the answer any more, because
 * the device is gone, has asked again, or the process stops.
 */
type HeldReadOutcome = 'woken' | 'time' | 'over'

/** A request that may be held. */
export interface HeldRead {
  /** Whether nobody waits for the answer any more. */
  readonly isOver: boolean
  /** Waits for news of the device, `timeoutMs` at most. One wait at a time. */
  wait(timeoutMs: number): Promise<HeldReadOutcome>
  /** Gives the place back. Safe to call twice. */
  end(): void
}

export interface HeldReads {
  /**
   * Takes a place. Begin before looking for work, so that nothing that comes in between is missed; `end` when
   * answered. The read of the same device before it is over. Undefined when there is no place, and after `close`.
   */
  begin(deviceId: string): HeldRead | undefined
  /** There may be work for a device. */
  wake(deviceId: string): void
  /** How many wait at this moment. */
  count(): number
  /** Ends every wait; from now on nobody is held. */
  close(): void
}

interface HeldReadsLimits {
  /** Places; a read beyond them is answered at once. */
  readonly placesMax: number
  /**
   * Devices that are woken at once, and then in each tenth of a second. Work for very many devices reaches them a
   * little later, and what they answer does not arrive in one moment.
   */
  readonly wakesPerTick: number
}

const HELD_READS_LIMITS: HeldReadsLimits = { placesMax: 50_000, wakesPerTick: 200 }

/** Creates the places of this process. */
export function createHeldReads(limits: HeldReadsLimits = HELD_READS_LIMITS): HeldReads {
  return new HeldReadsOfProcess(limits)
}

class HeldReadsOfProcess implements HeldReads {
  readonly #limits: HeldReadsLimits
  readonly #wheel = new TimerWheel()
  readonly #places = new Map<string, Place>()
  readonly #toWake = new Set<string>()
  #wakesLeft: number
  #paceTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(limits: HeldReadsLimits) {
    this.#limits = limits
    this.#wakesLeft = limits.wakesPerTick
  }

  begin(deviceId: string): HeldRead | undefined {
    this.#places.get(deviceId)?.end()
    if (this.#isClosed || this.#places.size >= this.#limits.placesMax) return undefined
    const place = new Place(this.#wheel, () => {
      if (this.#places.get(deviceId) === place) this.#places.delete(deviceId)
    })
    this.#places.set(deviceId, place)
    return place
  }

  wake(deviceId: string): void {
    if (!this.#places.has(deviceId)) return
    this.#paceTimer ??= setInterval(() => this.#refill(), WHEEL_TICK_MS)
    if (this.#wakesLeft > 0) this.#wakeNow(deviceId)
    else this.#toWake.add(deviceId)
  }

  count(): number {
    return this.#places.size
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#paceTimer)
    this.#toWake.clear()
    for (const place of [...this.#places.values()]) place.end()
  }

  #wakeNow(deviceId: string): void {
    this.#wakesLeft -= 1
    this.#places.get(deviceId)?.wake()
  }

  #refill(): void {
    this.#wakesLeft = this.#limits.wakesPerTick
    if (this.#toWake.size === 0) {
      clearInterval(this.#paceTimer)
      this.#paceTimer = undefined
      return
    }
    for (const deviceId of this.#toWake) {
      if (this.#wakesLeft === 0) return
      this.#toWake.delete(deviceId)
      if (this.#places.has(deviceId)) this.#wakeNow(deviceId)
    }
  }
}

class Place implements HeldRead, TimedTask {
  readonly #wheel: TimerWheel
  readonly #leave: () => void
  #settle: ((outcome: HeldReadOutcome) => void) | undefined
  #slot = 0
  #isWoken = false
  isOver = false

  constructor(wheel: TimerWheel, leave: () => void) {
    this.#wheel = wheel
    this.#leave = leave
  }

  wait(timeoutMs: number): Promise<HeldReadOutcome> {
    if (this.isOver) return Promise.resolve('over')
    if (this.#isWoken) {
      this.#isWoken = false
      return Promise.resolve('woken')
    }
    return new Promise((resolve) => {
      this.#settle = resolve
      this.#slot = this.#wheel.add(timeoutMs, this)
    })
  }

  wake(): void {
    if (this.#settle === undefined) this.#isWoken = true
    else this.#resolve('woken')
  }

  onTime(): void {
    this.#resolve('time')
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.#leave()
    this.#resolve('over')
  }

  #resolve(outcome: HeldReadOutcome): void {
    const settle = this.#settle
    if (settle === undefined) return
    this.#settle = undefined
    this.#wheel.remove(this.#slot, this)
    settle(outcome)
  }
}

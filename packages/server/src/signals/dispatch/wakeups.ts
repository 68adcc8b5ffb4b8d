/*
 * When a dispatcher looks for work: at a planned time, or when it is woken, at once unless it has just looked for that
 * reason. Owns the timer and that the same work never runs twice at once. Delays are measured by `setTimeout`, which no
 * set clock moves.
 */
import { MINUTE_MS } from '../../platform/clock.ts'

/** `setTimeout` takes little more than 24 days; the sweep comes long before this. */
const TIMER_MAX_MS = MINUTE_MS
/** A claim of one costs as much as one of ten: what is queued so soon after a woken look is claimed together. */
const INTERVAL_MIN_MS = 10

export class Wakeups {
  readonly #run: () => Promise<void>
  readonly #intervalMinMs: number
  #isWoken = false
  #isRunning = false
  #isStopped = false
  /** When it may run because it is woken; on the steady clock of `performance.now()`. */
  #freeAtMs = -Infinity
  /** On the same clock; `Infinity` when nothing is planned. */
  #plannedAtMs = Infinity
  #timer: NodeJS.Timeout | undefined

  /**
   * `run` must not reject. Who wakes it within `intervalMinMs` after a run that was woken began waits for that time, so
   * that many share a run.
   */
  constructor(run: () => Promise<void>, intervalMinMs = INTERVAL_MIN_MS) {
    this.#run = run
    this.#intervalMinMs = intervalMinMs
  }

  /** Nothing runs and nothing is planned. */
  get isIdle(): boolean {
    return !this.#isRunning && this.#timer === undefined
  }

  /** Runs now, or when the least interval has passed; when it runs already, once more afterwards. */
  wake(): void {
    this.#isWoken = true
    if (this.#isStopped || this.#isRunning) return
    if (performance.now() >= this.#freeAtMs) {
      this.#begin()
      return
    }
    this.#plannedAtMs = Math.min(this.#plannedAtMs, this.#freeAtMs)
    this.#startTimer()
  }

  /** Runs after this time, in place of what was planned; while it runs, not before its end. */
  wakeIn(delayMs: number): void {
    this.#plannedAtMs = performance.now() + delayMs
    this.#startTimer()
  }

  /** Runs after this time at the latest: what is planned for earlier stays. */
  wakeWithin(delayMs: number): void {
    if (performance.now() + delayMs < this.#plannedAtMs) this.wakeIn(delayMs)
  }

  /** What is read from now on includes every reason to wake so far. */
  forget(): void {
    this.#isWoken = false
    this.#plannedAtMs = Infinity
  }

  stop(): void {
    this.#isStopped = true
    this.#clearTimer()
  }

  #begin(): void {
    this.#clearTimer()
    this.#isRunning = true
    if (this.#isWoken) this.#freeAtMs = performance.now() + this.#intervalMinMs
    void this.#run().finally(() => this.#onEnd())
  }

  #onEnd(): void {
    this.#isRunning = false
    if (this.#isWoken) this.wake()
    else this.#startTimer()
  }

  #startTimer(): void {
    if (this.#isStopped || this.#isRunning || this.#plannedAtMs === Infinity) return
    this.#clearTimer()
    const delayMs = Math.max(0, this.#plannedAtMs - performance.now())
    this.#timer = setTimeout(() => this.#begin(), Math.min(delayMs, TIMER_MAX_MS))
  }

  #clearTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

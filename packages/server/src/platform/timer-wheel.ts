/*
 * Very many short waits behind one timer. Each wait costs one entry of a set; the timer ticks while there are any.
 */

/** What happens when a time has come. */
export interface TimedTask {
  onTime(): void
}

/** How late a task may be, in milliseconds, on a process that is not busy. */
export const WHEEL_TICK_MS = 100

/** Runs tasks at the tick after their time. */
export class TimerWheel {
  readonly #slots = new Map<number, Set<TimedTask>>()
  #timer: NodeJS.Timeout | undefined

  /** Adds a task; the answer is the slot in which it stands, for `remove`. */
  add(delayMs: number, task: TimedTask): number {
    const slotNumber = Math.ceil((performance.now() + delayMs) / WHEEL_TICK_MS)
    const slot = this.#slots.get(slotNumber)
    if (slot === undefined) this.#slots.set(slotNumber, new Set([task]))
    else slot.add(task)
    this.#timer ??= setInterval(() => this.#tick(), WHEEL_TICK_MS)
    return slotNumber
  }

  /** Takes a task back; does nothing once it has run. */
  remove(slotNumber: number, task: TimedTask): void {
    const slot = this.#slots.get(slotNumber)
    if (slot?.delete(task) !== true || slot.size > 0) return
    this.#slots.delete(slotNumber)
    this.#stopWhenEmpty()
  }

  #tick(): void {
    const current = Math.floor(performance.now() / WHEEL_TICK_MS)
    // There are few slots, however many tasks there are: no wait is longer than some seconds.
    for (const [slotNumber, slot] of this.#slots) {
      if (slotNumber > current) continue
      this.#slots.delete(slotNumber)
      for (const task of slot) task.onTime()
    }
    this.#stopWhenEmpty()
  }

  #stopWhenEmpty(): void {
    if (this.#slots.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

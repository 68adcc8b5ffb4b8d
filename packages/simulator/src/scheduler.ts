/**
 * Time for simulated nodes: what o'clock it is, and tasks that run later. Thousands of nodes share
 * one heap and one timer of the process; tests use the manual scheduler and wait for nothing.
 */

/** Takes back a scheduled task; does nothing once it has run. */
export type CancelTask = () => void

/** Tells the time and runs tasks later. */
export interface Scheduler {
  /** Milliseconds since the epoch, by a clock that may be set. */
  nowMs(): number
  /** The clock by which tasks run, in milliseconds: it only goes on, whence it counts is not said. */
  steadyMs(): number
  schedule(delayMs: number, task: () => void): CancelTask
}

/** A scheduler that owns resources until it is closed. */
export interface ClosableScheduler extends Scheduler {
  close(): void
}

interface Entry {
  readonly dueMs: number
  readonly order: number
  task: (() => void) | undefined
}

function isEarlier(left: Entry, right: Entry): boolean {
  return left.dueMs === right.dueMs ? left.order < right.order : left.dueMs < right.dueMs
}

/** A binary heap of tasks by due time, first in first out among equals. */
class TaskHeap {
  readonly #entries: Entry[] = []
  #order = 0

  push(dueMs: number, task: () => void): Entry {
    const entry: Entry = { dueMs, order: this.#order++, task }
    let index = this.#entries.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#swapIfEarlier(index, parent)) break
      index = parent
    }
    return entry
  }

  peek(): Entry | undefined {
    while (this.#entries[0] !== undefined && this.#entries[0].task === undefined) this.#removeTop()
    return this.#entries[0]
  }

  pop(): Entry | undefined {
    const top = this.peek()
    if (top !== undefined) this.#removeTop()
    return top
  }

  clear(): void {
    this.#entries.length = 0
  }

  #removeTop(): void {
    const last = this.#entries.pop()
    if (last === undefined || this.#entries.length === 0) return
    this.#entries[0] = last
    let index = 0
    while (true) {
      const left = index * 2 + 1
      const right = left + 1
      let smallest = index
      if (this.#isEarlierAt(left, smallest)) smallest = left
      if (this.#isEarlierAt(right, smallest)) smallest = right
      if (smallest === index) return
      this.#swapIfEarlier(smallest, index)
      index = smallest
    }
  }

  #isEarlierAt(index: number, than: number): boolean {
    const entry = this.#entries[index]
    const other = this.#entries[than]
    return entry !== undefined && other !== undefined && isEarlier(entry, other)
  }

  #swapIfEarlier(index: number, than: number): boolean {
    const entry = this.#entries[index]
    const other = this.#entries[than]
    if (entry === undefined || other === undefined || !isEarlier(entry, other)) return false
    this.#entries[index] = other
    this.#entries[than] = entry
    return true
  }
}

/** Runs tasks in real time from one heap behind one timer. They go by the steady clock: the other one may be set. */
export function createHeapScheduler(): ClosableScheduler {
  const heap = new TaskHeap()
  let timer: NodeJS.Timeout | undefined
  let timerDueMs = Infinity
  let isClosed = false

  function arm(): void {
    const next = heap.peek()
    if (next === undefined || isClosed) return
    if (timer !== undefined && timerDueMs <= next.dueMs) return
    clearTimeout(timer)
    timerDueMs = next.dueMs
    timer = setTimeout(fire, Math.max(0, Math.min(next.dueMs - performance.now(), 2 ** 31 - 1)))
  }

  function fire(): void {
    timer = undefined
    timerDueMs = Infinity
    const nowMs = performance.now()
    for (let next = heap.peek(); next !== undefined && next.dueMs <= nowMs; next = heap.peek()) {
      heap.pop()
      next.task?.()
    }
    arm()
  }

  return {
    nowMs: () => Date.now(),
    steadyMs: () => performance.now(),
    schedule(delayMs, task) {
      if (isClosed) return () => undefined
      const entry = heap.push(performance.now() + Math.max(0, delayMs), task)
      arm()
      return () => (entry.task = undefined)
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      heap.clear()
    },
  }
}

/** A scheduler whose time stands still until it is advanced; for tests. */
export interface ManualScheduler extends Scheduler {
  /** Moves time forward step by step, running what falls due and letting its consequences settle. */
  advance(ms: number): Promise<void>
  /** Sets the clock on or back, which tasks do not go by. */
  setClock(byMs: number): void
  /** Delays until the waiting tasks, in order; for assertions about back-off. */
  pendingDelaysMs(): number[]
}

/**
 * A scheduler for tests. `settle` is awaited after each task and before time moves, so that work a
 * task started (a request over a real socket) finishes at the time it was started.
 */
export function createManualScheduler(
  settle: () => Promise<void>,
  startMs: number = Date.UTC(2026, 0, 2, 3, 4, 5),
): ManualScheduler {
  const heap = new TaskHeap()
  const waiting = new Set<Entry>()
  let steadyMs = 0
  let epochMs = startMs
  return {
    nowMs: () => epochMs + steadyMs,
    steadyMs: () => steadyMs,
    setClock: (byMs) => void (epochMs += byMs),
    schedule(delayMs, task) {
      const entry = heap.push(steadyMs + Math.max(0, delayMs), task)
      waiting.add(entry)
      return () => {
        entry.task = undefined
        waiting.delete(entry)
      }
    },
    async advance(ms) {
      const untilMs = steadyMs + ms
      await settle()
      for (
        let next = heap.peek();
        next !== undefined && next.dueMs <= untilMs;
        next = heap.peek()
      ) {
        heap.pop()
        waiting.delete(next)
        steadyMs = Math.max(steadyMs, next.dueMs)
        next.task?.()
        await settle()
      }
      steadyMs = untilMs
    },
    pendingDelaysMs: () =>
      [...waiting].map((entry) => entry.dueMs - steadyMs).sort((left, right) => left - right),
  }
}

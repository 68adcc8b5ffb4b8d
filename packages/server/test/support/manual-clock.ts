import type { Clock } from '../../src/platform/clock.ts'

/** A clock that stands still until it is told to move; for tests. */
export class ManualClock implements Clock {
  #nowMs: number

  constructor(start: Date | string = '2026-01-02T03:04:05.678Z') {
    this.#nowMs = new Date(start).getTime()
  }

  now(): Date {
    return new Date(this.#nowMs)
  }

  advance(ms: number): void {
    this.#nowMs += ms
  }

  set(time: Date | string): void {
    this.#nowMs = new Date(time).getTime()
  }
}

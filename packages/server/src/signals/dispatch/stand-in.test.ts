import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StandIn } from './stand-in.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Something is queued, and the worker looks when it may. */
function queue(standIn: StandIn, hasFound: boolean): number {
  const delayMs = standIn.isActive ? 0 : standIn.leaveToFirst()
  vi.advanceTimersByTime(delayMs)
  standIn.noteLook(performance.now(), hasFound)
  return delayMs
}

test('a first worker that stands still holds up what is queued once in ten seconds', () => {
  const standIn = new StandIn()
  const delaysMs: number[] = []
  for (let times = 0; times < 25; times += 1) {
    delaysMs.push(queue(standIn, true))
    vi.advanceTimersByTime(1_000)
  }
  expect(delaysMs.filter((delayMs) => delayMs > 0)).toEqual([250, 250, 250])
})

test('while the first takes what is queued the others leave it to it', () => {
  const standIn = new StandIn()
  expect([queue(standIn, false), queue(standIn, false)]).toEqual([250, 250])
  standIn.leaveToFirst()
  // What the first has not had its time for is not left by it.
  standIn.noteLook(performance.now(), true)
  expect(standIn.isActive).toBe(false)
})

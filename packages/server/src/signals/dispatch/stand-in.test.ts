import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StandIn } from './stand-in.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const agedMs = (ageMs: number, attemptCount = 0) => [
  { attemptCount, createdAt: new Date(Date.now() - ageMs) },
]

test('a worker stands in for ten seconds after the last that the first has left', () => {
  const standIn = new StandIn()
  standIn.noteClaimed(agedMs(250), new Date())
  vi.advanceTimersByTime(9_000)
  expect(standIn.isActive).toBe(true)
  standIn.noteClaimed([...agedMs(0), ...agedMs(230)], new Date())
  vi.advanceTimersByTime(9_000)
  expect(standIn.isActive).toBe(true)
  vi.advanceTimersByTime(2_000)
  expect(standIn.isActive).toBe(false)
})

test('what the first has had no time for is not left by it, nor is what was tried before', () => {
  const standIn = new StandIn()
  for (const claimed of [agedMs(0), agedMs(150), agedMs(60_000, 1), []]) {
    standIn.noteClaimed(claimed, new Date())
  }
  expect(standIn.isActive).toBe(false)
})

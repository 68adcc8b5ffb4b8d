import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StandIn } from './stand-in.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a worker stands in for ten seconds after the last that the first has left', () => {
  const standIn = new StandIn()
  standIn.noteClaimed([{ wasLeft: true }])
  vi.advanceTimersByTime(9_000)
  expect(standIn.isActive).toBe(true)
  standIn.noteClaimed([{ wasLeft: false }, { wasLeft: true }])
  vi.advanceTimersByTime(9_000)
  expect(standIn.isActive).toBe(true)
  vi.advanceTimersByTime(2_000)
  expect(standIn.isActive).toBe(false)
})

test('what the first has not left, as it has had no time for it, makes nobody stand in', () => {
  const standIn = new StandIn()
  for (const claimed of [[{ wasLeft: false }], [{}], []]) standIn.noteClaimed(claimed)
  expect(standIn.isActive).toBe(false)
})

import { expect, test } from 'vitest'
import { HOUR_MS, ManualClock } from '../../platform/clock.ts'
import { watchClock } from './clock-steps.ts'

function watched() {
  const clock = new ManualClock()
  let steadyMs = 5_000
  const watch = watchClock(clock, () => steadyMs)
  const pass = (ms: number, clockMs = ms) => {
    steadyMs += ms
    clock.advance(clockMs)
    return watch.takeStepBackMs()
  }
  return { pass }
}

test('a clock that goes on as time does was not set back', () => {
  const { pass } = watched()
  expect([pass(10), pass(HOUR_MS), pass(0)]).toEqual([0, 0, 0])
})

test('a clock that was set back says by how much, once', () => {
  const { pass } = watched()
  expect([pass(5_000, 5_000 - 6 * HOUR_MS), pass(5_000)]).toEqual([6 * HOUR_MS, 0])
})

test('a clock that was set forward, or loses a little to be right, was not set back', () => {
  const { pass } = watched()
  expect([pass(5_000, 6 * HOUR_MS), pass(5_000, 4_900), pass(5_000, 4_900)]).toEqual([0, 0, 0])
})

test('a clock that was set forward and back again says how far it went back', () => {
  const { pass } = watched()
  expect([pass(1_000, HOUR_MS), pass(1_000, -HOUR_MS)]).toEqual([0, HOUR_MS + 1_000])
})

import { expect, test } from 'vitest'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { createHurriedDevices } from './hurried-devices.ts'

test('devices are hurried until the time that was told, 15 minutes at most, and what is no id counts for nothing', () => {
  const clock = new ManualClock()
  const hurried = createHurriedDevices(clock)
  const nowMs = clock.now().getTime()
  hurried.note(`${nowMs + MINUTE_MS} 1 2 x`)
  hurried.note(`${nowMs + 60 * MINUTE_MS} 2`)
  hurried.note('soon 3')
  hurried.note('')
  expect(['1', '2', '3', 'x'].map((id) => hurried.isHurried(id))).toEqual([
    true,
    true,
    false,
    false,
  ])
  clock.advance(MINUTE_MS)
  expect(['1', '2'].map((id) => hurried.isHurried(id))).toEqual([false, true])
  clock.advance(14 * MINUTE_MS)
  expect(hurried.isHurried('2')).toBe(false)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextRoundAtMs, parseQueryId, toQueryId } from './check-schedule.ts'

const HOUR = 3_600_000

test('a device that never answered is due at once', () => {
  expect(nextRoundAtMs('7', null, HOUR)).toBe(0)
})

test('a round is due one interval after the last plus at most a tenth, the same for every process', () => {
  const ranAt = new Date('2026-03-01T00:00:00Z')
  fc.assert(
    fc.property(
      fc.bigInt(1n, 10n ** 18n),
      fc.integer({ min: 1_000, max: 7 * 24 * HOUR }),
      (id, interval) => {
        const due = nextRoundAtMs(id.toString(), ranAt, interval) - ranAt.getTime()
        expect(due).toBeGreaterThanOrEqual(interval)
        expect(due).toBeLessThanOrEqual(interval * 1.1)
        expect(nextRoundAtMs(id.toString(), ranAt, interval) - ranAt.getTime()).toBe(due)
      },
    ),
  )
})

test('devices that answered together spread over the tenth', () => {
  const ranAt = new Date(0)
  const due = Array.from(
    { length: 1_000 },
    (_, id) => nextRoundAtMs(String(id), ranAt, HOUR) - HOUR,
  )
  const slots = new Set(due.map((time) => Math.floor(time / (HOUR / 100))))
  expect(slots.size).toBe(10)
})

test('the id of a check names it and its revision, and other ids name none', () => {
  expect(parseQueryId(toQueryId('12', 3))).toEqual({ checkId: '12', revision: 3 })
  for (const id of [
    '',
    'check:',
    'check:1',
    'check:1:',
    'check:1:2:3',
    'check:-1:2',
    'xcheck:1:2',
    'check:1:2x',
  ]) {
    expect(parseQueryId(id)).toBeUndefined()
  }
})

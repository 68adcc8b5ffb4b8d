import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../../platform/clock.ts'
import { listSnoozeDays, type SnoozableIssue } from './snooze-rule.ts'

const NOW = new Date('2026-03-02T10:00:00Z')
const inDays = (days: number) => new Date(NOW.getTime() + days * DAY_MS)
const ISSUE: SnoozableIssue = {
  blocksDeviceAt: null,
  snoozedAt: null,
  isSnoozeDisallowed: false,
  isExempted: false,
  resolvedAt: null,
}
const daysOf = (values: Partial<SnoozableIssue>) => listSnoozeDays({ ...ISSUE, ...values }, NOW)

describe('an issue', () => {
  it('that never blocks may be put off for as long as there is', () => {
    expect(daysOf({})).toEqual([1, 3, 7])
  })

  it.each([
    [-1, []],
    [0, []],
    [1.9, []],
    [2, [1]],
    [3.9, [1]],
    [4, [1, 3]],
    [8, [1, 3, 7]],
  ])('that blocks in %d days is shown again a day before at the latest', (days, allowed) => {
    expect(daysOf({ blocksDeviceAt: inDays(days) })).toEqual(allowed)
  })

  it.each([
    ['whose check does not allow it', { isSnoozeDisallowed: true }],
    ['that is exempted', { isExempted: true }],
    ['that is resolved', { resolvedAt: NOW }],
    ['that was put off within a week', { snoozedAt: inDays(-6.99) }],
  ])('%s may not be put off', (_what, values) => {
    expect(daysOf(values)).toEqual([])
  })

  it('may be put off again after a week', () => {
    expect(daysOf({ snoozedAt: inDays(-7) })).toEqual([1, 3, 7])
  })
})

import { describe, expect, test } from 'vitest'
import type { StatusIssue } from '../issues/issue-store.ts'
import { evaluateDeviceStatus } from './evaluate-device-status.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const EARLIER = new Date('2026-03-01T11:00:00Z')
const LATER = new Date('2026-03-03T00:00:00Z')
const MUCH_LATER = new Date('2026-03-09T00:00:00Z')

function issue(id: string, values: Partial<StatusIssue> = {}): StatusIssue {
  return {
    deviceId: '1',
    issueId: id,
    issueTitle: `Issue ${id}`,
    checkId: '7',
    checkSlug: 'disk-encryption',
    checkName: 'Disk encryption',
    strategy: 'block_immediately',
    blocksDeviceAt: null,
    exemptedAt: null,
    exemptionExpiresAt: null,
    ...values,
  }
}

const blocking = issue('1', { blocksDeviceAt: EARLIER })
const warning = issue('2', { strategy: 'warn_then_block', blocksDeviceAt: LATER })
const warningLate = issue('3', { strategy: 'warn_then_block', blocksDeviceAt: MUCH_LATER })
const notifying = issue('4', { strategy: 'notify_only' })
const reporting = issue('5', { strategy: 'report_only' })
const spared = issue('6', { strategy: 'block_immediately', blocksDeviceAt: null })

const evaluate = (issues: StatusIssue[], more = {}) =>
  evaluateDeviceStatus({ isEvaluated: true, issues, threshold: 'blocked', now: NOW, ...more })

describe('the state of a device', () => {
  test.each([
    ['no issue', [], 'Good', null, []],
    ['a report-only issue', [reporting], 'Good', null, []],
    ['a notify-only issue', [notifying, reporting], 'Notified', null, ['4']],
    ['an issue whose blocking a group forbids', [spared], 'Notified', null, ['6']],
    ['grace periods', [warningLate, notifying, warning], 'Will Block', LATER, ['2', '3']],
    ['a blocking issue among others', [warning, blocking, notifying], 'Blocked', null, ['1']],
    [
      'an issue that blocks from this moment on',
      [issue('8', { blocksDeviceAt: NOW })],
      'Blocked',
      null,
      ['8'],
    ],
  ])('%s', (_name, issues, authState, blockTime, reasonIds) => {
    const evaluation = evaluate(issues)
    expect(evaluation).toMatchObject({
      authState,
      willBlockAt: blockTime,
      reevaluateAt: blockTime,
    })
    expect(evaluation.reasons.map((reason) => reason.issueId)).toEqual(reasonIds)
  })

  test('a device that was never evaluated is Blocked and not compliant without any issue', () => {
    expect(evaluate([], { isEvaluated: false })).toEqual({
      authState: 'Blocked',
      willBlockAt: null,
      compliance: 'not-compliant',
      reevaluateAt: null,
      reasons: [],
    })
  })
})

describe('exempted issues', () => {
  test('do not count while the exemption lasts, and are looked at again when it ends', () => {
    const exempted = { ...blocking, exemptedAt: EARLIER, exemptionExpiresAt: LATER }
    expect(evaluate([exempted])).toMatchObject({ authState: 'Good', reevaluateAt: LATER })
  })

  test('count again from the very end of the exemption on', () => {
    const exempted = { ...blocking, exemptedAt: EARLIER, exemptionExpiresAt: NOW }
    expect(evaluate([exempted]).authState).toBe('Blocked')
  })

  test('never count when the exemption has no end', () => {
    const exempted = { ...blocking, exemptedAt: EARLIER }
    expect(evaluate([exempted])).toMatchObject({ authState: 'Good', reevaluateAt: null })
  })

  test('are looked at again when the exemption ends although another issue blocks', () => {
    const exempted = { ...notifying, exemptedAt: EARLIER, exemptionExpiresAt: LATER }
    expect(evaluate([blocking, exempted])).toMatchObject({
      authState: 'Blocked',
      reevaluateAt: LATER,
    })
  })

  test('the next look is at whatever ends first', () => {
    const exempted = { ...blocking, exemptedAt: EARLIER, exemptionExpiresAt: MUCH_LATER }
    expect(evaluate([exempted, warning]).reevaluateAt).toEqual(LATER)
  })
})

describe('compliance', () => {
  const states = { Blocked: [blocking], 'Will Block': [warning], Notified: [notifying], Good: [] }
  test.each([
    ['blocked', ['Blocked']],
    ['will_block', ['Blocked', 'Will Block']],
    ['notified', ['Blocked', 'Will Block', 'Notified']],
  ] as const)('with the threshold %s', (threshold, notCompliant) => {
    const found = Object.entries(states)
      .filter(([, issues]) => evaluate(issues, { threshold }).compliance === 'not-compliant')
      .map(([state]) => state)
    expect(found).toEqual(notCompliant)
  })
})

import { describe, expect, test } from 'vitest'
import {
  ASSURANCE_LEVEL_CHANGE,
  buildDeviceComplianceChange,
  buildStreamUpdated,
  buildVerification,
  CREDENTIAL_CHANGE,
  DEVICE_COMPLIANCE_CHANGE,
  parseSecurityEvent,
  RISK_LEVEL_CHANGE,
  SESSION_ESTABLISHED,
  SESSION_PRESENTED,
  SESSION_REVOKED,
  STREAM_UPDATED,
  TOKEN_CLAIMS_CHANGE,
  VERIFICATION,
} from '../src/index.ts'

const change = { previous_status: 'compliant', current_status: 'not-compliant' } as const

describe('a device-compliance-change payload', () => {
  test('is built with whole seconds and needs a real change', () => {
    expect(buildDeviceComplianceChange({ ...change, event_timestamp: 1_700_000_000.9 })).toEqual({
      ...change,
      event_timestamp: 1_700_000_000,
    })
    const same = { previous_status: 'compliant', current_status: 'compliant' } as const
    expect(() => buildDeviceComplianceChange(same)).toThrow(RangeError)
    const inMs = { ...change, event_timestamp: 1_700_000_000_000 }
    expect(() => buildDeviceComplianceChange(inMs)).toThrow(RangeError)
  })

  test('ssf-T151 is refused with words or shapes outside CAEP 1.0 section 3.5', () => {
    for (const payload of [
      { ...change, current_status: 'noncompliant' },
      { current_status: 'compliant' },
      { ...change, initiating_entity: 'robot' },
      { ...change, reason_admin: {} },
      { ...change, event_timestamp: '1700000000' },
    ]) {
      expect(parseSecurityEvent(DEVICE_COMPLIANCE_CHANGE, payload).ok).toBe(false)
    }
  })

  test('keeps unknown members, and reads a bare reason as text of undetermined language', () => {
    const parsed = parseSecurityEvent(DEVICE_COMPLIANCE_CHANGE, {
      ...change,
      reason_admin: 'disk encryption is off',
      check_ids: ['7'],
    })
    expect(parsed).toMatchObject({
      ok: true,
      value: { payload: { reason_admin: { und: 'disk encryption is off' }, check_ids: ['7'] } },
    })
  })
})

describe('optional members that are null', () => {
  const common = { event_timestamp: null, initiating_entity: null, reason_admin: null }
  test.each([
    [DEVICE_COMPLIANCE_CHANGE, change, { reason_user: null }],
    [SESSION_REVOKED, {}, {}],
    [TOKEN_CLAIMS_CHANGE, { claims: { role: null } }, {}],
    [CREDENTIAL_CHANGE, { credential_type: 'pin', change_type: 'update' }, { x509_issuer: null }],
    [ASSURANCE_LEVEL_CHANGE, { namespace: 'x', current_level: '1' }, { change_direction: null }],
    [RISK_LEVEL_CHANGE, { principal: 'USER', current_level: 'LOW' }, { previous_level: null }],
    [SESSION_PRESENTED, {}, { ext_id: null }],
    [SESSION_ESTABLISHED, { unknown: null }, { amr: null, fp_ua: null }],
  ])('count as absent in %s, and those that it needs do not', (type, members, absent) => {
    const parsed = parseSecurityEvent(type, { ...members, ...common, ...absent })
    expect(parsed).toEqual({ ok: true, value: { isKnown: true, type, payload: members } })
    for (const name of Object.keys(members).filter((each) => each !== 'unknown')) {
      expect(parseSecurityEvent(type, { ...members, [name]: null }).ok).toBe(false)
    }
  })
})

describe('other event types', () => {
  test.each([
    [SESSION_REVOKED, {}, { event_timestamp: 'now' }],
    [TOKEN_CLAIMS_CHANGE, { claims: { role: 'ro-admin' } }, {}],
    [
      CREDENTIAL_CHANGE,
      { credential_type: 'fido2-roaming', change_type: 'create', friendly_name: 'key' },
      { credential_type: 'password', change_type: 'renamed' },
    ],
    [
      ASSURANCE_LEVEL_CHANGE,
      { namespace: 'NIST-AAL', current_level: 'nist-aal2', change_direction: 'increase' },
      { current_level: 'nist-aal2' },
    ],
  ])('%s accepts a conforming payload and refuses another', (type, good, bad) => {
    expect(parseSecurityEvent(type, good)).toEqual({
      ok: true,
      value: { isKnown: true, type, payload: good },
    })
    expect(parseSecurityEvent(type, bad).ok).toBe(false)
  })

  test('that are not known are kept as they are', () => {
    const type = 'https://example.com/event-type/badge-lost'
    expect(parseSecurityEvent(type, { badge: 7 })).toEqual({
      ok: true,
      value: { isKnown: false, type, payload: { badge: 7 } },
    })
  })
})

test('an unsolicited verification carries no state, and a null state is read as none', () => {
  expect(buildVerification()).toEqual({})
  expect(buildVerification('abc')).toEqual({ state: 'abc' })
  expect(parseSecurityEvent(VERIFICATION, { state: null })).toMatchObject({
    ok: true,
    value: { payload: {} },
  })
})

test('a stream-updated payload carries its status as a plain word', () => {
  expect(buildStreamUpdated('paused')).toEqual({ status: 'paused' })
  expect(buildStreamUpdated('disabled', 'idle')).toEqual({ status: 'disabled', reason: 'idle' })
})

test.each([
  [{ status: { status: 'paused', stream_id: 's' }, reason: null }, { status: 'paused' }],
  [
    { status: { status: 'disabled' }, reason: 'why' },
    { status: 'disabled', reason: 'why' },
  ],
])('a stream-updated payload is read as transmitters in the field send it: %j', (sent, read) => {
  const parsed = parseSecurityEvent(STREAM_UPDATED, sent)
  expect(parsed).toEqual({
    ok: true,
    value: { isKnown: true, type: STREAM_UPDATED, payload: read },
  })
})

test('a stream-updated payload without one of the three words is refused', () => {
  for (const status of ['asleep', null, {}, { status: 'asleep' }, ['paused']]) {
    expect(parseSecurityEvent(STREAM_UPDATED, { status }).ok).toBe(false)
  }
})

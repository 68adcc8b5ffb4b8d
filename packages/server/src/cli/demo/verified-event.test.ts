import { DEVICE_COMPLIANCE_CHANGE, VERIFICATION } from '@heliograph/ssf'
import type { VerifiedSet } from '@heliograph/receiver'
import { describe, expect, it } from 'vitest'
import { newUlid } from '../../platform/ids.ts'
import { toVerifiedEvent } from './verified-event.ts'

const CHANGED_AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

function aSet(changes: Partial<VerifiedSet> = {}): VerifiedSet {
  return {
    token: 'a.b.c',
    header: { alg: 'RS256' },
    iss: 'http://127.0.0.1:8080',
    aud: ['http://127.0.0.1:9000/events'],
    jti: 'event-1',
    iat: Math.floor(CHANGED_AT_MS / 1_000),
    txn: newUlid(new Date(CHANGED_AT_MS)),
    layout: 'v1',
    subject: {
      format: 'complex',
      device: { format: 'iss_sub', iss: 'http://127.0.0.1:8080', sub: '7' },
    },
    event: {
      isKnown: true,
      type: DEVICE_COMPLIANCE_CHANGE,
      payload: { previous_status: 'compliant', current_status: 'not-compliant' },
    },
    ...changes,
  } as VerifiedSet
}

describe('a verified event', () => {
  it('tells device, change and the milliseconds since the change', () => {
    expect(toVerifiedEvent(aSet(), 'poll', CHANGED_AT_MS + 42)).toMatchObject({
      method: 'poll',
      deviceId: '7',
      previousStatus: 'compliant',
      currentStatus: 'not-compliant',
      kind: 'device-compliance-change',
      latencyMs: 42,
    })
  })

  it('has no latency when the transaction id does not tell a time', () => {
    expect(toVerifiedEvent(aSet({ txn: 'not a ulid' }), 'push', CHANGED_AT_MS).latencyMs).toBe(
      undefined,
    )
    const withoutTxn = aSet()
    Reflect.deleteProperty(withoutTxn, 'txn')
    expect(toVerifiedEvent(withoutTxn, 'push', CHANGED_AT_MS).latencyMs).toBe(undefined)
  })

  it('of another kind shows its kind and claims no device', () => {
    const set = aSet({
      subject: { format: 'email', email: 'ada@example.com' },
      event: { isKnown: true, type: VERIFICATION, payload: {} },
    })
    expect(toVerifiedEvent(set, 'push', CHANGED_AT_MS)).toMatchObject({
      kind: 'verification',
      deviceId: undefined,
      currentStatus: undefined,
    })
  })
})

import { describe, expect, it } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../platform/clock.ts'
import { judgeReenrollment, type Claim, type KnownHost } from './judge-reenrollment.ts'

const AT = new Date('2026-05-04T12:00:00Z')
const before = (ms: number) => new Date(AT.getTime() - ms)
const ALIVE_MS = 3 * DAY_MS
const KEY = Buffer.alloc(32, 1)

const HOST: KnownHost = {
  ownerPersonId: null,
  nodeKeyHash: KEY,
  enrolledAt: before(30 * DAY_MS),
  enrolledFrom: '192.0.2.1',
  lastSeenAt: before(MINUTE_MS),
}
const CLAIM: Claim = {
  at: AT,
  ipAddress: '198.51.100.1',
  secretPersonId: null,
  nodeKeyHash: undefined,
  request: undefined,
}
const SILENT = { lastSeenAt: before(ALIVE_MS) }

const judge = (host: Partial<KnownHost> = {}, claim: Partial<Claim> = {}) => {
  const judgement = judgeReenrollment({ ...HOST, ...host }, { ...CLAIM, ...claim }, ALIVE_MS)
  return judgement.kind === 'admitted' ? judgement.basis : `held: ${judgement.reason}`
}
const asked = (ms: number, more: Partial<NonNullable<Claim['request']>> = {}) => ({
  request: {
    status: 'pending' as const,
    approvedUntil: null,
    requestedAt: before(ms),
    ...more,
  },
})

describe('a machine that claims to be a device', () => {
  it('waits while the node key of the device is alive', () => {
    expect(judge()).toBe('held: live_node_key')
    expect(judge({ lastSeenAt: before(ALIVE_MS - 1) })).toBe('held: live_node_key')
    expect(judge({ lastSeenAt: null, enrolledAt: before(MINUTE_MS) })).toBe('held: live_node_key')
  })

  it('is let in once the key has been silent, or has ended', () => {
    expect(judge(SILENT)).toBe('node_key_silent')
    expect(judge({ nodeKeyHash: null })).toBe('node_key_ended')
  })

  it('waits for good when the key was used after it had asked', () => {
    expect(judge(SILENT, asked(ALIVE_MS + 1))).toBe('held: live_node_key')
    expect(judge(SILENT, asked(ALIVE_MS))).toBe('node_key_silent')
  })

  it('is let in with the node key itself, and with no other', () => {
    expect(judge({}, { nodeKeyHash: Buffer.from(KEY) })).toBe('node_key_proven')
    expect(judge({}, { nodeKeyHash: Buffer.alloc(32, 2) })).toBe('held: live_node_key')
    expect(judge({ nodeKeyHash: null, lastSeenAt: null }, { nodeKeyHash: KEY })).toBe(
      'node_key_ended',
    )
  })

  it('is let in again from the address that the key went to, for an hour and until the key is used', () => {
    const fresh = { enrolledAt: before(MINUTE_MS), lastSeenAt: before(MINUTE_MS) }
    expect(judge(fresh, { ipAddress: '192.0.2.1' })).toBe('node_key_unused')
    expect(judge(fresh)).toBe('held: live_node_key')
    const late = { enrolledAt: before(HOUR_MS), lastSeenAt: null }
    expect(judge(late, { ipAddress: '192.0.2.1' })).toBe('held: live_node_key')
    expect(judge({ ...fresh, lastSeenAt: AT }, { ipAddress: '192.0.2.1' })).toBe(
      'held: live_node_key',
    )
  })

  it('is let in with a secret of the owner, and never with that of somebody else', () => {
    expect(judge({ ownerPersonId: '1' }, { secretPersonId: '1' })).toBe('owners_secret')
    for (const host of [{}, SILENT, { nodeKeyHash: null }]) {
      expect(judge({ ownerPersonId: '1', ...host }, { secretPersonId: '2' })).toBe(
        'held: other_owner',
      )
    }
    expect(judge({}, { secretPersonId: '2' })).toBe('held: live_node_key')
    expect(judge(SILENT, { secretPersonId: '2' })).toBe('node_key_silent')
  })

  it('is let in by an approval while it holds', () => {
    const approved = (until: Date) => asked(MINUTE_MS, { status: 'approved', approvedUntil: until })
    expect(judge({}, approved(before(-1)))).toBe('approved')
    expect(judge({ ownerPersonId: '1' }, { secretPersonId: '2', ...approved(before(-1)) })).toBe(
      'approved',
    )
    expect(judge({}, approved(AT))).toBe('held: live_node_key')
  })

  it('is kept out by a denial, unless it has the node key', () => {
    const denied = asked(30 * DAY_MS, { status: 'denied' })
    expect(judge(SILENT, denied)).toBe('held: live_node_key')
    expect(judge({ nodeKeyHash: null }, denied)).toBe('held: live_node_key')
    expect(judge({ ownerPersonId: '1' }, { secretPersonId: '1', ...denied })).toBe(
      'held: live_node_key',
    )
    expect(judge(SILENT, { nodeKeyHash: KEY, ...denied })).toBe('node_key_proven')
  })
})

import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { MasterKey } from '../../../platform/secrets/master-key.ts'
import { holderOf, openFixLink, signFixLink } from './fix-link.ts'

const NOW = new Date('2026-11-23T10:00:00Z')
const HOUR = 3_600_000
const newKey = (): MasterKey => ({ secret: randomBytes(32), id: randomBytes(8) })
const keys = { current: newKey(), previous: [] }
const holder = holderOf({ ownerPersonId: '9', registeredAt: NOW })
const link = { issueId: '17', deviceId: '4', holder, expiresAt: new Date(NOW.getTime() + HOUR) }

describe('a link', () => {
  const token = signFixLink(link, keys)

  it('says what it is for', () => {
    expect(openFixLink(token, keys, NOW)).toEqual(link)
    const ofNobody = { ...link, holder: holderOf({ ownerPersonId: null, registeredAt: null }) }
    expect(openFixLink(signFixLink(ofNobody, keys), keys, NOW)).toEqual(ofNobody)
  })

  it('holds after the master key was changed, for as long as the former one is known', () => {
    const next = { current: newKey(), previous: [keys.current] }
    expect(openFixLink(token, next, NOW)).toEqual(link)
    expect(() => openFixLink(token, { ...next, previous: [] }, NOW)).toThrow('none of this service')
  })

  it('expires', () => {
    expect(() => openFixLink(token, keys, link.expiresAt)).toThrow('expired')
  })

  it('is refused with any byte changed, cut, or made by somebody else', () => {
    const bytes = Buffer.from(token, 'base64url')
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => openFixLink(changed.toString('base64url'), keys, NOW)).toThrow('none of this')
    }
    const foreign = signFixLink(link, { current: newKey(), previous: [] })
    for (const text of ['', 'x', token.slice(0, -4), `${token}AAAA`, foreign, 'A'.repeat(10_000)]) {
      expect(() => openFixLink(text, keys, NOW)).toThrow('none of this')
    }
  })
})

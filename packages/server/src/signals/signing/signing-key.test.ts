import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../platform/clock.ts'
import {
  findGeneralKey,
  findPendingKey,
  findPreviousKey,
  stateOfKey,
  type SigningKeyLife,
} from './signing-key.ts'

const now = new Date('2026-01-02T03:04:05Z')
const inDays = (days: number) => new Date(now.getTime() + days * DAY_MS)

/** A key that was announced a day ahead. */
function keyFrom(days: number, changes: Partial<SigningKeyLife> = {}): SigningKeyLife {
  const from = inDays(days)
  const key = {
    kid: `from ${days}`,
    createdAt: inDays(days - 1),
    activeFrom: from,
    generalFrom: from,
  }
  return { ...key, retiredAt: null, rolledBackAt: null, revokedAt: null, ...changes }
}

describe('the key in general use', () => {
  it('is the last whose time has come, whatever their order', () => {
    for (const days of [
      [-3, -1, 1],
      [1, -1, -3],
    ]) {
      expect(
        findGeneralKey(
          days.map((day) => keyFrom(day)),
          now,
        )?.kid,
      ).toBe('from -1')
    }
  })

  it('is the first of them while the clock is behind all, so that signing goes on', () => {
    const replaced = keyFrom(1, { retiredAt: inDays(8) })
    const keys = [keyFrom(9), keyFrom(2), keyFrom(1, { revokedAt: now }), keyFrom(5), replaced]
    const key = findGeneralKey(keys, now)
    expect(key?.kid).toBe('from 2')
    expect(keys.map((one) => stateOfKey(one, keys, now))).toEqual([
      'published',
      'active',
      'retired',
      'published',
      'retiring',
    ])
    expect(findPendingKey([replaced], now)).toBeUndefined()
    expect(findPreviousKey(keys, 'from 9', now)).toBeUndefined()
  })

  it('that was made to sign at once is not pending before its time, and is the one that a rotation replaces', () => {
    const atOnce = keyFrom(3, { createdAt: inDays(3) })
    expect(findPendingKey([atOnce], now)).toBeUndefined()
    expect(findGeneralKey([atOnce], now)).toBe(atOnce)
  })

  it('is none that was given up, and none that nobody planned for all', () => {
    const given = [keyFrom(-1, { rolledBackAt: now }), keyFrom(-2, { retiredAt: inDays(-1) })]
    expect(findGeneralKey([...given, keyFrom(-1, { generalFrom: null })], now)).toBeUndefined()
  })
})

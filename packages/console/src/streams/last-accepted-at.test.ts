import { describe, expect, it } from 'vitest'
import { lastAcceptedAt } from './last-accepted-at.ts'

describe('lastAcceptedAt', () => {
  it('is told by the keys where the receiver fetches its events', () => {
    const signing_keys = [
      { last_accepted_at: null },
      { last_accepted_at: '2026-11-27T01:00:00.000Z' },
      { last_accepted_at: '2026-11-26T23:00:00.000Z' },
    ]
    expect(lastAcceptedAt({ last_success_at: null, signing_keys })).toBe('2026-11-27T01:00:00.000Z')
  })

  it('is null where nothing was accepted yet', () => {
    expect(lastAcceptedAt({ last_success_at: null, signing_keys: [] })).toBeNull()
  })
})

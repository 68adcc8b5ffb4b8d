import { describe, expect, it } from 'vitest'
import { ActiveClaims, ClaimShares } from './active-claims.ts'
import type { ClaimedDelivery } from './delivery-channel.ts'
import { DEFAULT_DELIVERY_SETTINGS } from './delivery-settings.ts'

function sharesOf(claimedByAllMax: number): ClaimShares {
  return new ClaimShares({
    ...DEFAULT_DELIVERY_SETTINGS,
    claimSize: 20,
    claimedMax: 80,
    claimedByAllMax,
    claimedMin: 8,
  })
}

function finish(claims: ActiveClaims, claimId: string, count: number): void {
  for (let ended = 0; ended < count; ended += 1) claims.finish({ claimId } as ClaimedDelivery)
}

describe('active claims', () => {
  it('of one destination leave room for claims of the usual size up to its limit', () => {
    const claims = new ActiveClaims(sharesOf(160))
    for (const id of ['a', 'b', 'c']) claims.add(id, 20)
    expect(claims.room).toBe(20)
    claims.add('d', 15)
    expect(claims.room).toBe(0)
    finish(claims, 'a', 15)
    expect(claims.room).toBe(20)
    expect(claims.claimIds()).toEqual(['a', 'b', 'c', 'd'])
  })

  it('of several share what the process may have, by smaller claims, and each has a little in any case', () => {
    const shares = sharesOf(160)
    const destinations = Array.from({ length: 40 }, () => new ActiveClaims(shares))
    for (const claims of destinations.slice(0, 4)) claims.add('first', 10)
    expect(destinations[0]?.room).toBe(10)
    destinations[0]?.add('second', 21)
    expect(destinations[0]?.room).toBe(0)
    for (const claims of destinations.slice(4)) claims.add('first', 1)
    expect(destinations[39]?.room).toBe(2)
    destinations[39]?.add('second', 6)
    expect(destinations[39]?.room).toBe(0)
  })

  it('that have ended leave their share to the others', () => {
    const shares = sharesOf(160)
    const [one, ...others] = Array.from({ length: 4 }, () => new ActiveClaims(shares))
    one?.add('one', 31)
    for (const claims of others) claims.add('other', 5)
    expect(one?.room).toBe(0)
    for (const claims of others) finish(claims, 'other', 5)
    expect(one?.room).toBe(20)
  })
})

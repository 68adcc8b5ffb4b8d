import { describe, expect, it } from 'vitest'
import { ActiveClaims, ClaimShares } from './active-claims.ts'
import type { ClaimedDelivery } from './delivery-channel.ts'
import { DEFAULT_DELIVERY_SETTINGS } from './delivery-settings.ts'

function createShares(): ClaimShares {
  return new ClaimShares({
    ...DEFAULT_DELIVERY_SETTINGS,
    claimSize: 20,
    claimedMax: 80,
    claimedByAllMax: 160,
    claimedMin: 8,
  })
}

function createClaims(count: number, shares = createShares()): ActiveClaims[] {
  return Array.from({ length: count }, () => new ActiveClaims(shares))
}

function finish(claims: ActiveClaims, claimId: string, count: number): void {
  for (let ended = 0; ended < count; ended += 1) claims.finish({ claimId } as ClaimedDelivery)
}

describe('active claims', () => {
  it('of one destination leave room for claims of the usual size up to its limit', () => {
    const claims = new ActiveClaims(createShares())
    for (const id of ['a', 'b', 'c']) claims.add(id, 20)
    expect(claims.room).toBe(20)
    claims.add('d', 15)
    expect(claims.room).toBe(0)
    finish(claims, 'a', 15)
    expect(claims.room).toBe(20)
    expect(claims.claimIds()).toEqual(['a', 'b', 'c', 'd'])
  })

  it('of several share what the process may have, by smaller claims', () => {
    const [one, ...others] = createClaims(4)
    for (const claims of others) claims.add('first', 10)
    expect(one?.room).toBe(10)
    one?.add('first', 31)
    expect(one?.room).toBe(0)
    expect(others[0]?.room).toBe(10)
  })

  it('count from when they are asked for, since many may begin before any is answered', () => {
    const all = createClaims(40)
    let asked = 0
    for (const claims of all) {
      const { room } = claims
      claims.ask(room)
      asked += room
    }
    expect(asked).toBeLessThanOrEqual(160 + 40 * 4)
    for (const claims of all) expect(claims.room).toBe(4)
    for (const claims of all.slice(1)) claims.endAsking()
    expect(all[0]?.room).toBe(20)
  })

  it('of very many are of half the least share or more, since a claim of few makes each of them dear', () => {
    const [one, ...others] = createClaims(20)
    for (const claims of others) claims.add('first', 6)
    expect(one?.room).toBe(8)
    one?.add('first', 8)
    finish(one as ActiveClaims, 'first', 3)
    expect(one?.room).toBe(0)
    finish(one as ActiveClaims, 'first', 1)
    expect(one?.room).toBe(4)
    finish(one as ActiveClaims, 'first', 2)
    expect(one?.room).toBe(6)
  })

  it('end where all is taken, but for a little of whoever has nothing', () => {
    const [one, other, last] = createClaims(3)
    for (const claims of [one, other]) claims?.add('all', 80)
    expect(last?.room).toBe(8)
    last?.add('little', 8)
    expect(last?.room).toBe(0)
    finish(last as ActiveClaims, 'little', 7)
    expect(last?.room).toBe(0)
    finish(last as ActiveClaims, 'little', 1)
    expect(last?.room).toBe(8)
  })

  it('that have ended leave their share to the others', () => {
    const [one, ...others] = createClaims(4)
    one?.add('one', 31)
    for (const claims of others) claims.add('other', 5)
    expect(one?.room).toBe(0)
    for (const claims of others) finish(claims, 'other', 5)
    expect(one?.room).toBe(20)
  })
})

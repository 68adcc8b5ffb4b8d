import { describe, expect, it } from 'vitest'
import type { ClaimedDelivery } from './delivery-channel.ts'
import { SubjectPartitions, type PreparedDelivery } from './subject-partitions.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

function item(id: string, subjectKey: string | null): PreparedDelivery {
  const delivery: ClaimedDelivery = {
    id,
    destinationId: '1' as DestinationId,
    claimId: 'claim',
    leaseEndsMs: 0,
    eventId: id,
    eventType: 'test',
    subjectKey,
    body: '',
    signingKid: null,
    token: null,
    attemptCount: 0,
    wasAccepted: false,
    createdAt: new Date(0),
  }
  return { delivery, prepared: { token: null, request: { url: '', method: 'POST' } } }
}

function takeReady(partitions: SubjectPartitions): string[] {
  const ids: string[] = []
  for (let next = partitions.next(); next !== undefined; next = partitions.next())
    ids.push(next.delivery.id)
  return ids
}

describe('subject partitions', () => {
  it('lets one delivery of a subject go at a time, and all without a subject', () => {
    const partitions = new SubjectPartitions()
    const [a1, a2, b1] = [item('a1', 'a'), item('a2', 'a'), item('b1', 'b')]
    for (const next of [a1, a2, b1, item('x', null), item('y', null)]) partitions.add(next, 1)
    expect(takeReady(partitions)).toEqual(['a1', 'b1', 'x', 'y'])
    partitions.finish(a1.delivery)
    expect(takeReady(partitions)).toEqual(['a2'])
  })

  it('drops those that wait behind a failed one, and refuses new ones while blocked', () => {
    const partitions = new SubjectPartitions()
    const [a1, a2] = [item('a1', 'a'), item('a2', 'a')]
    partitions.add(a1, 1)
    partitions.add(a2, 1)
    takeReady(partitions)
    const until = 5_000
    partitions.block('a', until)
    expect(partitions.drop(a1.delivery)).toEqual([a2.delivery])
    expect(partitions.add(item('a3', 'a'), 1)).toEqual(until)
    partitions.unblock('a', 0)
    expect(partitions.add(item('a1', 'a'), 1)).toBeUndefined()
  })

  it('gives up what is not in flight of a subject whose earlier delivery is to be sent again, ready or not', () => {
    const partitions = new SubjectPartitions()
    const [a1, a2, a3] = [item('a1', 'a'), item('a2', 'a'), item('a3', 'a')]
    for (const next of [a1, a2, a3, item('b1', 'b'), item('x', null)]) partitions.add(next, 1)
    expect(partitions.next()).toBe(a1)
    partitions.finish(a1.delivery)
    expect(partitions.dropUnsent(a1.delivery)).toEqual([a2.delivery, a3.delivery])
    for (const next of [a2, a3]) partitions.add(next, 1)
    expect(takeReady(partitions)).toEqual(['b1', 'x', 'a2'])
    expect(partitions.dropUnsent(a1.delivery)).toEqual([a3.delivery])
    partitions.finish(a2.delivery)
    expect(partitions.dropUnsent(a1.delivery)).toEqual([])
    expect(partitions.dropUnsent(item('x', null).delivery)).toEqual([])
    expect(partitions.readyCount).toBe(0)
  })

  it('stays blocked until every reason has ended', () => {
    const partitions = new SubjectPartitions()
    partitions.block('a', 1_000)
    partitions.block('a', 9_000)
    partitions.unblock('a', 0)
    expect(partitions.add(item('a1', 'a'), 1)).toEqual(9_000)
    partitions.unblock('a', 0)
    expect(partitions.add(item('a1', 'a'), 1)).toBeUndefined()
  })

  it('clears everything that is not in flight', () => {
    const partitions = new SubjectPartitions()
    const flying = item('a1', 'a')
    partitions.add(flying, 1)
    takeReady(partitions)
    for (const next of [item('a2', 'a'), item('b1', 'b'), item('b2', 'b'), item('x', null)]) {
      partitions.add(next, 1)
    }
    const cleared = partitions.clear().map(({ id }) => id)
    expect(cleared.sort()).toEqual(['a2', 'b1', 'b2', 'x'])
    partitions.finish(flying.delivery)
    expect(takeReady(partitions)).toEqual([])
  })

  it('clears all but what is to be kept, which stays ready', () => {
    const partitions = new SubjectPartitions()
    for (const next of [item('x', null), item('y', null), item('a1', 'a')]) partitions.add(next, 1)
    expect(partitions.clear(({ id }) => id === 'y').map(({ id }) => id)).toEqual(['x', 'a1'])
    expect(takeReady(partitions)).toEqual(['y'])
  })

  it('refuses what a claim brings that began before the block ended', () => {
    const partitions = new SubjectPartitions()
    partitions.block('a', 1_000)
    // Claims 1 and 2 are under way when the block ends.
    partitions.unblock('a', 2)
    expect(partitions.add(item('a1', 'a'), 1)).toEqual(1_000)
    partitions.endClaim(1)
    expect(partitions.add(item('a1', 'a'), 2)).toEqual(1_000)
    partitions.endClaim(2)
    expect(partitions.add(item('a1', 'a'), 3)).toBeUndefined()
  })

  it('refuses whatever claims bring that had begun when its target changed, also without a subject', () => {
    const partitions = new SubjectPartitions()
    partitions.add(item('a1', 'a'), 1)
    partitions.refuseClaims(2)
    expect(partitions.add(item('a2', 'a'), 2)).toBeLessThanOrEqual(performance.now())
    expect(partitions.add(item('x', null), 2)).toBeLessThanOrEqual(performance.now())
    expect(partitions.add(item('b1', 'b'), 3)).toBeUndefined()
    expect(takeReady(partitions)).toEqual(['a1', 'b1'])
  })
})

import { describe, expect, it } from 'vitest'
import type { ClaimedDelivery } from './delivery-channel.ts'
import { SubjectLanes, type HandItem } from './subject-lanes.ts'

function item(id: string, subjectKey: string | null): HandItem {
  const delivery: ClaimedDelivery = {
    id,
    destinationId: '1',
    claimId: 'claim',
    claimExpiresAt: new Date(0),
    eventId: id,
    eventType: 'test',
    subjectKey,
    body: '',
    signingKid: null,
    token: null,
    attemptCount: 0,
    createdAt: new Date(0),
  }
  return { delivery, prepared: { token: null, request: { url: '', method: 'POST' } } }
}

function takeReady(lanes: SubjectLanes): string[] {
  const ids: string[] = []
  for (let next = lanes.next(); next !== undefined; next = lanes.next()) ids.push(next.delivery.id)
  return ids
}

describe('subject lanes', () => {
  it('lets one delivery of a subject go at a time, and all without a subject', () => {
    const lanes = new SubjectLanes()
    const [a1, a2, b1] = [item('a1', 'a'), item('a2', 'a'), item('b1', 'b')]
    for (const next of [a1, a2, b1, item('x', null), item('y', null)]) lanes.add(next, 1)
    expect(takeReady(lanes)).toEqual(['a1', 'b1', 'x', 'y'])
    lanes.finish(a1.delivery)
    expect(takeReady(lanes)).toEqual(['a2'])
  })

  it('takes those that wait behind a failed one out of hand, and refuses new ones while held', () => {
    const lanes = new SubjectLanes()
    const [a1, a2] = [item('a1', 'a'), item('a2', 'a')]
    lanes.add(a1, 1)
    lanes.add(a2, 1)
    takeReady(lanes)
    const until = new Date(5_000)
    lanes.hold('a', until)
    expect(lanes.drop(a1.delivery)).toEqual([a2])
    expect(lanes.add(item('a3', 'a'), 1)).toEqual(until)
    lanes.unhold('a', 0)
    expect(lanes.add(item('a1', 'a'), 1)).toBeUndefined()
  })

  it('stays held until every reason has ended', () => {
    const lanes = new SubjectLanes()
    lanes.hold('a', new Date(1_000))
    lanes.hold('a', new Date(9_000))
    lanes.unhold('a', 0)
    expect(lanes.add(item('a1', 'a'), 1)).toEqual(new Date(9_000))
    lanes.unhold('a', 0)
    expect(lanes.add(item('a1', 'a'), 1)).toBeUndefined()
  })

  it('clears everything that is not in flight', () => {
    const lanes = new SubjectLanes()
    const flying = item('a1', 'a')
    lanes.add(flying, 1)
    takeReady(lanes)
    for (const next of [item('a2', 'a'), item('b1', 'b'), item('b2', 'b'), item('x', null)]) {
      lanes.add(next, 1)
    }
    expect(
      lanes
        .clear()
        .map(({ delivery }) => delivery.id)
        .sort(),
    ).toEqual(['a2', 'b1', 'b2', 'x'])
    lanes.finish(flying.delivery)
    expect(takeReady(lanes)).toEqual([])
  })

  it('refuses what a claim brings that began before the hold ended', () => {
    const lanes = new SubjectLanes()
    lanes.hold('a', new Date(1_000))
    // Claims 1 and 2 are under way when the hold ends.
    lanes.unhold('a', 2)
    expect(lanes.add(item('a1', 'a'), 1)).toEqual(new Date(1_000))
    lanes.endClaim(1)
    expect(lanes.add(item('a1', 'a'), 2)).toEqual(new Date(1_000))
    lanes.endClaim(2)
    expect(lanes.add(item('a1', 'a'), 3)).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import { EventTally } from './event-tally.ts'
import type { VerifiedEvent } from './verified-event.ts'

function anEvent(changes: Partial<VerifiedEvent> = {}): VerifiedEvent {
  return {
    method: 'push',
    receivedAtMs: 1_767_323_045_000,
    jti: 'event-1',
    deviceId: '7',
    previousStatus: 'compliant',
    currentStatus: 'not-compliant',
    kind: 'device-compliance-change',
    latencyMs: 20,
    ...changes,
  }
}

describe('the tally of received events', () => {
  it('is complete only when both methods have brought an event', () => {
    const tally = new EventTally()
    expect(tally.isComplete).toBe(false)
    tally.addVerified(anEvent())
    expect(tally.isComplete).toBe(false)
    tally.addVerified(anEvent({ method: 'poll' }))
    expect(tally.isComplete).toBe(true)
  })

  it('does not count a refused token as verified', () => {
    const tally = new EventTally()
    tally.addRefused('authentication_failed')
    tally.addRefused('invalid_key')
    tally.addRefused('invalid_audience')
    const summary = tally.summarise()
    expect(summary).toMatchObject({ badSignatures: 2, otherRefusals: 1 })
    expect(summary.verified).toEqual({ push: 0, poll: 0 })
  })

  it('gives latencies of each method by nearest rank, whatever the order of arrival', () => {
    const tally = new EventTally()
    for (let ms = 100; ms >= 1; ms -= 1) tally.addVerified(anEvent({ latencyMs: ms }))
    tally.addVerified(anEvent({ method: 'poll', latencyMs: 700 }))
    expect(tally.summarise().latency).toEqual({
      push: { p50Ms: 50, p99Ms: 99 },
      poll: { p50Ms: 700, p99Ms: 700 },
    })
  })

  it('leaves events without a latency out of the latencies, not out of the count', () => {
    const tally = new EventTally()
    tally.addVerified(anEvent({ latencyMs: undefined }))
    const { verified, latency } = tally.summarise()
    expect(verified.push).toBe(1)
    expect(latency.push).toEqual({ p50Ms: undefined, p99Ms: undefined })
  })
})

import { describe, expect, it } from 'vitest'
import { listEnded, listShownRequestless, REQUESTLESS_MAX } from './judge-requestless.ts'
import type { ProbeArrival } from './probe-arrival-store.ts'

const ANSWERED_AT = new Date('2026-01-01T12:00:00Z')

const ASKED = { endedBefore: new Set<string>(), answeredAt: ANSWERED_AT, isComplete: true }

const arrival = (changes: Partial<ProbeArrival> = {}): ProbeArrival => ({
  ...{ id: '1', proofId: 'p', attemptId: '1', port: 47_000, kind: 'idle', reason: null },
  ...{ ipAddress: '192.0.2.1', clientPort: 50_000, serviceAddress: '198.51.100.1' },
  arrivedAt: new Date(ANSWERED_AT.getTime() - 1000),
  ...changes,
})

const isShown = (one: ProbeArrival, before: readonly ProbeArrival[] = []) =>
  listShownRequestless([one], { ...ASKED, endedBefore: listEnded(before) }).length === 1

const later = (ms: number) => new Date(ANSWERED_AT.getTime() + ms)

describe('a connection without a request counts', () => {
  it.each([
    ['that is still there', arrival()],
    ['that ended after the device was asked', arrival({ reason: 'ended' })],
    ['of which a process may have learned late', arrival({ arrivedAt: later(200) })],
    [
      'that leads to a proxy, whenever it came',
      arrival({ reason: 'proxied', arrivedAt: later(500) }),
    ],
  ])('%s', (_, one) => {
    expect(isShown(one)).toBe(true)
  })

  it.each([
    ['that had ended before', arrival({ reason: 'ended' }), [arrival({ reason: 'ended' })]],
    ['that began after the answer', arrival({ arrivedAt: later(300) }), []],
    ['that is the request of the browser', arrival({ kind: 'counted' }), []],
  ])('not one %s', (_, one, before) => {
    expect(isShown(one, before)).toBe(false)
  })

  describe('beside a request of the browser', () => {
    const request = arrival({ id: '2', kind: 'counted', arrivedAt: later(-500) })
    const areShown = (one: ProbeArrival) => listShownRequestless([one, request], ASKED)

    it('unless it is that of the request, which came late', () => {
      expect(areShown(arrival())).toEqual([])
    })

    it.each([
      ['from another address', { ipAddress: '192.0.2.2' }],
      ['from another port', { clientPort: 50_001 }],
      ['to another address', { serviceAddress: '198.51.100.2' }],
      ['to another port', { port: 47_001 }],
      ['that has ended, so that its port may be that of another by now', { reason: 'ended' }],
      ['that leads to a proxy', { reason: 'proxied' }],
      ['that began after the request', { arrivedAt: later(-400) }],
    ])('one %s', (_, changes) => {
      expect(areShown(arrival(changes))).toHaveLength(1)
    })
  })

  it('that was there when the device was asked, and has ended since', () => {
    expect(isShown(arrival({ reason: 'ended' }), [arrival()])).toBe(true)
  })

  it('of very many each', () => {
    const many = Array.from({ length: REQUESTLESS_MAX }, (_, at) =>
      arrival({ id: String(at), reason: 'ended' }),
    )
    const asking = { ...ASKED, endedBefore: listEnded(many) }
    expect(listShownRequestless(many, asking)).toHaveLength(REQUESTLESS_MAX)
    expect(listShownRequestless(many.slice(1), asking)).toHaveLength(0)
  })

  it('of which others could not be noted each', () => {
    const ended = arrival({ reason: 'ended' })
    const asking = { ...ASKED, endedBefore: listEnded([ended]), isComplete: false }
    expect(listShownRequestless([ended], asking)).toEqual([ended])
  })
})

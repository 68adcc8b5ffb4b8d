import { describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import {
  FAILURES_TO_OPEN,
  isCircuitOpen,
  updateHealth,
  type DestinationHealth,
  type HealthReport,
} from './circuit-breaker.ts'

const healthy: DestinationHealth = {
  retryNotBefore: null,
  consecutiveFailures: 0,
  failingSince: null,
  lastSuccessAt: null,
}
const start = new Date('2026-01-02T03:04:05Z')
const middle = (): number => 0.5

function after(ms: number): Date {
  return new Date(start.getTime() + ms)
}

function report(overrides: Partial<HealthReport>): HealthReport {
  return {
    hasAnswered: false,
    hasSucceeded: false,
    trailingFailures: 0,
    pauseMs: 0,
    lastFailure: null,
    ...overrides,
  }
}

function fail(count: number, health = healthy, now = start): DestinationHealth {
  return updateHealth(health, report({ trailingFailures: count }), now, middle)
}

describe('circuit breaker', () => {
  it('stays closed below the threshold', () => {
    const health = fail(FAILURES_TO_OPEN - 1)
    expect(isCircuitOpen(health)).toBe(false)
    expect(health).toMatchObject({ retryNotBefore: null, failingSince: start })
  })

  it('opens at the threshold and probes at first after 5 s', () => {
    const health = fail(1, fail(FAILURES_TO_OPEN - 1))
    expect(isCircuitOpen(health)).toBe(true)
    expect(health.retryNotBefore).toEqual(after(5 * SECOND_MS))
  })

  it('probes at half the length of the outage, every 5 min at most', () => {
    const open = fail(FAILURES_TO_OPEN)
    expect(fail(1, open, after(2 * MINUTE_MS)).retryNotBefore).toEqual(after(3 * MINUTE_MS))
    const late = after(40 * HOUR_MS)
    const pauseMs = (random: () => number) => {
      const { retryNotBefore } = updateHealth(open, report({ trailingFailures: 1 }), late, random)
      return (retryNotBefore?.getTime() ?? 0) - late.getTime()
    }
    // The last of the jitter is never reached.
    expect(pauseMs(() => 1)).toBe(5 * MINUTE_MS)
    expect(pauseMs(() => 0)).toBeLessThan(4 * MINUTE_MS)
  })

  it('closes at the first success', () => {
    const success = report({ hasAnswered: true, hasSucceeded: true })
    expect(updateHealth(fail(50), success, after(1), middle)).toEqual({
      ...healthy,
      lastSuccessAt: after(1),
    })
  })

  it('closes when the receiver answers, though it refuses the event', () => {
    const refusal = report({ hasAnswered: true })
    expect(updateHealth(fail(50), refusal, after(1), middle)).toEqual(healthy)
  })

  it('counts from the last answer when a batch holds both', () => {
    const mixed = report({ hasAnswered: true, hasSucceeded: true, trailingFailures: 2 })
    expect(updateHealth(fail(50), mixed, after(1), middle)).toMatchObject({
      consecutiveFailures: 2,
      failingSince: after(1),
    })
  })

  it('pauses for a busy receiver, 5 min at most', () => {
    const busy = (pauseMs: number) =>
      updateHealth(healthy, report({ trailingFailures: 1, pauseMs }), start, middle).retryNotBefore
    expect(busy(30 * SECOND_MS)).toEqual(after(30 * SECOND_MS))
    expect(busy(24 * HOUR_MS)).toEqual(after(5 * MINUTE_MS))
  })
})

/*
 * When a destination is left alone. After FAILURES_TO_OPEN retryable failures in a row the circuit is
 * open: one delivery at a time probes it, at intervals that grow with the outage (half its length,
 * 5 s at least, 5 min at most). The first answer that is not a retryable failure closes it. A dead
 * receiver with a hundred thousand queued events thus costs some 14 requests an hour, and a receiver
 * that comes back is noticed within five minutes, or half its outage if that was short.
 */
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { JITTER_SHARE, withJitter, type RandomShare } from './retry-schedule.ts'

/** Few enough to spare a dead receiver, enough that a few bad answers among good ones do not open. */
export const FAILURES_TO_OPEN = 8

const PROBE_INTERVAL_MIN_MS = 5 * SECOND_MS
/** With jitter; without it the intervals stop growing before. */
const PROBE_INTERVAL_MAX_MS = 5 * MINUTE_MS
/** A busy receiver may pause its destination for this long at a time; it is probed afterwards. */
const OVERLOAD_PAUSE_MAX_MS = 5 * MINUTE_MS

/** What is known about a destination's receiver. */
export interface DestinationHealth {
  readonly retryNotBefore: Date | null
  readonly consecutiveFailures: number
  readonly failingSince: Date | null
  readonly lastSuccessAt: Date | null
}

/** What a batch of outcomes of one destination says about its receiver, in their order. */
export interface HealthReport {
  /** Whether any answer was not a retryable failure. */
  readonly hasAnswered: boolean
  readonly hasSucceeded: boolean
  /** Retryable failures since the last answer that was none. */
  readonly trailingFailures: number
  /** The longest pause that a busy receiver asked for; 0 for none. */
  readonly pauseMs: number
  /** What went wrong last, in words; null when nothing did. */
  readonly lastFailure: string | null
}

/** Whether only single probes are sent. */
export function isCircuitOpen(health: Pick<DestinationHealth, 'consecutiveFailures'>): boolean {
  return health.consecutiveFailures >= FAILURES_TO_OPEN
}

/** The health after a batch of outcomes that was recorded at `now`. */
export function updateHealth(
  health: DestinationHealth,
  report: HealthReport,
  now: Date,
  random: RandomShare,
): DestinationHealth {
  const lastSuccessAt = report.hasSucceeded ? now : health.lastSuccessAt
  const earlier = report.hasAnswered ? 0 : health.consecutiveFailures
  const consecutiveFailures = earlier + report.trailingFailures
  if (consecutiveFailures === 0) {
    return { retryNotBefore: null, consecutiveFailures, failingSince: null, lastSuccessAt }
  }
  const failingSince = (report.hasAnswered ? null : health.failingSince) ?? now
  const pauseMs = Math.max(
    Math.min(report.pauseMs, OVERLOAD_PAUSE_MAX_MS),
    isCircuitOpen({ consecutiveFailures }) ? probeIntervalMs(failingSince, now, random) : 0,
  )
  const retryNotBefore = pauseMs > 0 ? new Date(now.getTime() + pauseMs) : null
  return { retryNotBefore, consecutiveFailures, failingSince, lastSuccessAt }
}

function probeIntervalMs(failingSince: Date, now: Date, random: RandomShare): number {
  const half = (now.getTime() - failingSince.getTime()) / 2
  const longest = PROBE_INTERVAL_MAX_MS / (1 + JITTER_SHARE)
  const bounded = Math.min(Math.max(half, PROBE_INTERVAL_MIN_MS), longest)
  return withJitter(bounded, random)
}

import type { Measurement } from './scenario.ts'
import type { LatencySummary } from './statistics.ts'

const P50_TARGET_MS = 30
const P99_TARGET_MS = 250

/** The lines of the report for a latency that has to be short for nearly everybody; details once. */
export function toLatencyMeasurements(
  what: string,
  latency: LatencySummary,
  details: Measurement['details'],
): Measurement[] {
  const line = (share: 'p50' | 'p99', targetMs: number): Measurement => ({
    what: `${what}, ${share}`,
    target: `< ${targetMs} ms`,
    measured: { value: latency[share], unit: 'ms' },
    limit: undefined,
    ratio: undefined,
    isReached: latency.count > 0 && latency[share] < targetMs,
    details: share === 'p50' ? details : {},
  })
  return [line('p50', P50_TARGET_MS), line('p99', P99_TARGET_MS)]
}

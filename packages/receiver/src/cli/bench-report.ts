/** What was seen of the events; times are in milliseconds. */
export interface BenchSamples {
  events: number
  verifications: number
  refused: number
  failures: number
  firstAtMs: number
  lastAtMs: number
  readonly sinceIssueMs: number[]
  readonly sinceEventMs: number[]
  readonly verifyMs: number[]
}

/** How values are spread. */
export interface Spread {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

/** What was measured, as `--json` prints it; what was not seen is null. */
export interface BenchReport {
  readonly seconds: number
  /** Different events that were verified. */
  readonly events: number
  /** Events that came again. */
  readonly repeats: number
  /** SETs that were refused. */
  readonly refused: number
  /** Requests that failed, and SETs that could not be judged. */
  readonly failures: number
  /** From the first event to the last. */
  readonly events_per_second: number | null
  /** From `iat` to receipt. */
  readonly since_issue_seconds: Spread | null
  /** From `event_timestamp` to receipt. */
  readonly since_event_seconds: Spread | null
  /** Waiting for a turn included. */
  readonly verify_under_load_ms: Spread | null
  /** One after the other, with nothing beside it; the mean. */
  readonly verify_alone_ms: number | null
}

/** Sums up what was seen. */
export function toBenchReport(
  samples: BenchSamples,
  elapsedMs: number,
  verifyAloneMs: number | undefined,
): BenchReport {
  const spanSeconds = (samples.lastAtMs - samples.firstAtMs) / 1000
  const rate = samples.events > 1 && spanSeconds > 0 ? (samples.events - 1) / spanSeconds : null
  return {
    seconds: round(elapsedMs / 1000),
    events: samples.events,
    repeats: Math.max(0, samples.verifications - samples.events),
    refused: samples.refused,
    failures: samples.failures,
    events_per_second: rate === null ? null : round(rate),
    since_issue_seconds: toSpread(samples.sinceIssueMs, 1000),
    since_event_seconds: toSpread(samples.sinceEventMs, 1000),
    verify_under_load_ms: toSpread(samples.verifyMs, 1),
    verify_alone_ms: verifyAloneMs === undefined ? null : round(verifyAloneMs),
  }
}

/** The report for people. */
export function toBenchText(report: BenchReport): string {
  const lines = [
    ['events', `${report.events}, repeats ${report.repeats}, refused ${report.refused}`],
    ['failures', String(report.failures)],
    ['events per second', report.events_per_second ?? 'too few events'],
    ['since issue (iat)', describeSpread(report.since_issue_seconds, 's')],
    ['since event_timestamp', describeSpread(report.since_event_seconds, 's')],
    ['verifying, under load', describeSpread(report.verify_under_load_ms, 'ms')],
    [
      'verifying, alone',
      report.verify_alone_ms === null ? 'not seen' : `${report.verify_alone_ms} ms`,
    ],
  ]
  return lines.map(([name, value]) => `${String(name).padEnd(23)}${value}\n`).join('')
}

/**
 * Sorts values into their quantiles; null when there are none.
 *
 * @param divisor Turns the unit of the values into that of the report.
 */
export function toSpread(values: readonly number[], divisor: number): Spread | null {
  if (values.length === 0) return null
  const sorted = Float64Array.from(values).sort()
  const quantile = (share: number) => {
    const index = Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)
    return round((sorted[Math.max(0, index)] ?? 0) / divisor)
  }
  return { p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99), max: quantile(1) }
}

function describeSpread(spread: Spread | null, unit: string): string {
  if (spread === null) return 'not seen'
  const { p50, p90, p99, max } = spread
  return `p50 ${p50} ${unit}, p90 ${p90} ${unit}, p99 ${p99} ${unit}, max ${max} ${unit}`
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}

/** The value below which `share` (0 to 1) of the values lie: nearest rank, no interpolation. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return atShare(sorted, share)
}

/** The middle value; of an even count, the lower of the two in the middle. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/**
 * The median of measured by limit, round by round: what changes on the machine between two rounds
 * changes both sides of a ratio.
 */
export function medianRatio(measured: readonly number[], limits: readonly number[]): number {
  return median(measured.map((value, round) => value / (limits[round] ?? NaN)))
}

export interface LatencySummary {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Count, median, 99th percentile and maximum; all 0 for no values. */
export function summariseLatencies(values: readonly number[]): LatencySummary {
  const sorted = Float64Array.from(values).sort()
  return {
    count: sorted.length,
    p50: atShare(sorted, 0.5),
    p99: atShare(sorted, 0.99),
    max: sorted.at(-1) ?? 0,
  }
}

function atShare(sorted: Float64Array, share: number): number {
  const rank = Math.max(1, Math.ceil(sorted.length * share))
  return sorted[rank - 1] ?? 0
}

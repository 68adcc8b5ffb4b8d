const GROWTH = 1.15
const BUCKETS = 120

/** Durations in milliseconds, kept in buckets that grow by 15 %. */
export interface LatencyHistogram {
  record(durationMs: number): void
  /** The duration that a share (0 to 1) of the recorded ones does not exceed; 0 without any. */
  quantileMs(share: number): number
  readonly count: number
}

/** An empty histogram that covers 0.05 ms to about 15 minutes. */
export function createLatencyHistogram(): LatencyHistogram {
  const buckets = new Array<number>(BUCKETS).fill(0)
  let count = 0
  return {
    record(durationMs) {
      const position = Math.ceil(Math.log(Math.max(durationMs, 0.05) / 0.05) / Math.log(GROWTH))
      const index = Math.min(BUCKETS - 1, position)
      buckets[index] = (buckets[index] ?? 0) + 1
      count += 1
    },
    quantileMs(share) {
      let seen = 0
      for (const [index, amount] of buckets.entries()) {
        seen += amount
        if (amount > 0 && seen >= share * count) return Number((0.05 * GROWTH ** index).toFixed(2))
      }
      return 0
    },
    get count() {
      return count
    },
  }
}

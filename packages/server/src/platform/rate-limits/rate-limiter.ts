/*
 * How often callers may do what they do: buckets that all processes count in together.
 */

/** The length of the window that every limit of the API counts in. */
export const RATE_LIMIT_WINDOW_SECONDS = 60

/** The outcome of one request against its bucket. */
export interface RateLimitDecision {
  readonly isAllowed: boolean
  /** Requests that the bucket accepts in any window. */
  readonly limit: number
  /** Requests that it would accept now. */
  readonly remaining: number
  /** When the oldest counted request leaves the window, and with it one more is accepted; rounded up. */
  readonly resetEpochSeconds: number
  /** Whole seconds until then, at least 1. */
  readonly resetSeconds: number
}

/** Counts accepted requests per bucket, over all processes of the service. */
export interface RateLimiter {
  /**
   * Takes one place of the bucket if one is free. A refused request takes none. The window of a bucket is always
   * the same, {@link RATE_LIMIT_WINDOW_SECONDS} where none is named and ten minutes at most: buckets that nobody
   * used for longer are forgotten.
   */
  take(bucket: string, capacity: number, windowSeconds?: number): Promise<RateLimitDecision>
}

/** What became of several places of a bucket that were asked for at once, as `take_rate_places` answers it. */
export interface TakenPlaces {
  readonly accepted: number
  /** Places that are free after it. */
  readonly remaining: number
  readonly reset_epoch_seconds: number
  readonly reset_seconds: number
}

/** The bucket of an authenticated caller. */
export function callerBucket(kind: string, id: string): string {
  return `${kind}:${id}`
}

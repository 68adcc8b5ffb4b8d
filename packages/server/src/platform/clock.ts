/** Tells the time. Passed in everywhere, so that tests decide what time it is. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/**
 * Whether a time is to come that was set `aheadMsMax` ahead at the most. One that is farther away is of a clock
 * that has been set back since: waiting for it would last for as long as the clock lost.
 */
export function isStillAhead(timeMs: number, nowMs: number, aheadMsMax: number): boolean {
  return timeMs > nowMs && timeMs - nowMs <= aheadMsMax
}

/** Whole seconds since the epoch, rounded down: the NumericDate of RFC 7519 section 2. */
export function toEpochSeconds(time: Date): number {
  return Math.floor(time.getTime() / SECOND_MS)
}

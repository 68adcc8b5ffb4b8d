/*
 * When a result is too old to be believed. Results keep the status that they were given: whoever shows
 * one reads it by this time. Counters and issues stay as they are, since a device that is silent has
 * not become healthy or broken.
 */
/** How many intervals in a row a device may miss before its results are stale. */
export const STALE_AFTER_INTERVALS = 24

/** Results of runs before this time are stale. */
export function staleBefore(now: Date, checkIntervalMs: number): Date {
  return new Date(now.getTime() - STALE_AFTER_INTERVALS * checkIntervalMs)
}

import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'

/** Ten attempts over 52 hours: at once, then after these delays. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  1 * MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
]

/** Each delay is lengthened or shortened by up to this share, so that retries do not come in waves. */
export const JITTER_SHARE = 0.2

/** A receiver cannot put a delivery off for longer than this at a time. */
export const RETRY_AFTER_MAX_MS = 24 * HOUR_MS

/** Answers a number from 0 (inclusive) to 1 (exclusive). */
export type RandomShare = () => number

/** The delay with jitter, in whole milliseconds. */
export function withJitter(delayMs: number, random: RandomShare): number {
  return Math.round(delayMs * (1 - JITTER_SHARE + 2 * JITTER_SHARE * random()))
}

/** What lengthens a wait, in milliseconds; nothing shortens it. */
export interface RetryBounds {
  /** What the receiver asks for; as much as `RETRY_AFTER_MAX_MS` is granted. */
  readonly retryAfterMs?: number | undefined
  /** The least that the channel waits. */
  readonly floorMs?: number | undefined
}

/**
 * The wait before the next attempt after `attemptCount` attempts have failed, or undefined when there
 * is none left.
 */
export function findRetryDelayMs(
  retryDelaysMs: readonly number[],
  attemptCount: number,
  { retryAfterMs = 0, floorMs = 0 }: RetryBounds,
  random: RandomShare,
): number | undefined {
  const delayMs = retryDelaysMs[attemptCount - 1]
  if (delayMs === undefined) return undefined
  return Math.max(
    withJitter(delayMs, random),
    Math.min(retryAfterMs, RETRY_AFTER_MAX_MS),
    // Above the floor too, or all that waits for it would come at once.
    Math.round(floorMs * (1 + JITTER_SHARE * random())),
  )
}

/**
 * Reads a `Retry-After` header: seconds or an HTTP date (RFC 9110 section 10.2.3). Undefined when it
 * is absent, unreadable or past.
 */
export function parseRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined
  const text = value.trim()
  if (/^\d{1,9}$/.test(text)) return positive(Number(text) * SECOND_MS)
  // Only the form with a zone: Date.parse would take much else.
  if (!/^[A-Za-z]{3,9},? .* GMT$/.test(text)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : positive(time - now.getTime())
}

function positive(ms: number): number | undefined {
  return ms > 0 ? ms : undefined
}

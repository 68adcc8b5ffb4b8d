import type { FastifyReply } from 'fastify'
import ipaddr from 'ipaddr.js'
import { AppError } from '../app-error.ts'

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

/** The bucket of an authenticated caller. */
export function callerBucket(kind: string, id: string): string {
  return `${kind}:${id}`
}

/**
 * The bucket of the failed authentications of an address. Of an IPv6 address the first 64 bits count:
 * the rest is free for its owner to choose.
 */
export function addressBucket(address: string): string {
  if (!ipaddr.isValid(address)) return `address:${address}`
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return `address:${parsed.toString()}`
  const network = parsed.parts.slice(0, 4).map((group) => group.toString(16))
  return `address:${network.join(':')}::/64`
}

/**
 * Writes the limit into an answer: the four documented headers in their documented spelling, and the
 * structured fields of draft-ietf-httpapi-ratelimit-headers-10 beside them (`RateLimit` and
 * `RateLimit-Limit` are different names, so the two sets do not clash).
 *
 * All four documented headers are on every answer, `Retry-After` too: `0` says that the client may
 * send its next request at once, which is true of every answer but 429 and 503.
 *
 * They go to the raw response because the framework writes header names in lower case.
 */
export function writeRateLimitHeaders(reply: FastifyReply, decision: RateLimitDecision): void {
  const { limit, remaining, resetEpochSeconds, resetSeconds } = decision
  const response = reply.raw
  response.setHeader('Retry-After', decision.isAllowed ? '0' : String(resetSeconds))
  response.setHeader('RateLimit-Limit', String(limit))
  response.setHeader('Ratelimit-Remaining', String(remaining))
  response.setHeader('Ratelimit-Reset', String(resetEpochSeconds))
  response.setHeader('RateLimit-Policy', `"default";q=${limit};w=${RATE_LIMIT_WINDOW_SECONDS}`)
  response.setHeader('RateLimit', `"default";r=${remaining};t=${resetSeconds}`)
}

/** The refusal of a request above its limit. */
export function rateLimited(decision: RateLimitDecision): AppError {
  return new AppError(
    'rate_limited',
    `More than ${decision.limit} requests in ${RATE_LIMIT_WINDOW_SECONDS} seconds. Try again in ${decision.resetSeconds} s.`,
    { retryAfterSeconds: decision.resetSeconds },
  )
}

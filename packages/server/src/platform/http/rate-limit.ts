import type { FastifyReply } from 'fastify'
import { AppError } from '../app-error.ts'
import { RATE_LIMIT_WINDOW_SECONDS, type RateLimitDecision } from '../rate-limits/rate-limiter.ts'

/**
 * Writes the limit into an answer: the documented headers in their documented spelling, and the
 * structured fields of draft-ietf-httpapi-ratelimit-headers-10 beside them (`RateLimit` and
 * `RateLimit-Limit` are different names, so the two sets do not clash).
 *
 * `Retry-After` is on refusals alone, which have it from `error-response.ts`.
 *
 * They go to the raw response because the framework writes header names in lower case.
 */
export function writeRateLimitHeaders(reply: FastifyReply, decision: RateLimitDecision): void {
  const { limit, remaining, resetEpochSeconds, resetSeconds } = decision
  const response = reply.raw
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

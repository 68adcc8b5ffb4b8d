/*
 * What the routes of passwords take: how often somebody may try. Apart from the limits of other ways to sign in:
 * whoever tries passwords keeps nobody from a passkey. Counted in the database, for all processes.
 */
import { createHash } from 'node:crypto'
import { AppError } from '../../platform/app-error.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { addressBucket } from '../../platform/rate-limits/address-bucket.ts'
import { type RateLimiter } from '../../platform/rate-limits/rate-limiter.ts'

const WINDOW_SECONDS = (10 * MINUTE_MS) / SECOND_MS
const ATTEMPTS_OF_ADDRESS = 30
/** Less than an account has in all: one address does not use up what its owner needs elsewhere. */
const ATTEMPTS_OF_ADDRESS_AT_ACCOUNT = 10
const ATTEMPTS_AT_ACCOUNT = 50
const STEP_UPS_OF_SESSION = 10
const NEW_PASSWORDS_OF_SESSION = 20

/**
 * Admits one attempt at an account, which need not exist.
 *
 * @throws AppError `rate_limited`
 */
export async function admitPassword(
  rateLimiter: RateLimiter,
  { email, address }: { readonly email: string; readonly address: string },
): Promise<void> {
  const from = addressBucket(address)
  const account = createHash('sha256').update(email.trim().toLowerCase()).digest('base64url')
  await take(rateLimiter, `password ${from}`, ATTEMPTS_OF_ADDRESS)
  await take(rateLimiter, `password ${account} ${from}`, ATTEMPTS_OF_ADDRESS_AT_ACCOUNT)
  await take(rateLimiter, `password ${account}`, ATTEMPTS_AT_ACCOUNT)
}

/**
 * Admits one attempt of a session to step up by a code.
 *
 * @throws AppError `rate_limited`
 */
export async function admitCode(rateLimiter: RateLimiter, sessionId: string): Promise<void> {
  await take(rateLimiter, `step-up code ${sessionId}`, STEP_UPS_OF_SESSION)
}

/**
 * Admits one attempt of a session to choose a password, which is hashed.
 *
 * @throws AppError `rate_limited`
 */
export async function admitNewPassword(rateLimiter: RateLimiter, sessionId: string): Promise<void> {
  await take(rateLimiter, `new password ${sessionId}`, NEW_PASSWORDS_OF_SESSION)
}

async function take(rateLimiter: RateLimiter, bucket: string, capacity: number): Promise<void> {
  const { isAllowed, resetSeconds } = await rateLimiter.take(bucket, capacity, WINDOW_SECONDS)
  if (isAllowed) return
  throw new AppError(
    'rate_limited',
    `Too many attempts. Try again in ${resetSeconds} s, or sign in another way.`,
    { retryAfterSeconds: resetSeconds },
  )
}

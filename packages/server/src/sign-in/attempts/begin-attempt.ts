import { createHash } from 'node:crypto'
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { addressBucket } from '../../platform/rate-limits/address-bucket.ts'
import { newSecret, newUuid } from '../../platform/ids.ts'
import { isEqualSecret } from '../../platform/secrets/keyed-digest.ts'
import type { AttemptInteraction } from '../../schema/tables/sign-in-tables.ts'
import { countAttemptsOfAddress, insertAttempt, type Attempt } from './attempt-store.ts'
import { makeRoom } from './make-room.ts'
import { ATTEMPT_LIFETIME_MS } from './move-attempt.ts'

/** A sign-in that begins: who sent the browser, and what is known of it. */
export interface NewAttempt {
  /** Null for the pages of the person. */
  readonly applicationId: string | null
  readonly interaction: AttemptInteraction
  readonly loginHint: string | null
  /** The language of the pages, such as `en`. */
  readonly language: string
  readonly ipAddress: string | null
  readonly userAgent: string | null
}

/** An attempt with the secret of its browser, which is kept as a hash. */
export interface BegunAttempt {
  readonly attempt: Attempt
  readonly secret: string
}

/**
 * What all the people behind one address have under way at a time, with those that failed lately; and nobody's flood.
 */
export const ATTEMPTS_PER_ADDRESS_MAX = 500
const USER_AGENT_LENGTH_MAX = 1_000
const RETRY_AFTER_SECONDS = 60

/**
 * Begins a sign-in. Nothing is written of it elsewhere before it is known whose it is. Where too many are under way in
 * all, those of the most crowded addresses end.
 *
 * @throws AppError `rate_limited` when too many from this address are under way, or came to nothing lately
 */
export async function beginAttempt(change: Change, input: NewAttempt): Promise<BegunAttempt> {
  const { tx, at } = change
  const { ipAddress } = input
  const bucket = addressBucket(ipAddress ?? '')
  const failedSince = new Date(at.getTime() - ATTEMPT_LIFETIME_MS)
  const count = await countAttemptsOfAddress(tx, bucket, failedSince, ATTEMPTS_PER_ADDRESS_MAX)
  if (count >= ATTEMPTS_PER_ADDRESS_MAX) {
    const message =
      'Too many sign-ins from this address are under way, or came to nothing. Try again in a minute.'
    throw new AppError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
  }
  await makeRoom(change)
  const secret = newSecret()
  const attempt = await insertAttempt(change, {
    id: newUuid(),
    secretHash: hashAttemptSecret(secret),
    applicationId: input.applicationId,
    interaction: JSON.stringify(input.interaction),
    stage: 'person',
    loginHint: input.loginHint,
    language: input.language,
    ipAddress,
    addressBucket: bucket,
    userAgent: input.userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null,
    startedAt: at,
    expiresAt: new Date(at.getTime() + ATTEMPT_LIFETIME_MS),
    txn: change.txn,
  })
  return { attempt, secret }
}

/** Whether a browser that shows this secret is the one that began the attempt. */
export function isBrowserOf(attempt: Pick<Attempt, 'secretHash'>, secret: string): boolean {
  const given = hashAttemptSecret(secret).toString('hex')
  return isEqualSecret(attempt.secretHash.toString('hex'), given)
}

function hashAttemptSecret(secret: string): Buffer {
  return createHash('sha256').update(`attempt ${secret}`).digest()
}

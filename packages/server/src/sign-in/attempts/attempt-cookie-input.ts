/*
 * The cookie by which the browser of an attempt is known. Each attempt has one of its own, so that two sign-ins of one
 * browser do not mix.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { SECOND_MS } from '../../platform/clock.ts'
import {
  readSessionCookie,
  writeSessionCookie,
  type SessionCookie,
} from '../../platform/http/session-cookie.ts'
import type { Kysely } from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import type { Schema } from '../../schema/schema.ts'
import { findAttempt, type Attempt } from './attempt-store.ts'
import { isBrowserOf } from './begin-attempt.ts'
import { ATTEMPT_LIFETIME_MS } from './move-attempt.ts'

/** Without `__Host-` and `Secure` where the service speaks plain HTTP, which it does on loopback addresses only. */
function toAttemptCookie(attemptId: string, baseUrl: string): SessionCookie {
  const isSecure = baseUrl.startsWith('https:')
  const name = `heliograph-attempt-${attemptId.slice(0, 8)}`
  return { name: isSecure ? `__Host-${name}` : name, isSecure }
}

/** The `Set-Cookie` header that gives a browser the secret of its attempt. */
export function writeAttemptCookie(attemptId: string, secret: string, baseUrl: string): string {
  const seconds = ATTEMPT_LIFETIME_MS / SECOND_MS
  return writeSessionCookie(toAttemptCookie(attemptId, baseUrl), secret, seconds)
}

/** Whether a request comes from the browser that began the attempt. */
export function isFromBrowserOf(
  attempt: Pick<Attempt, 'id' | 'secretHash'>,
  headers: IncomingHttpHeaders,
  baseUrl: string,
): boolean {
  const secret = readSessionCookie(headers, toAttemptCookie(attempt.id, baseUrl))
  return secret !== undefined && isBrowserOf(attempt, secret)
}

/** An attempt of the browser that sent a request, with its secret. */
export interface HeldAttempt {
  readonly attempt: Attempt
  readonly secret: string
}

/**
 * The attempt that a request is about, for the browser that began it alone.
 *
 * @throws AppError `not_found` for any other browser, as for an attempt that does not exist
 */
export async function getHeldAttempt(
  { db, baseUrl }: { readonly db: Kysely<Schema>; readonly baseUrl: string },
  headers: IncomingHttpHeaders,
  attemptId: string,
): Promise<HeldAttempt> {
  const attempt = await findAttempt(db, attemptId)
  const secret = readSessionCookie(headers, toAttemptCookie(attemptId, baseUrl))
  if (attempt !== undefined && secret !== undefined && isBrowserOf(attempt, secret)) {
    return { attempt, secret }
  }
  throw notFound('sign-in', attemptId)
}

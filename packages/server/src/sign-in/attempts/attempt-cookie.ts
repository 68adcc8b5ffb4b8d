/*
 * The cookie that binds an attempt to the browser that began it: one for each, so that two sign-ins at once do not mix.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Kysely } from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import {
  readSessionCookie,
  writeSessionCookie,
  type SessionCookie,
} from '../../platform/http/session-cookie.ts'
import type { Schema } from '../../schema/schema.ts'
import { findAttempt, type Attempt } from './attempt-store.ts'
import { isBrowserOf, type BegunAttempt } from './begin-attempt.ts'
import { ATTEMPT_LIFETIME_MS } from './move-attempt.ts'

const NAME = 'heliograph-attempt-'
const ID_LENGTH = 8
/** A browser comes back with the outcome after the end of the attempt. */
const COOKIE_SECONDS = (2 * ATTEMPT_LIFETIME_MS) / SECOND_MS

/** The cookie of an attempt, which no script can read and no other host can set. */
function attemptCookie(baseUrl: string, attemptId: string): SessionCookie {
  const isSecure = baseUrl.startsWith('https:')
  const name = `${NAME}${attemptId.slice(0, ID_LENGTH)}`
  return { name: isSecure ? `__Host-${name}` : name, isSecure }
}

/** The `Set-Cookie` header that has a browser hold an attempt. */
export function writeAttemptCookie(baseUrl: string, { attempt, secret }: BegunAttempt): string {
  return writeSessionCookie(attemptCookie(baseUrl, attempt.id), secret, COOKIE_SECONDS)
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
  const secret = readSessionCookie(headers, attemptCookie(baseUrl, attemptId))
  if (attempt !== undefined && secret !== undefined && isBrowserOf(attempt, secret)) {
    return { attempt, secret }
  }
  throw notFound('sign-in', attemptId)
}

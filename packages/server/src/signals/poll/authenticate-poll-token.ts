import type { Principal } from '../../schema/principal.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { Foundation } from '../../changes/foundation.ts'
import { AppError } from '../../platform/app-error.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { ignoreHinderedWrite } from '../../platform/db/database-fault.ts'
import { hashPollToken, isWellFormedPollToken, POLL_TOKEN_PREFIX } from './poll-token-secret.ts'
import { findPollTokenByHash, touchPollToken } from './poll-token-store.ts'

/** The headers in which clients of the K2 API send a poll token beside their API key. */
const POLL_TOKEN_HEADERS = ['x-service-poll-bearer-token', 'x-kolide-poll-bearer-token'] as const

export type PollTokenDependencies = Pick<Foundation, 'db' | 'clock'>

/** `last_used_at` is as exact as this: a token that polls all the time is not written all the time. */
const USE_NOTED_EVERY_MS = MINUTE_MS

/**
 * The poll token that a request carries: in `Authorization: Bearer`, where its prefix tells it from other
 * credentials, or in a header of its own, which counts when both are there. Undefined when there is none.
 */
export function readPollToken(headers: IncomingHttpHeaders): string | undefined {
  for (const name of POLL_TOKEN_HEADERS) {
    const value = headers[name]
    const text = (Array.isArray(value) ? value[0] : value)?.trim()
    if (text !== undefined && text !== '') return text.replace(/^Bearer +/i, '')
  }
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  return bearer?.startsWith(POLL_TOKEN_PREFIX) === true ? bearer : undefined
}

/**
 * The receiver that a poll token stands for, at the events of its own stream (named by `id` or
 * `stream_id`) and nowhere else. The database is asked every time, so that a revoked token is refused on
 * the next request of every process; a refusal does not say why.
 *
 * @throws AppError `unauthenticated`
 */
export async function authenticatePollToken(
  { db, clock }: PollTokenDependencies,
  secret: string,
  streamIdentifier: string,
): Promise<Principal> {
  const now = clock.now()
  const token = isWellFormedPollToken(secret)
    ? await findPollTokenByHash(db, hashPollToken(secret))
    : undefined
  if (token === undefined || !isAccepted(token, streamIdentifier, now)) {
    throw new AppError(
      'unauthenticated',
      'The poll token is unknown, has ended, or belongs to another stream.',
      { bearerError: 'invalid_token' },
    )
  }
  const unlessSince = new Date(now.getTime() - USE_NOTED_EVERY_MS)
  if (token.last_used_at === null || token.last_used_at < unlessSince) {
    await ignoreHinderedWrite(touchPollToken(db, token.id, { at: now, unlessSince }))
  }
  return {
    kind: 'poll_token',
    id: token.id,
    name: `poll token of ${token.streamName}`,
    // Of no use elsewhere: only the events of a stream take this credential.
    permissions: new Set(['Manage Shared Signals Framework Streams'] as const),
  }
}

type FoundToken = NonNullable<Awaited<ReturnType<typeof findPollTokenByHash>>>

function isAccepted(token: FoundToken, streamIdentifier: string, now: Date): boolean {
  const isOfStream = [token.streamRowId, token.streamId].some(
    (id) => id === streamIdentifier.toLowerCase(),
  )
  const isLive = token.revoked_at === null && (token.expires_at === null || token.expires_at > now)
  return isOfStream && isLive
}

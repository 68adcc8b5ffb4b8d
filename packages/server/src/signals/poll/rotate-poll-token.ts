import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { DAY_MS, SECOND_MS } from '../../platform/clock.ts'
import { getStream, type Stream, type StreamReference } from '../streams/stream-store.ts'
import { generatePollToken, hashPollToken } from './poll-token-secret.ts'
import {
  deleteEndedPollTokens,
  expirePollTokens,
  insertPollToken,
  listLivePollTokens,
  revokePollTokens,
} from './poll-token-store.ts'

/** What becomes of the tokens that a stream has when it gets another, or none. */
export const POLL_TOKEN_MODES = ['overlap', 'immediate', 'disable'] as const
export type PollTokenMode = (typeof POLL_TOKEN_MODES)[number]

/** How long replaced tokens are accepted, unless something else is asked for. */
export const OVERLAP_SECONDS_DEFAULT = 86_400
/** The longest overlap: a week. */
export const OVERLAP_SECONDS_MAX = 604_800
/** Tokens of one stream that are accepted at once: rotations in a hurry must not pile them up. */
const LIVE_TOKENS_MAX = 10
/** Ended tokens are kept as long as somebody may ask when they were last used. */
const ENDED_KEPT_MS = 30 * DAY_MS

export interface PollTokenRotation {
  readonly mode: PollTokenMode
  /** For `overlap`: how long the tokens before it are still accepted. */
  readonly overlapSeconds: number
}

/** A rotation that was carried out. The plain token is shown once; null when the stream has none now. */
export interface RotatedPollToken {
  readonly stream: Stream
  readonly token: string | null
  readonly at: Date
  /** Until when an older token is accepted; null when none is. */
  readonly previousValidUntil: Date | null
}

/**
 * Gives a stream a poll token, its first or another, or takes every one away, and leaves an audit entry.
 * `overlap` lets the ones before it end later, `immediate` and `disable` end them with this change.
 *
 * @throws AppError `not_found`; `conflict` for a stream that pushes.
 */
export async function rotatePollToken(
  change: Change,
  reference: StreamReference,
  rotation: PollTokenRotation,
): Promise<RotatedPollToken> {
  const stream = await getStream(change.tx, reference, { isLocked: true })
  if (stream.deliveryMethod === 'push' && rotation.mode !== 'disable') {
    throw new AppError('conflict', 'The events of this stream are pushed, not polled.')
  }
  const previousValidUntil = await endPollTokens(change, stream, rotation)
  const at = change.at
  if (rotation.mode !== 'disable') {
    const token = await issuePollToken(change, stream, { mode: rotation.mode, previousValidUntil })
    return { stream, token, at, previousValidUntil }
  }
  change.recordAudit({
    action: 'ssf_stream.poll_tokens_revoked',
    target: { type: 'ssf_stream', id: stream.id },
    description: `revoked the poll tokens of the stream ${stream.name}`,
    after: { mode: rotation.mode, last_four: null, previous_valid_until: null },
  })
  return { stream, token: null, at, previousValidUntil }
}

/** Adds a token to a stream that is locked or new, leaves an audit entry, and answers the plain text. */
export async function issuePollToken(
  change: Change,
  stream: Stream,
  { mode, previousValidUntil }: IssuedHow,
): Promise<string> {
  const token = generatePollToken()
  await insertPollToken(change.tx, {
    ssfStreamId: stream.id,
    secretHash: hashPollToken(token),
    secretLastFour: token.slice(-4),
    createdAt: change.at,
  })
  change.recordAudit({
    action: 'ssf_stream.poll_token_issued',
    target: { type: 'ssf_stream', id: stream.id },
    description: `issued a poll token for the stream ${stream.name}`,
    after: {
      mode,
      last_four: token.slice(-4),
      previous_valid_until: previousValidUntil?.toISOString() ?? null,
    },
  })
  return token
}

interface IssuedHow {
  readonly mode: Exclude<PollTokenMode, 'disable'> | 'creation'
  readonly previousValidUntil: Date | null
}

/** Ends the live tokens as the mode says; answers until when one of them is accepted. */
async function endPollTokens(
  change: Change,
  stream: Stream,
  { mode, overlapSeconds }: PollTokenRotation,
): Promise<Date | null> {
  const keptSince = new Date(change.at.getTime() - ENDED_KEPT_MS)
  await deleteEndedPollTokens(change.tx, stream.id, keptSince)
  const live = await listLivePollTokens(change.tx, stream.id, change.at)
  const isKept = mode === 'overlap'
  // One place is for the new token.
  const kept = isKept ? live.slice(0, LIVE_TOKENS_MAX - 1) : []
  const ended = live.slice(kept.length).map(({ id }) => id)
  if (ended.length > 0) await revokePollTokens(change.tx, ended, change.at)
  if (kept.length === 0) return null
  const validUntil = new Date(change.at.getTime() + overlapSeconds * SECOND_MS)
  const ids = kept.map(({ id }) => id)
  await expirePollTokens(change.tx, ids, validUntil)
  const ends = kept.map(({ expiresAt: end }) => Math.min(end?.getTime() ?? Infinity, +validUntil))
  return new Date(Math.max(...ends))
}

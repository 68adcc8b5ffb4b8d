/*
 * Replay: SETs that a stream has sent go out once more, as they were. Owns which of them and in which
 * order; sending is the delivery engine's or the receiver's polls'.
 */
import {
  DEVICE_COMPLIANCE_CHANGE,
  type StreamReplayAnswer,
  type StreamReplayRequest,
} from '@heliograph/ssf'
import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { notifyDestinations } from '../dispatch/delivery-store.ts'
import { AppError } from '../../platform/app-error.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Stream } from '../streams/stream-store.ts'

export interface ReplayDependencies {
  /** How long finished deliveries are kept. */
  readonly retentionDays: number
}

/** As many as one replay sends; the state of the stream tells more in less. */
export const REPLAY_SETS_MAX = 20_000

/**
 * Queues the compliance changes of a stream from a place on once more, with the same `jti`, the same
 * number and the same time; what is queued already is left alone. They come before what happened
 * later to the same device.
 *
 * @throws AppError `not_found` for a `jti` that is none of this stream; `conflict` for a stream that
 * is disabled; `limit_reached` for too many SETs
 */
export async function replayStream(
  change: Change,
  stream: Stream,
  request: StreamReplayRequest,
  { retentionDays }: ReplayDependencies,
): Promise<StreamReplayAnswer> {
  if (stream.status === 'disabled') {
    throw new AppError('conflict', 'A disabled stream sends nothing; enable it first.')
  }
  const { tx, at } = change
  const keptSince = new Date(at.getTime() - retentionDays * DAY_MS)
  const start = await findStart(tx, stream, request, keptSince)
  const rows = await requeue(tx, stream.destinationId, start.condition)
  if (rows.length > REPLAY_SETS_MAX) {
    throw new AppError(
      'limit_reached',
      `These are more than ${REPLAY_SETS_MAX} events. Begin later, or read the state of the stream.`,
    )
  }
  const isLost = await hasDropped(tx, stream.destinationId, start.condition)
  await notifyDestinations(tx, [stream.destinationId])
  const numbers = rows.flatMap(({ sequence }) => (sequence === null ? [] : [Number(sequence)]))
  const answer = {
    queued: rows.length,
    first_sequence: numbers.length === 0 ? null : Math.min(...numbers),
    last_sequence: numbers.length === 0 ? null : Math.max(...numbers),
    complete: start.isKept && !isLost,
  }
  change.recordAudit({
    action: 'ssf_stream.replayed',
    target: { type: 'ssf_stream', id: stream.id },
    description: `sent ${rows.length} events of the stream ${stream.name} again`,
    after: { ...request, ...answer },
  })
  return answer
}

interface ReplayStart {
  readonly condition: RawBuilder<unknown>
  /** Whether everything from there on is still kept. */
  readonly isKept: boolean
}

async function findStart(
  tx: Transaction<Schema>,
  stream: Stream,
  request: StreamReplayRequest,
  keptSince: Date,
): Promise<ReplayStart> {
  if ('from_time' in request) {
    const from = new Date(Math.floor(request.from_time) * 1_000)
    const isKept = from >= keptSince || stream.createdAt >= keptSince
    return { condition: sql`created_at >= ${from}`, isKept }
  }
  if ('from_jti' in request) {
    const known = await findByEventId(tx, stream.destinationId, request.from_jti)
    return { condition: sql`id > ${known}`, isKept: true }
  }
  const from = request.from_sequence
  const { rows } = await sql<{ count: string; last: string | null }>`
    select count(*) filter (where sequence >= ${from})::text as count,
      (select last_sequence::text from ssf_stream_sequence where ssf_stream_id = ${stream.id}) as last
    from delivery where destination_id = ${stream.destinationId} and sequence >= ${from}
  `.execute(tx)
  const given = Math.max(0, Number(rows[0]?.last ?? 0) - from + 1)
  return {
    condition: sql`sequence >= ${from}`,
    isKept: stream.isNumbered && Number(rows[0]?.count ?? 0) === given,
  }
}

async function findByEventId(
  tx: Transaction<Schema>,
  destinationId: string,
  jti: string,
): Promise<string> {
  const row = await tx
    .selectFrom('delivery')
    .select('id')
    .where('event_id', '=', jti)
    .where('destination_id', '=', destinationId)
    .executeTakeFirst()
  if (row !== undefined) return row.id
  throw new AppError('not_found', 'No event of this stream that is still kept has this jti.')
}

/** Their old times keep them before what happened later to the same device. */
async function requeue(
  tx: Transaction<Schema>,
  destinationId: string,
  condition: RawBuilder<unknown>,
): Promise<{ sequence: string | null }[]> {
  const { rows } = await sql<{ sequence: string | null }>`
    update delivery set state = 'queued', attempt_count = 0, next_attempt_at = least(created_at, now()),
      finished_at = null, claimed_by = null, claim_expires_at = null, last_error = null
    where id in (
      select id from delivery
      where destination_id = ${destinationId} and state in ('delivered', 'dead')
        and event_type = ${DEVICE_COMPLIANCE_CHANGE} and ${condition}
      order by id limit ${REPLAY_SETS_MAX + 1} for update)
    returning sequence`.execute(tx)
  return rows
}

/** Events that were given up are gone for this stream: only its state tells what they said. */
async function hasDropped(
  tx: Transaction<Schema>,
  destinationId: string,
  condition: RawBuilder<unknown>,
): Promise<boolean> {
  const { rows } = await sql<{ isFound: boolean }>`
    select exists (
      select from delivery
      where destination_id = ${destinationId} and state = 'discarded'
        and event_type = ${DEVICE_COMPLIANCE_CHANGE} and ${condition}) as "isFound"`.execute(tx)
  return rows[0]?.isFound === true
}

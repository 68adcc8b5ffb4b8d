/*
 * Replay: SETs that a stream has sent go out once more, as they were. Owns which of them and in which
 * order; sending is the delivery engine's or the receiver's polls'.
 */
import {
  DEVICE_COMPLIANCE_CHANGE,
  type StreamReplayAnswer,
  type StreamReplayRequest,
} from '@heliograph/ssf'
import type { Transaction } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { tellDestinations } from '../dispatch/delivery-store.ts'
import { AppError } from '../../platform/app-error.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { updateLastActivity } from '../streams/stream-activity-store.ts'
import type { StreamContext } from '../streams/stream-context.ts'
import type { Stream } from '../streams/stream-store.ts'
import { isRequested } from '../streams/unrequested-event-store.ts'
import {
  findDelivery,
  hasEverySequence,
  hasLost,
  requeueSets,
  type ReplayPlace,
} from './replay-store.ts'

/** As many as one replay sends; the state of the stream tells more in less. */
export const REPLAY_SETS_MAX = 20_000

/**
 * Queues the compliance changes of a stream from a place on once more, with the same `jti`, the same
 * number and the same time; what is queued already is left alone. They come before what happened
 * later to the same device.
 *
 * @throws AppError `not_found` for a `jti` that is none of this stream; `conflict` for a stream that
 * is disabled or asks for no compliance changes; `limit_reached` for too many SETs
 */
export async function replayStream(
  change: Change,
  stream: Stream,
  request: StreamReplayRequest,
  { retentionDays }: Pick<StreamContext, 'retentionDays'>,
): Promise<StreamReplayAnswer> {
  if (stream.status === 'disabled') {
    throw new AppError('conflict', 'A disabled stream sends nothing; enable it first.')
  }
  // The SETs would be given up, and their record would no longer say that they were delivered.
  if (!isRequested(stream, DEVICE_COMPLIANCE_CHANGE)) {
    throw new AppError('conflict', 'The stream asks for no compliance changes.')
  }
  const { tx, at } = change
  const { destinationId } = stream
  const keptSince = new Date(at.getTime() - retentionDays * DAY_MS)
  const { place, isKept } = await findStart(tx, stream, request, keptSince)
  const sequences = await requeueSets(tx, destinationId, place, REPLAY_SETS_MAX + 1)
  if (sequences.length > REPLAY_SETS_MAX) {
    throw new AppError(
      'limit_reached',
      `These are more than ${REPLAY_SETS_MAX} events. Begin later, or read the state of the stream.`,
    )
  }
  const isLost = await hasLost(tx, destinationId, place)
  await updateLastActivity(tx, stream.id, at)
  tellDestinations(change, [destinationId])
  const numbers = sequences.filter((sequence) => sequence !== null)
  const answer = {
    queued: sequences.length,
    first_sequence: numbers.length === 0 ? null : Math.min(...numbers),
    last_sequence: numbers.length === 0 ? null : Math.max(...numbers),
    complete: isKept && !isLost,
  }
  change.recordAudit({
    action: 'ssf_stream.replayed',
    target: { type: 'ssf_stream', id: stream.id },
    description: `sent ${sequences.length} events of the stream ${stream.name} again`,
    after: { ...request, ...answer },
  })
  return answer
}

interface ReplayStart {
  readonly place: ReplayPlace
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
    const since = new Date(Math.floor(request.from_time) * 1_000)
    return { place: { since }, isKept: since >= keptSince || stream.createdAt >= keptSince }
  }
  if ('from_jti' in request) {
    const from = await findDelivery(tx, stream.destinationId, request.from_jti)
    if (from === undefined) {
      const message = 'No event of this stream that is still kept has this jti.'
      throw new AppError('not_found', message)
    }
    const { id: afterId, createdAt, sequence } = from
    // It may have ended later than those after it, which are gone then.
    const isKept =
      createdAt >= keptSince ||
      (sequence !== null && (await hasEverySequence(tx, stream, Number(sequence) + 1)))
    return { place: { afterId }, isKept }
  }
  const { from_sequence: fromSequence } = request
  const isKept = stream.isNumbered && (await hasEverySequence(tx, stream, fromSequence))
  return { place: { fromSequence }, isKept }
}

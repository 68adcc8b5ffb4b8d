/*
 * What becomes of the events of a stream whose receiver cannot be pushed to: if the stream says so, they
 * wait to be polled with the stream's own credentials, while pushing is still tried. Owns when that begins
 * and ends, and how the receiver is notified. Polls answer the events, the engine keeps trying to push.
 */
import type { Change } from '../../changes/change.ts'
import { queueDeliveries, makeDueNow, tellDestinations } from '../dispatch/delivery-store.ts'
import { toStreamUpdatedDelivery } from '../sets/stream-event-delivery.ts'
import { updateStream, type Stream } from '../streams/stream-store.ts'

/** As many as are tried at once when pushing works again; the others keep their time. */
const DUE_MAX = 10_000

/** Where the receiver of a stream polls: each surface has its own place. */
export function pollUrlOf(
  { surface, streamId }: Pick<Stream, 'surface' | 'streamId'>,
  baseUrl: string,
): string {
  return surface === 'strict'
    ? `${baseUrl}/ssf/poll/${streamId}`
    : `${baseUrl}/ssf_streams/${streamId}/events`
}

/** Whether the events of a stream can be had by polling now. */
export function isPolled(stream: Pick<Stream, 'deliveryMethod' | 'fallbackSince'>): boolean {
  return stream.deliveryMethod === 'poll' || stream.fallbackSince !== null
}

/** Whether polls of a stream are answered: acknowledgements may come in after pushing works again. */
export function takesPolls(stream: Pick<Stream, 'deliveryMethod' | 'fallbackToPoll'>): boolean {
  return stream.deliveryMethod === 'poll' || stream.fallbackToPoll
}

/**
 * Lets the events of a locked push stream be polled from now on, and notifies its receiver. Beginning again
 * changes nothing. Leaves an audit entry. `baseUrl` is what the world calls the service.
 */
export async function beginFallback(
  change: Change,
  stream: Stream,
  cause: string,
  baseUrl: string,
): Promise<Stream> {
  if (stream.fallbackSince !== null || !stream.fallbackToPoll) return stream
  const reason = `${cause} Its events can be polled at ${pollUrlOf(stream, baseUrl)} until it works.`
  const after = await updateStream(change.tx, stream.id, {
    fallbackSince: change.at,
    fallbackReason: reason,
  })
  await announce(change, after, reason)
  change.recordAudit({
    action: 'ssf_stream.fallback_begun',
    target: { type: 'ssf_stream', id: stream.id },
    description: `let the events of the stream ${stream.name} be polled`,
    before: { fallback_since: null },
    after: { fallback_since: change.at.toISOString(), reason },
  })
  return after
}

/**
 * Ends the polling of a locked push stream: what its receiver has not acknowledged is pushed. Ending
 * again changes nothing. Leaves an audit entry.
 */
export async function endFallback(change: Change, stream: Stream, reason: string): Promise<Stream> {
  if (stream.fallbackSince === null) return stream
  const after = await updateStream(change.tx, stream.id, {
    fallbackSince: null,
    fallbackReason: null,
  })
  await makeDueNow(change.tx, stream.destinationId, { max: DUE_MAX, attemptsMax: 1 })
  if (after.deliveryMethod === 'push') await announce(change, after, reason)
  tellDestinations(change, [stream.destinationId])
  change.recordAudit({
    action: 'ssf_stream.fallback_ended',
    target: { type: 'ssf_stream', id: stream.id },
    description: `pushes the events of the stream ${stream.name} again`,
    before: { fallback_since: stream.fallbackSince.toISOString() },
    after: { fallback_since: null, reason },
  })
  return after
}

/**
 * Ends a fallback that the choice of a stream, its method or its way to push no longer fits. The stream is locked, and
 * changed already.
 */
export async function endUnfitFallback(
  change: Change,
  stream: Stream,
  { isPushChanged }: { readonly isPushChanged: boolean },
): Promise<Stream> {
  const isFitting = stream.fallbackToPoll && stream.deliveryMethod === 'push' && !isPushChanged
  if (isFitting) return stream
  return endFallback(change, stream, 'The stream was changed.')
}

/** By an event that goes the way of all others: it is polled, or pushed, whichever works first. */
async function announce(change: Change, stream: Stream, reason: string): Promise<void> {
  const updated = { ...stream, statusReason: reason }
  await queueDeliveries(change, [toStreamUpdatedDelivery(updated, change)])
}

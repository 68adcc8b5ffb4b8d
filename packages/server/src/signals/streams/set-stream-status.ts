/*
 * Enabled, paused, disabled: what each means for the deliveries of a stream (SSF 1.0 section 8.1.2), and
 * how its receiver is told of a change that it did not make (section 8.1.5).
 */
import type { Change } from '../../changes/change.ts'
import { updateDestination } from '../dispatch/destination-store.ts'
import { queueDeliveries, tellDestinations } from '../dispatch/delivery-store.ts'
import { toStreamUpdatedDelivery } from '../sets/stream-event-delivery.ts'
import { toStreamAudit } from './stream-json.ts'
import {
  discardQueuedDeliveries,
  getStream,
  updateStream,
  type Stream,
  type StreamReference,
} from './stream-store.ts'

export type StreamStatus = Stream['status']

/** What each status of a stream means for its deliveries. */
const STATE_OF_STATUS = { enabled: 'active', paused: 'held', disabled: 'stopped' } as const

/** A wish for a status, with the reason that whoever changes it gives. */
export interface RequestedStatus {
  readonly status: StreamStatus
  readonly reason: string | null
  /** Who changes it: a receiver that does so itself is not told. The transmitter by default. */
  readonly initiator?: 'transmitter' | 'receiver'
}

/**
 * Sets the status of a stream and leaves an audit entry. Setting the present status again changes
 * nothing but the reason.
 *
 * @throws AppError `not_found`.
 */
export async function setStreamStatus(
  change: Change,
  reference: StreamReference,
  wish: RequestedStatus,
): Promise<Stream> {
  const { status, reason } = wish
  const before = await getStream(change.tx, reference, { isLocked: true })
  if (before.status === status && before.statusReason === reason) return before
  const after = await applyStreamStatus(change, before, wish)
  change.recordAudit({
    action: 'ssf_stream.status_changed',
    target: { type: 'ssf_stream', id: before.id },
    description: `set the stream ${before.name} to ${status}`,
    before: toStreamAudit(before),
    after: toStreamAudit(after),
  })
  return after
}

/**
 * Applies a status without an audit entry. A paused stream holds its events. A disabled one has none:
 * what was queued is given up. A change by the transmitter is announced to the receiver by an event that
 * is delivered although the stream has stopped.
 */
export async function applyStreamStatus(
  change: Change,
  stream: Stream,
  { status, reason, initiator = 'transmitter' }: RequestedStatus,
): Promise<Stream> {
  const after = await updateStream(change.tx, stream.id, {
    status,
    statusReason: reason,
    updatedAt: change.at,
    // Whose stream begins anew has its full time to be heard of.
    ...(status === 'enabled' ? { lastActivityAt: change.at } : {}),
  })
  // On leaving it too: a change that ran beside the disabling may have queued an event since.
  if (status === 'disabled' || stream.status === 'disabled') {
    await discardQueuedDeliveries(change.tx, stream.destinationId, change.at)
  }
  await changeDelivery(change, after)
  if (initiator === 'transmitter' && status !== stream.status) {
    const event = toStreamUpdatedDelivery(after, change)
    await queueDeliveries(change, [{ ...event, outlivesStop: status !== 'enabled' }])
  }
  return after
}

/**
 * Has the engine follow what a stream is now: pushed or polled, held, stopped or neither, and whether what is exhausted
 * is kept. Locks its destination: call it after what changes deliveries.
 */
export async function changeDelivery(
  change: Change,
  { deliveryMethod, destinationId, status, fallbackToPoll: keepsExhausted }: Stream,
): Promise<void> {
  const kind = deliveryMethod === 'push' ? 'ssf_push' : 'ssf_poll'
  await updateDestination(change.tx, destinationId, {
    kind,
    state: STATE_OF_STATUS[status],
    keepsExhausted,
  })
  tellDestinations(change, [destinationId])
}

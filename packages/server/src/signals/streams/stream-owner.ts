import { AppError } from '../../platform/app-error.ts'
import type { FindOptions } from '../../platform/db/record-table.ts'
import type { DeliveryLogPurpose } from '../dispatch/delivery-log-endpoints.ts'
import type { DeliveryOwner } from '../dispatch/redrive-deliveries.ts'
import type { Stream } from './stream-store.ts'
import { requestedTypes } from './unrequested-event-store.ts'

/** How a stream is read for {@link toDeliveryOwner}: what is sent again must be what it asks for at the commit. */
export function toFindOptions(purpose: DeliveryLogPurpose): FindOptions {
  return { isLocked: purpose === 'send' }
}

/**
 * A stream as the owner of its deliveries.
 *
 * @throws AppError `conflict` when events are to be sent again to a disabled stream, which has none
 */
export function toDeliveryOwner(stream: Stream, purpose: DeliveryLogPurpose): DeliveryOwner {
  if (purpose === 'send' && stream.status === 'disabled') {
    const message = 'The stream is disabled and gets no events; enable it first.'
    throw new AppError('conflict', message)
  }
  return {
    destinationId: stream.destinationId,
    target: { type: 'ssf_stream', id: stream.id },
    eventTypes: requestedTypes(stream),
  }
}

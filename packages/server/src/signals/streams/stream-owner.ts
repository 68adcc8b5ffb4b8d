import { AppError } from '../../platform/app-error.ts'
import type { DeliveryLogPurpose } from '../dispatch/delivery-log-endpoints.ts'
import type { DeliveryOwner } from '../dispatch/redrive-deliveries.ts'
import type { Stream } from './stream-store.ts'
import { requestedTypes } from './unrequested-event-store.ts'

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

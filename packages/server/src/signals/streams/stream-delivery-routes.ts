import type {
  DeliveryLogDependencies,
  DeliveryLogPurpose,
} from '../dispatch/delivery-log-endpoints.ts'
import { deliveryLogRoutes } from '../dispatch/delivery-log-routes.ts'
import type { DeliveryOwner } from '../dispatch/redrive-deliveries.ts'
import { AppError } from '../../platform/app-error.ts'
import type { ApiRoute } from '../../schema/operations.ts'
import { STREAM_ACCESS } from './stream-routes.ts'
import { getStream, parseStreamReference, type Stream } from './stream-store.ts'

/** The log of the deliveries of streams, for operators. */
export function streamDeliveryRoutes(dependencies: DeliveryLogDependencies): ApiRoute[] {
  return deliveryLogRoutes(
    {
      path: '/ssf_streams',
      noun: 'stream',
      access: STREAM_ACCESS,
      findOwner: async (db, id, purpose) =>
        toDeliveryOwner(await getStream(db, parseStreamReference(id)), purpose),
    },
    dependencies,
  )
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
  }
}

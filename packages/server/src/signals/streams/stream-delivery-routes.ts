import type { Kysely } from 'kysely'
import {
  deliveryLogRoutes,
  type DeliveryLogDependencies,
  type DeliveryLogPurpose,
} from '../dispatch/delivery-log-routes.ts'
import type { DeliveryOwner } from '../dispatch/redrive-deliveries.ts'
import { AppError } from '../../platform/app-error.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ApiRoute } from '../../platform/http/route.ts'
import { STREAM_ACCESS } from './stream-routes.ts'
import { getStream, type Stream } from './stream-store.ts'

/** The log of the deliveries of streams, for operators. */
export function streamDeliveryRoutes(dependencies: DeliveryLogDependencies): ApiRoute[] {
  const resource = { path: '/ssf_streams', noun: 'stream', access: STREAM_ACCESS } as const
  return deliveryLogRoutes({ ...resource, findOwner: findStreamOwner }, dependencies)
}

async function findStreamOwner(
  db: Kysely<Schema>,
  id: string,
  purpose: DeliveryLogPurpose,
): Promise<DeliveryOwner> {
  return toDeliveryOwner(await getStream(db, id), purpose)
}

/**
 * A stream as the owner of its deliveries.
 *
 * @throws AppError `conflict` when events are to be sent again to a disabled stream, which has none
 */
export function toDeliveryOwner(stream: Stream, purpose: DeliveryLogPurpose): DeliveryOwner {
  if (purpose === 'send' && stream.status === 'disabled') {
    const message = 'The stream is disabled and gets no events; enable it first.'
    throw new AppError('conflict', 'conflict', message)
  }
  return {
    destinationId: stream.destinationId,
    target: { type: 'ssf_stream', id: stream.id },
  }
}

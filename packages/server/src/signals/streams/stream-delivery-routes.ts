import type { DeliveryLogDependencies } from '../dispatch/delivery-log-endpoints.ts'
import { deliveryLogRoutes } from '../dispatch/delivery-log-routes.ts'
import type { ApiRoute } from '../../schema/operations.ts'
import { STREAM_ACCESS } from './stream-access.ts'
import { toDeliveryOwner, toFindOptions } from './stream-owner.ts'
import { getStream, parseStreamReference } from './stream-store.ts'

/** The log of the deliveries of streams, for operators. */
export function streamDeliveryRoutes(dependencies: DeliveryLogDependencies): ApiRoute[] {
  return deliveryLogRoutes(
    {
      path: '/ssf_streams',
      noun: 'stream',
      access: STREAM_ACCESS,
      findOwner: async (db, id, purpose) => {
        const options = toFindOptions(purpose)
        return toDeliveryOwner(await getStream(db, parseStreamReference(id), options), purpose)
      },
    },
    dependencies,
  )
}

import { z } from 'zod'
import { deliverySchema, toDeliveryJson } from '../../dispatch/delivery-json.ts'
import { DESTINATION_KINDS, type OwnedDelivery } from './all-deliveries-read.ts'

/** Whom something goes to. */
const destinationSchema = z
  .object({
    type: z.enum(DESTINATION_KINDS),
    id: z.string(),
    name: z.string(),
  })
  .meta({ id: 'DeliveryDestination', description: 'The stream or webhook that something goes to.' })

/** A delivery with whom it goes to. */
export const ownedDeliverySchema = z
  .object({ ...deliverySchema.shape, destination: destinationSchema })
  .meta({ id: 'OwnedDelivery', description: 'An event on its way to a stream or webhook.' })

/** Whom a delivery goes to. */
function toDestinationJson(delivery: OwnedDelivery): z.input<typeof destinationSchema> {
  const { streamId, webhookId } = delivery
  return streamId === null
    ? { type: 'webhook', id: webhookId ?? '', name: delivery.webhookName ?? '' }
    : { type: 'ssf_stream', id: streamId, name: delivery.streamName ?? '' }
}

/** The wire form of a delivery in the list. */
export function toOwnedDeliveryJson(delivery: OwnedDelivery): z.input<typeof ownedDeliverySchema> {
  return { ...toDeliveryJson(delivery), destination: toDestinationJson(delivery) }
}

import type { Foundation } from '../changes/foundation.ts'
import type { Outbound } from '../platform/net/outbound.ts'
import type { DeliveryChannel } from './dispatch/delivery-channel.ts'
import { createPushChannel } from './push/push-channel.ts'
import { createPushConnections } from './push/push-connection.ts'
import type { SigningPart } from './signing-part.ts'
import { createWebhookChannel } from './webhooks/webhook-channel.ts'

export interface DeliveryChannelParts {
  readonly signing: Pick<SigningPart, 'keyRing' | 'refusedKeys'>
  readonly outbound: Pick<Outbound, 'client'>
  readonly baseUrl: string
}

/** Every kind of delivery: for the engine that dispatches, and for the sender of test events. */
export function createDeliveryChannels(
  { db, clock, sealer, topics }: Pick<Foundation, 'db' | 'clock' | 'sealer' | 'topics'>,
  { signing, outbound, baseUrl }: DeliveryChannelParts,
): DeliveryChannel[] {
  const { keyRing, refusedKeys } = signing
  const { client } = outbound
  const openConnection = createPushConnections({ db, clock, sealer, keyRing, client })
  return [
    createPushChannel({ db, keyRing, refusedKeys, openConnection, baseUrl, topics }),
    createWebhookChannel({ db, clock, sealer }),
  ]
}

/*
 * Webhooks as the delivery engine sees them: the request of an event and the meaning of its answers.
 * Owns nothing of when they are sent, but the pace of a webhook.
 */
import type { Kysely } from 'kysely'
import type { ClaimedDelivery, DeliveryChannel } from '../dispatch/delivery-channel.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { classifyWebhook } from './classify-webhook.ts'
import { disableWebhookOf } from './disable-webhook.ts'
import { giveUpWithoutPayload } from './expire-webhook-events.ts'
import { findEventBodies } from './webhook-event-store.ts'
import { giveBackTokens, takeTokens } from './webhook-pace-store.ts'
import { findWebhookTarget, toWebhookRequest } from './webhook-target.ts'

/** Ten attempts over 75 hours, as Standard Webhooks proposes: at once, then after these delays. */
export const WEBHOOK_RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]

export interface WebhookChannelDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly sealer: Sealer
}

/** Creates the channel for destinations of the kind `webhook`. */
export function createWebhookChannel(dependencies: WebhookChannelDependencies): DeliveryChannel {
  const { db, clock, sealer } = dependencies
  return {
    kind: 'webhook',
    logEvent: 'webhook.delivery_attempted',
    retryDelaysMs: WEBHOOK_RETRY_DELAYS_MS,
    busyRetryDelayMinMs: MINUTE_MS,
    claimKid: () => null,
    pace: {
      take: (destinationId, wanted) => takeTokens(db, destinationId, wanted),
      giveBack: (destinationId, count) => giveBackTokens(db, destinationId, count),
    },
    async prepare(destinationId: string, deliveries: readonly ClaimedDelivery[]) {
      const now = clock.now()
      const target = await findWebhookTarget(db, destinationId, { sealer, now })
      if (target === undefined) return undefined
      const eventIds = deliveries.map(({ eventId }) => eventId)
      const bodies = await findEventBodies(db, eventIds)
      const emptied = eventIds.filter((eventId) => !bodies.has(eventId))
      if (emptied.length > 0) await giveUpWithoutPayload(db, emptied, now)
      return deliveries.map(({ eventId }) => {
        const body = bodies.get(eventId)
        if (body === undefined) return undefined
        return { token: null, request: toWebhookRequest(target, { eventId, body }, now) }
      })
    },
    classify: classifyWebhook,
    onNotice: async (change, { kind, destinationId, error }) => {
      if (kind === 'gone') await disableWebhookOf(change, destinationId, { reason: 'gone', error })
    },
  }
}

import type { DeliveryLogPurpose } from '../dispatch/delivery-log-endpoints.ts'
import type { DeliveryOwner } from '../dispatch/redrive-deliveries.ts'
import { AppError } from '../../platform/app-error.ts'
import { webhookTarget } from './webhook-json.ts'
import { EVENT_IS_KEPT } from './webhook-event-store.ts'
import type { Webhook } from './webhook-store.ts'

/**
 * A webhook as the owner of its deliveries.
 *
 * @throws AppError `conflict` when events are to be sent to a webhook that is off
 */
export function toWebhookOwner(webhook: Webhook, purpose: DeliveryLogPurpose): DeliveryOwner {
  if (purpose === 'send' && !webhook.enabled) {
    const message = 'The webhook is off and gets no events; switch it on first.'
    throw new AppError('conflict', message)
  }
  return {
    destinationId: webhook.destinationId,
    target: webhookTarget(webhook),
    payload: EVENT_IS_KEPT,
  }
}

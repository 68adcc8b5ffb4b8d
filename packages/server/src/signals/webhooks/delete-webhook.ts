import type { Change } from '../../changes/change.ts'
import { markDestinationDeleted } from '../dispatch/destination-store.ts'
import { notifyDestinations } from '../dispatch/delivery-store.ts'
import { toWebhookAudit, webhookTarget } from './webhook-json.ts'
import {
  deleteWebhookRow,
  getWebhook,
  getWebhookRecord,
  type WebhookRecord,
} from './webhook-store.ts'

/**
 * Deletes a webhook with its secrets and everything that is queued for it, and leaves an audit entry.
 * The events that it was told of stay.
 *
 * @throws AppError `not_found`
 */
export async function deleteWebhook(change: Change, id: string): Promise<WebhookRecord> {
  const { tx, at } = change
  const webhook = await getWebhook(tx, id, { isLocked: true })
  const known = await getWebhookRecord(tx, id, at)
  await deleteWebhookRow(tx, webhook.id)
  await markDestinationDeleted(tx, webhook.destinationId)
  await notifyDestinations(tx, [webhook.destinationId])
  change.recordAudit({
    action: 'webhook.deleted',
    target: webhookTarget(webhook),
    description: `deleted the webhook ${webhook.name}`,
    before: toWebhookAudit(webhook),
  })
  return known
}

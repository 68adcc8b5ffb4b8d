import type { Change } from '../../changes/change.ts'
import { tellDestinations } from '../dispatch/delivery-store.ts'
import { updateDestinationState } from '../dispatch/destination-store.ts'
import { toWebhookAudit, webhookTarget } from './webhook-json.ts'
import { findWebhookOfDestination, updateWebhook } from './webhook-store.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

/** Why the service switches a webhook off. */
export interface DisablingCause {
  readonly reason: 'failing' | 'gone'
  /** In words: the last answer, or since when nothing was accepted. */
  readonly error: string
}

const DESCRIPTIONS = {
  failing: 'because nothing was accepted for five days',
  gone: 'because its receiver answered 410',
} as const satisfies Record<DisablingCause['reason'], string>

/**
 * Switches the webhook of a destination off on behalf of the service, and leaves an audit entry and an
 * event. What is queued for it is kept. Idempotent: nothing happens when it is off or gone.
 */
export async function disableWebhookOf(
  change: Change,
  destinationId: DestinationId,
  { reason, error }: DisablingCause,
): Promise<void> {
  const { tx, at } = change
  const before = await findWebhookOfDestination(tx, destinationId, { isLocked: true })
  if (before === undefined || !before.enabled) return
  const after = await updateWebhook(tx, before.id, {
    enabled: false,
    disabledReason: reason,
    disabledAt: at,
    updatedAt: at,
  })
  // Keeps what is known of the receiver, for whoever looks why.
  await updateDestinationState(tx, destinationId, 'held')
  tellDestinations(change, [destinationId])
  change.recordAudit({
    action: 'webhook.disabled',
    target: webhookTarget(after),
    description: `switched the webhook ${after.name} off, ${DESCRIPTIONS[reason]}`,
    before: toWebhookAudit(before),
    after: { ...toWebhookAudit(after), error },
  })
  change.recordEvent({ type: 'webhook.disabled', webhookId: after.id, reason: error })
}

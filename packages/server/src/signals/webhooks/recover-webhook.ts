import type { Change } from '../../changes/change.ts'
import { notifyDestinations } from '../dispatch/delivery-store.ts'
import { redriveDeliveries } from '../dispatch/redrive-deliveries.ts'
import { REDRIVE_MAX } from '../dispatch/redrive-store.ts'
import { insertMissedDeliveries } from './webhook-event-store.ts'
import { webhookTarget } from './webhook-json.ts'
import { toWebhookOwner } from './webhook-owner.ts'
import { getWebhook } from './webhook-store.ts'

/** Which time to recover. */
export interface RecoveredTime {
  readonly since: Date
  readonly until?: Date | undefined
}

/** What was queued. */
export interface RecoveredWebhook {
  /** Events that failed for good. */
  readonly failedCount: number
  /** Events that happened while the webhook was off. */
  readonly missedCount: number
  /** More fit the time than one call moves: call again. */
  readonly hasMore: boolean
}

/**
 * Queues for a webhook what it has not got of a time: events that failed for good, and those that
 * happened while it was off. Under their old ids, so that nothing counts twice for a receiver which
 * looks at them; calling again queues only what is not queued or delivered. Leaves audit entries.
 *
 * @throws AppError `not_found`; `conflict` while the webhook is off
 */
export async function recoverWebhook(
  change: Change,
  id: string,
  time: RecoveredTime,
): Promise<RecoveredWebhook> {
  const webhook = await getWebhook(change.tx, id, { isLocked: true })
  const owner = toWebhookOwner(webhook, 'send')
  const failed = await redriveDeliveries(change, { ...owner, ...time, states: ['dead'] })
  const missedCount = await insertMissedDeliveries(
    change.tx,
    { destinationId: webhook.destinationId, events: webhook.events },
    { since: time.since, until: time.until ?? change.at },
    { at: change.at, limit: REDRIVE_MAX },
  )
  if (missedCount > 0) {
    await notifyDestinations(change.tx, [webhook.destinationId])
    change.recordAudit({
      action: 'webhook.recovered',
      target: webhookTarget(webhook),
      description: `sent ${missedCount} events that the webhook ${webhook.name} had missed`,
      after: {
        count: missedCount,
        since: time.since.toISOString(),
        until: time.until?.toISOString() ?? null,
      },
    })
  }
  const hasMore = failed.hasMore || missedCount === REDRIVE_MAX
  return { failedCount: failed.count, missedCount, hasMore }
}

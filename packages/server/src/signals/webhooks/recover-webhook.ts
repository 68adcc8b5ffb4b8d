import type { Kysely } from 'kysely'
import type { Change } from '../../changes/change.ts'
import type { Schema } from '../../schema/schema.ts'
import { tellDestinations } from '../dispatch/delivery-store.ts'
import { redriveDeliveries } from '../dispatch/redrive-deliveries.ts'
import { countRequeueable, REDRIVE_MAX } from '../dispatch/redrive-store.ts'
import {
  countMissedEvents,
  insertMissedDeliveries,
  type MissedEvents,
} from './webhook-event-store.ts'
import { webhookTarget } from './webhook-json.ts'
import { toWebhookOwner } from './webhook-owner.ts'
import { getWebhook, type Webhook } from './webhook-store.ts'

/** Which time to recover. */
export interface RecoveredTime {
  readonly since: Date
  readonly until?: Date | undefined
}

/** What was queued, or would be. */
export interface RecoveredWebhook {
  /** The beginning of the time that counts: no event from before the webhook was made is recovered. */
  readonly since: Date
  /** Events that failed for good. */
  readonly failedCount: number
  /** Events that happened while the webhook was off. */
  readonly missedCount: number
  /** More fit the time than one call moves: call again. */
  readonly hasMore: boolean
}

/**
 * Queues for a webhook what it has not got of a time: events that failed for good, and those that
 * happened while it was off, but none from before it was made. Under their old ids, so that nothing counts
 * twice for a receiver which looks at them; calling again queues only what is not queued or delivered.
 * Leaves audit entries.
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
  const missed = toMissedEvents(webhook, time, change.at)
  const { since } = missed
  const failed = await redriveDeliveries(change, { ...owner, ...time, since, states: ['dead'] })
  const missedCount = await insertMissedDeliveries(change.tx, missed, change.at)
  if (missedCount > 0) {
    tellDestinations(change, [webhook.destinationId])
    change.recordAudit({
      action: 'webhook.recovered',
      target: webhookTarget(webhook),
      description: `sent ${missedCount} events that the webhook ${webhook.name} had missed`,
      after: {
        count: missedCount,
        since: since.toISOString(),
        until: time.until?.toISOString() ?? null,
      },
    })
  }
  const hasMore = failed.hasMore || missedCount === REDRIVE_MAX
  return { since, failedCount: failed.count, missedCount, hasMore }
}

/**
 * What {@link recoverWebhook} would queue of a time, also while the webhook is off. Changes nothing.
 *
 * @throws AppError `not_found`
 */
export async function previewRecovery(
  db: Kysely<Schema>,
  id: string,
  time: RecoveredTime,
  now: Date,
): Promise<RecoveredWebhook> {
  const webhook = await getWebhook(db, id)
  const { destinationId, payload } = toWebhookOwner(webhook, 'show')
  const missed = toMissedEvents(webhook, time, now)
  const { since } = missed
  const failed = { destinationId, states: ['dead'] as const, since, until: time.until }
  const failedCount = await countRequeueable(db, failed, { payload })
  const missedCount = await countMissedEvents(db, missed)
  const hasMore = failedCount === REDRIVE_MAX || missedCount === REDRIVE_MAX
  return { since, failedCount, missedCount, hasMore }
}

/** What happened before a webhook was made was never meant for its receiver. */
function toMissedEvents(
  { destinationId, events, createdAt }: Webhook,
  { since, until }: RecoveredTime,
  now: Date,
): MissedEvents {
  const first = since < createdAt ? createdAt : since
  return { destinationId, events, since: first, until: until ?? now, limit: REDRIVE_MAX }
}

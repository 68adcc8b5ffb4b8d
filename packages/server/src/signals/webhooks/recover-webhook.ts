import { sql } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { notifyDestinations, type WakeDelivery } from '../dispatch/enqueue-deliveries.ts'
import { REDRIVE_MAX, redriveDeliveries } from '../dispatch/redrive-deliveries.ts'
import { webhookTarget } from './webhook-json.ts'
import { toWebhookOwner } from './webhook-owner.ts'
import { getWebhook, type Webhook } from './webhook-store.ts'

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
 * happened while it was off. Under their old ids, so that nothing is told twice to a receiver which
 * looks at them; calling again queues only what is not queued or delivered. Leaves audit entries.
 *
 * @throws AppError `not_found`; `conflict` while the webhook is off
 */
export async function recoverWebhook(
  change: Change,
  id: string,
  time: RecoveredTime,
  wake: WakeDelivery,
): Promise<RecoveredWebhook> {
  const webhook = await getWebhook(change.tx, id, { isLocked: true })
  const owner = toWebhookOwner(webhook, 'send')
  const failed = await redriveDeliveries(change, { ...owner, ...time, states: ['dead'] }, wake)
  const missedCount = await queueMissedEvents(change, webhook, time)
  if (missedCount > 0) {
    await notifyDestinations(change.tx, [webhook.destinationId])
    change.afterCommit(() => wake(webhook.destinationId))
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

async function queueMissedEvents(
  { tx, at }: Change,
  { destinationId, events }: Webhook,
  { since, until }: RecoveredTime,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    insert into delivery (destination_id, event_id, event_type, body, state, next_attempt_at, txn,
      created_at)
    select ${destinationId}::bigint, e.event_id, e.event_type, '', 'queued', ${at}::timestamptz,
      e.txn, ${at}::timestamptz
    from webhook_event e
    where e.created_at >= ${since} and e.created_at <= ${until ?? at}
      and e.event_type = any(${events}::text[]) and e.body is not null
      and not exists (select from delivery d
        where d.event_id = e.event_id and d.destination_id = ${destinationId})
    order by e.id
    limit ${REDRIVE_MAX}`.execute(tx)
  return Number(numAffectedRows)
}

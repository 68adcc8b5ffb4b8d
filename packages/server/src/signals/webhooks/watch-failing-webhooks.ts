/*
 * What becomes of webhooks that accept nothing: people are warned after one day and after three, and
 * after five the webhook is switched off. Counted from the first failure to the last one, so that a
 * webhook which nothing was sent to is never blamed. The database says since when; any process may look.
 */
import { sql, type Kysely } from 'kysely'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Change, RunChange } from '../../changes/change.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { disableWebhookOf } from './disable-webhook.ts'
import { webhookTarget } from './webhook-json.ts'
import { findWebhookOfDestination, updateWebhook } from './webhook-store.ts'

/** Days of nothing but failure after which people are warned. */
export const WARNING_DAYS: readonly number[] = [1, 3]
/** Days of nothing but failure after which a webhook is switched off. */
export const DISABLING_DAYS = 5

export interface WatchDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
}

interface FailingWebhook {
  readonly destination_id: string
  readonly failing_since: Date
  readonly last_failure_at: Date
  readonly last_failure: string | null
}

/**
 * Warns of failing webhooks and switches off those that have failed too long, each in a change of its
 * own with an audit entry and an event. Answers how many were touched. Idempotent: a warning is given
 * once, also when several processes look at the same time.
 */
export async function watchFailingWebhooks({ db, runChange }: WatchDependencies): Promise<number> {
  const [firstDays = 1] = WARNING_DAYS
  const { rows } = await sql<{ destination_id: string }>`
    select w.destination_id from webhook w join delivery_destination d on d.id = w.destination_id
    where w.enabled and (
      d.last_failure_at >= d.failing_since + make_interval(days => ${firstDays}::int)
      or (w.failure_warned_days > 0 and d.failing_since is null))
    order by w.id`.execute(db)
  let count = 0
  for (const { destination_id: id } of rows) {
    const isTouched = await runChange({ actor: SYSTEM_ACTOR }, (change) => judge(change, id))
    if (isTouched) count += 1
  }
  return count
}

async function judge(change: Change, destinationId: string): Promise<boolean> {
  const { tx, at } = change
  const webhook = await findWebhookOfDestination(tx, destinationId)
  if (webhook === undefined || !webhook.enabled) return false
  const failing = await findFailure(tx, destinationId)
  const { failureWarnedDays: warnedDays } = webhook
  if (failing === undefined) {
    if (warnedDays > 0) await updateWebhook(tx, webhook.id, { failureWarnedDays: 0 })
    return false
  }
  const days = (failing.last_failure_at.getTime() - failing.failing_since.getTime()) / DAY_MS
  if (days >= DISABLING_DAYS) {
    await disableWebhookOf(change, destinationId, { reason: 'failing', error: toReason(failing) })
    return true
  }
  const due = WARNING_DAYS.findLast((limit) => days >= limit) ?? 0
  if (due <= warnedDays) return false
  await updateWebhook(tx, webhook.id, { failureWarnedDays: due, updatedAt: at })
  const reason = toReason(failing)
  change.recordAudit({
    action: 'webhook.failing',
    target: webhookTarget(webhook),
    description: `found that the webhook ${webhook.name} has accepted nothing for ${toDays(due)}; it is switched off after ${toDays(DISABLING_DAYS)}`,
    after: { failing_since: failing.failing_since.toISOString(), reason },
  })
  change.recordEvent({ type: 'webhook.failing', webhookId: webhook.id, reason })
  return true
}

async function findFailure(
  db: Kysely<Schema>,
  destinationId: string,
): Promise<FailingWebhook | undefined> {
  const { rows } = await sql<FailingWebhook>`
    select id as destination_id, failing_since, last_failure_at, last_failure
    from delivery_destination
    where id = ${destinationId} and failing_since is not null and last_failure_at is not null`.execute(
    db,
  )
  return rows[0]
}

function toReason({ failing_since: since, last_failure: failure }: FailingWebhook): string {
  const last = failure === null ? '' : `; the last answer: ${failure}`
  return `Nothing has been accepted since ${since.toISOString()}${last}`
}

function toDays(count: number): string {
  return count === 1 ? 'a day' : `${count} days`
}

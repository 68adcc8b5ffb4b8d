/*
 * What becomes of webhooks that accept nothing: people are warned after one day and after three, and
 * after five the webhook is switched off. Counted from the first failure to the last one, so that a
 * webhook which nothing was sent to is never blamed. The database says since when; any process may look.
 */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { disableWebhookOf } from './disable-webhook.ts'
import { webhookTarget } from './webhook-json.ts'
import {
  findReceiverFailure,
  findWebhookOfDestination,
  listTroubledDestinations,
  updateWebhook,
  type ReceiverFailure,
} from './webhook-store.ts'

/** Days of nothing but failure after which people are warned. */
export const WARNING_DAYS: readonly number[] = [1, 3]
/** Days of nothing but failure after which a webhook is switched off. */
export const DISABLING_DAYS = 5

export type WatchDependencies = Pick<Foundation, 'db' | 'runChange'>

/**
 * Warns of failing webhooks and switches off those that have failed too long, each in a change of its
 * own with an audit entry and an event. Answers how many were touched. Idempotent: a warning is given
 * once, also when several processes look at the same time.
 */
export async function watchFailingWebhooks({ db, runChange }: WatchDependencies): Promise<number> {
  const [firstDays = 1] = WARNING_DAYS
  let count = 0
  for (const id of await listTroubledDestinations(db, firstDays)) {
    const isTouched = await runChange({ actor: SYSTEM_ACTOR }, (change) => judge(change, id))
    if (isTouched) count += 1
  }
  return count
}

async function judge(change: Change, destinationId: DestinationId): Promise<boolean> {
  const { tx, at } = change
  const webhook = await findWebhookOfDestination(tx, destinationId, { isLocked: true })
  if (webhook === undefined || !webhook.enabled) return false
  const failing = await findReceiverFailure(tx, destinationId)
  const { failureWarnedDays: warnedDays } = webhook
  if (failing === undefined) {
    if (warnedDays > 0) await updateWebhook(tx, webhook.id, { failureWarnedDays: 0 })
    return false
  }
  const days = (failing.lastFailureAt.getTime() - failing.failingSince.getTime()) / DAY_MS
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
    after: { failing_since: failing.failingSince.toISOString(), reason },
  })
  change.recordEvent({ type: 'webhook.failing', webhookId: webhook.id, reason })
  return true
}

function toReason({ failingSince: since, lastFailure: failure }: ReceiverFailure): string {
  const last = failure === null ? '' : `; the last answer: ${failure}`
  return `Nothing has been accepted since ${since.toISOString()}${last}`
}

function toDays(count: number): string {
  return count === 1 ? 'a day' : `${count} days`
}

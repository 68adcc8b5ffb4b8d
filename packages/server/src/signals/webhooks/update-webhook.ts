import { isDeepStrictEqual } from 'node:util'
import type { Updateable } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { updateDestination } from '../dispatch/destination-store.ts'
import { notifyDestinations } from '../dispatch/enqueue-deliveries.ts'
import type { WebhookTable } from '../../schema/tables/webhook-tables.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { assertWebhookHeaders, assertWebhookUrl } from './assert-webhook-input.ts'
import type { WebhookDependencies } from './webhook-dependencies.ts'
import { webhookHeadersContext } from './webhook-headers.ts'
import type { WebhookEdit } from './webhook-input.ts'
import { toWebhookAudit, webhookTarget } from './webhook-json.ts'
import { setPace } from './webhook-pace-store.ts'
import {
  getWebhook,
  getWebhookRecord,
  updateWebhook,
  type WebhookRecord,
  type Webhook,
} from './webhook-store.ts'

/**
 * Changes what is given of a webhook and leaves an audit entry with the values before and after; a
 * change of nothing leaves none. A webhook that is switched on again sends what was waiting when it was
 * switched off; what happened in between is for `recoverWebhook`. The receiver is tried at once.
 *
 * @throws AppError `not_found`; `target_refused`; `invalid_body` for headers that cannot be sent
 */
export async function changeWebhook(
  change: Change,
  id: string,
  edit: WebhookEdit,
  { sealer, targetPolicy, wake }: Omit<WebhookDependencies, 'webhooksMax'>,
): Promise<WebhookRecord> {
  const { tx, at } = change
  const before = await getWebhook(tx, id, { isLocked: true })
  const known = await getWebhookRecord(tx, id, at)
  const url =
    edit.url === undefined || edit.url === before.url
      ? before.url
      : assertWebhookUrl(edit.url, targetPolicy)
  const values = { ...toPlainValues(edit), url, ...toHeaderValues(before, edit, sealer) }
  const switched = toSwitch(before, edit.enabled, at)
  const rateLimit =
    edit.rate_limit_per_second === undefined
      ? known.rate_limit_per_second
      : edit.rate_limit_per_second
  const isPaced = rateLimit !== known.rate_limit_per_second
  if (!isChanged(before, values) && switched === undefined && !isPaced) return known
  const after = await updateWebhook(tx, before.id, { ...values, ...switched, updated_at: at })
  if (isPaced) await setPace(tx, before.destination_id, rateLimit, at)
  await updateDestination(tx, before.destination_id, {
    kind: 'webhook',
    state: after.enabled ? 'active' : 'held',
  })
  await notifyDestinations(tx, [before.destination_id])
  change.afterCommit(() => wake(before.destination_id))
  change.recordAudit({
    action: toAction(before, after),
    target: webhookTarget(after),
    description: toDescription(before, after),
    before: { ...toWebhookAudit(before), rate_limit_per_second: known.rate_limit_per_second },
    after: {
      ...toWebhookAudit(after),
      rate_limit_per_second: rateLimit,
      headers_changed: edit.headers !== undefined,
    },
  })
  return getWebhookRecord(tx, before.id, at)
}

type WebhookValues = Updateable<WebhookTable>

function toPlainValues(edit: WebhookEdit): WebhookValues {
  return {
    ...(edit.name === undefined ? {} : { name: edit.name }),
    ...(edit.description === undefined ? {} : { description: edit.description }),
    ...(edit.events === undefined ? {} : { events: [...edit.events] }),
  }
}

function toHeaderValues(
  { identifier, signing }: Webhook,
  { headers }: WebhookEdit,
  sealer: Sealer,
): WebhookValues {
  if (headers === undefined) return {}
  assertWebhookHeaders(headers, signing)
  const names = Object.keys(headers)
  const context = webhookHeadersContext(identifier)
  return {
    header_names: names,
    headers_sealed: names.length === 0 ? null : sealer.seal(JSON.stringify(headers), context),
  }
}

/** What switching on or off changes; undefined when it is so already. */
function toSwitch(
  before: Webhook,
  isEnabled: boolean | undefined,
  at: Date,
): WebhookValues | undefined {
  if (isEnabled === undefined || isEnabled === before.enabled) return undefined
  return isEnabled
    ? { enabled: true, disabled_reason: null, disabled_at: null, failure_warned_days: 0 }
    : { enabled: false, disabled_reason: 'admin', disabled_at: at }
}

/** Sealed values differ each time: given ones count as changed. */
function isChanged(before: Webhook, values: WebhookValues): boolean {
  return Object.entries(values).some(
    ([name, value]) => !isDeepStrictEqual(value, before[name as keyof Webhook]),
  )
}

function toAction(before: Webhook, after: Webhook): string {
  if (before.enabled === after.enabled) return 'webhook.updated'
  return after.enabled ? 'webhook.enabled' : 'webhook.disabled'
}

function toDescription(before: Webhook, after: Webhook): string {
  if (before.enabled === after.enabled) return `changed the webhook ${after.name}`
  return `switched the webhook ${after.name} ${after.enabled ? 'on' : 'off'}`
}

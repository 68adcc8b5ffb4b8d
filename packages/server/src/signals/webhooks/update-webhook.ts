import { isDeepStrictEqual } from 'node:util'
import type { Change } from '../../changes/change.ts'
import { updateDestination } from '../dispatch/destination-store.ts'
import { notifyDestinations } from '../dispatch/delivery-store.ts'
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
  type WebhookChanges,
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
  { sealer, targetPolicy }: Omit<WebhookDependencies, 'webhooksMax'>,
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
    edit.rate_limit_per_second === undefined ? known.rateLimitPerSecond : edit.rate_limit_per_second
  const isPaced = rateLimit !== known.rateLimitPerSecond
  if (!isChanged(before, values) && switched === undefined && !isPaced) return known
  const after = await updateWebhook(tx, before.id, { ...values, ...switched, updatedAt: at })
  if (isPaced) await setPace(tx, before.destinationId, rateLimit)
  await updateDestination(tx, before.destinationId, {
    kind: 'webhook',
    state: after.enabled ? 'active' : 'held',
  })
  await notifyDestinations(tx, [before.destinationId])
  change.recordAudit({
    action: toAction(before, after),
    target: webhookTarget(after),
    description: toDescription(before, after),
    before: { ...toWebhookAudit(before), rate_limit_per_second: known.rateLimitPerSecond },
    after: {
      ...toWebhookAudit(after),
      rate_limit_per_second: rateLimit,
      headers_changed: edit.headers !== undefined,
    },
  })
  return getWebhookRecord(tx, before.id, at)
}

function toPlainValues(edit: WebhookEdit): WebhookChanges {
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
): WebhookChanges {
  if (headers === undefined) return {}
  assertWebhookHeaders(headers, signing)
  const names = Object.keys(headers)
  const context = webhookHeadersContext(identifier)
  return {
    headerNames: names,
    headersSealed: names.length === 0 ? null : sealer.seal(JSON.stringify(headers), context),
  }
}

/** What switching on or off changes; undefined when it is so already. */
function toSwitch(
  before: Webhook,
  isEnabled: boolean | undefined,
  at: Date,
): WebhookChanges | undefined {
  if (isEnabled === undefined || isEnabled === before.enabled) return undefined
  return isEnabled
    ? { enabled: true, disabledReason: null, disabledAt: null, failureWarnedDays: 0 }
    : { enabled: false, disabledReason: 'admin', disabledAt: at }
}

/** Sealed values differ each time: given ones count as changed. */
function isChanged(before: Webhook, values: WebhookChanges): boolean {
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

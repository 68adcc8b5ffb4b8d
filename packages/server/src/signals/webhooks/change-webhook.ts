/*
 * The life of webhooks, addresses that receive events: made, changed, switched on and off, deleted. Owns
 * what each leaves in the audit log; secrets are webhook-secrets.ts's, and sending is the delivery engine's.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Change } from '../../changes/change.ts'
import { AppError, invalidBody } from '../../platform/app-error.ts'
import { givenMembers } from '../../platform/given-members.ts'
import { newUuid } from '../../platform/ids.ts'
import type { TargetPolicy } from '../../platform/net/target-policy.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { assertTarget } from '../dispatch/assert-target.ts'
import { tellDestinations, notifyTargetChanged } from '../dispatch/delivery-store.ts'
import { isSameHost } from '../dispatch/is-same-host.ts'
import {
  insertDestination,
  updateDestination,
  updateDestinationState,
} from '../dispatch/destination-store.ts'
import {
  assertWebhookHeaders,
  webhookHeadersContext,
  type CustomHeaders,
} from './webhook-headers.ts'
import type { NewWebhook, WebhookEdit } from './webhook-input.ts'
import { toWebhookAudit, webhookTarget } from './webhook-json.ts'
import { setPace } from './webhook-pace-store.ts'
import { addWebhookSecret, type WebhookWithSecret } from './webhook-secrets.ts'
import {
  countWebhooksLocked,
  deleteWebhookRow,
  getWebhook,
  getWebhookRecord,
  insertWebhook,
  updateWebhook,
  type Webhook,
  type WebhookChanges,
  type WebhookRecord,
} from './webhook-store.ts'

/** What the use cases of webhooks work with. */
export interface WebhookDependencies {
  readonly sealer: Sealer
  readonly targetPolicy: TargetPolicy
  readonly webhooksMax: number
}

/**
 * Creates a webhook with a secret of its own and leaves an audit entry. It receives events of every
 * change that commits after this one.
 *
 * @throws AppError `target_refused`; `invalid_body` for headers that cannot be sent; `limit_reached`
 */
export async function createWebhook(
  change: Change,
  input: NewWebhook,
  { sealer, targetPolicy, webhooksMax }: WebhookDependencies,
): Promise<WebhookWithSecret> {
  const { tx, at } = change
  const signing = input.signing ?? 'standard'
  const url = assertTarget(input.url, targetPolicy, 'url', 'posted')
  const identifier = newUuid()
  const headers = toHeaderValues({ identifier, signing }, input.headers ?? {}, sealer)
  await assertRoom(change, webhooksMax)
  const isEnabled = input.enabled ?? true
  const destinationId = await insertDestination(tx, {
    kind: 'webhook',
    state: isEnabled ? 'active' : 'held',
  })
  const webhook = await insertWebhook(tx, {
    destinationId,
    identifier,
    name: input.name,
    description: input.description ?? null,
    url,
    events: [...input.events],
    enabled: isEnabled,
    disabledReason: isEnabled ? null : 'admin',
    disabledAt: isEnabled ? null : at,
    signing,
    ...headers,
    createdAt: at,
    updatedAt: at,
  })
  const { secret } = await addWebhookSecret(change, webhook, sealer)
  const rateLimit = input.rate_limit_per_second ?? null
  if (rateLimit !== null) await setPace(tx, destinationId, rateLimit)
  change.recordAudit({
    action: 'webhook.created',
    target: webhookTarget(webhook),
    description: `created the webhook ${webhook.name}`,
    after: { ...toWebhookAudit(webhook), rate_limit_per_second: rateLimit },
  })
  return { webhook: await getWebhookRecord(tx, webhook.id, at), secret }
}

/**
 * Changes what is given of a webhook and leaves an audit entry with the values before and after; a
 * change of nothing leaves none. A webhook that is switched on again leaves an event and sends what was
 * waiting when it was switched off; what happened in between is for `recoverWebhook`. The receiver is tried at once.
 *
 * @throws AppError `not_found`; `target_refused`; `invalid_body` for headers that cannot be sent, or are not given for
 *   another host
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
  const url = toUrl(before, edit, targetPolicy)
  const headers = edit.headers && toHeaderValues(before, edit.headers, sealer)
  const { name, description, events } = edit
  const plain = givenMembers({ name, description, events: events && [...events] })
  const values = { ...plain, url, ...headers }
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
  tellDestinations(change, [before.destinationId])
  if (isSentOtherwise(before, after)) await notifyTargetChanged(tx, before.destinationId)
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
  if (after.enabled && !before.enabled) {
    const { id: webhookId, disabledReason, disabledAt } = before
    change.recordEvent({ type: 'webhook.enabled', webhookId, disabledReason, disabledAt })
  }
  return getWebhookRecord(tx, before.id, at)
}

/**
 * Deletes a webhook with its secrets and everything that is queued for it, and leaves an audit entry.
 * The events that it received stay.
 *
 * @throws AppError `not_found`
 */
export async function deleteWebhook(change: Change, id: string): Promise<WebhookRecord> {
  const { tx, at } = change
  const webhook = await getWebhook(tx, id, { isLocked: true })
  const known = await getWebhookRecord(tx, id, at)
  await deleteWebhookRow(tx, webhook.id)
  await updateDestinationState(tx, webhook.destinationId, 'deleted')
  tellDestinations(change, [webhook.destinationId])
  change.recordAudit({
    action: 'webhook.deleted',
    target: webhookTarget(webhook),
    description: `deleted the webhook ${webhook.name}`,
    before: toWebhookAudit(webhook),
  })
  return known
}

async function assertRoom(change: Change, webhooksMax: number): Promise<void> {
  if ((await countWebhooksLocked(change.tx)) < webhooksMax) return
  throw new AppError(
    'limit_reached',
    `There are ${webhooksMax} webhooks, as many as HELIOGRAPH_WEBHOOKS_MAX allows. Delete one that is not needed.`,
  )
}

function toHeaderValues(
  { identifier, signing }: Pick<Webhook, 'identifier' | 'signing'>,
  headers: CustomHeaders,
  sealer: Sealer,
) {
  assertWebhookHeaders(headers, signing)
  const headerNames = Object.keys(headers)
  const context = webhookHeadersContext(identifier)
  const headersSealed =
    headerNames.length === 0 ? null : sealer.seal(JSON.stringify(headers), context)
  return { headerNames, headersSealed }
}

/** Where a webhook posts to from now on: to another host with headers that are given for that. */
function toUrl(before: Webhook, { url, headers }: WebhookEdit, targetPolicy: TargetPolicy): string {
  if (url === undefined || url === before.url) return before.url
  const checked = assertTarget(url, targetPolicy, 'url', 'posted')
  const keepsHeaders = headers === undefined && before.headersSealed !== null
  if (!keepsHeaders || isSameHost(before.url, checked)) return checked
  const message = 'This is required with another host: the headers were given for the one before.'
  throw invalidBody([{ path: 'headers', message }])
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

function isSentOtherwise(before: Webhook, after: Webhook): boolean {
  return before.url !== after.url || !isDeepStrictEqual(before.headersSealed, after.headersSealed)
}

function toAction(before: Webhook, after: Webhook): string {
  if (before.enabled === after.enabled) return 'webhook.updated'
  return after.enabled ? 'webhook.enabled' : 'webhook.disabled'
}

function toDescription(before: Webhook, after: Webhook): string {
  if (before.enabled === after.enabled) return `changed the webhook ${after.name}`
  return `switched the webhook ${after.name} ${after.enabled ? 'on' : 'off'}`
}

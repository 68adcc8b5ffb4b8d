/*
 * Webhooks: addresses that are told of events. Owns endpoints, their secrets and the events that are
 * told; the engine that delivers them is delivery/.
 */
import type { Change } from '../../changes/change.ts'
import { insertDestination } from '../dispatch/destination-store.ts'
import { AppError } from '../../platform/app-error.ts'
import { newUuid } from '../../platform/ids.ts'
import { addWebhookSecret, type WebhookWithSecret } from './add-webhook-secret.ts'
import { assertWebhookHeaders, assertWebhookUrl } from './assert-webhook-input.ts'
import type { WebhookDependencies } from './webhook-dependencies.ts'
import { webhookHeadersContext } from './webhook-headers.ts'
import type { NewWebhook } from './webhook-input.ts'
import { toWebhookAudit, webhookTarget } from './webhook-json.ts'
import { setPace } from './webhook-pace-store.ts'
import { countWebhooksLocked, getWebhookRecord, insertWebhook } from './webhook-store.ts'

/**
 * Creates a webhook with a secret of its own and leaves an audit entry. It is told of events of every
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
  const headers = input.headers ?? {}
  const url = assertWebhookUrl(input.url, targetPolicy)
  assertWebhookHeaders(headers, signing)
  await assertRoom(change, webhooksMax)
  const isEnabled = input.enabled ?? true
  const identifier = newUuid()
  const headerNames = Object.keys(headers)
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
    headerNames: headerNames,
    headersSealed:
      headerNames.length === 0
        ? null
        : sealer.seal(JSON.stringify(headers), webhookHeadersContext(identifier)),
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

async function assertRoom(change: Change, webhooksMax: number): Promise<void> {
  if ((await countWebhooksLocked(change.tx)) < webhooksMax) return
  throw new AppError(
    'limit_reached',
    `There are ${webhooksMax} webhooks, as many as HELIOGRAPH_WEBHOOKS_MAX allows. Delete one that is not needed.`,
  )
}

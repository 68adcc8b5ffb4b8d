/*
 * A webhook as deliveries are made for it: where to, and what signs. Read anew for every batch of
 * deliveries, so that a change counts for whatever is sent after it.
 */
import { MINUTE_MS, toEpochSeconds } from '../../platform/clock.ts'
import type { OutboundRequest } from '../../platform/net/guarded-client.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { webhookHeadersContext, type CustomHeaders } from './webhook-headers.ts'
import {
  createWebhookSigner,
  webhookSecretContext,
  withoutPrefix,
  type WebhookSigner,
} from './webhook-secret.ts'
import type { WebhookSending } from './webhook-store.ts'

/** Where and how the events of a webhook are posted. */
export interface WebhookTarget {
  readonly webhookId: string
  readonly url: string
  readonly identifier: string
  readonly headers: CustomHeaders
  /** The receiver knows them too, and may repeat them. */
  readonly secrets: readonly string[]
  /** The present secret last, as its owner may not know it yet. */
  readonly signers: readonly WebhookSigner[]
  /** Whether `Authorization` carries the signature of the body. */
  readonly isHex: boolean
}

/** Headers that anybody may see; what their owner has added may be secret. */
const OPEN_HEADERS = [
  'webhook-id',
  'webhook-signature',
  'webhook-timestamp',
  'x-kolide-webhook-identifier',
  'x-service-webhook-identifier',
]

/** What a request is made from. */
export interface WebhookMessage {
  readonly eventId: string
  readonly body: string
}

type OpenedFrom = Pick<WebhookSending, 'webhook' | 'secrets'>

/** Opens what requests of a webhook are made from. */
export function toWebhookTarget(
  { webhook, secrets: live }: OpenedFrom,
  sealer: Sealer,
): WebhookTarget {
  const secrets = live.map(({ id, secretSealed }) =>
    sealer.openText(secretSealed, webhookSecretContext(id)),
  )
  return {
    webhookId: webhook.id,
    url: webhook.url,
    identifier: webhook.identifier,
    headers: openHeaders(webhook, sealer),
    secrets: secrets.flatMap((secret) => [secret, withoutPrefix(secret)]),
    signers: secrets.map((secret) => createWebhookSigner(webhook.signing, secret)),
    isHex: webhook.signing === 'hex',
  }
}

/** Webhooks whose secrets are kept open in a process: those that changed longest ago give way. */
const OPENED_MAX = 1_024
/** No secret stays open for longer than this when its webhook is gone or has another one. */
const OPENED_MAX_MS = 10 * MINUTE_MS

/**
 * Creates what opens the targets of a process. One that was read as it was the last time is not opened again: opening
 * secrets takes longer than making a request with them.
 */
export function createTargetOpener(sealer: Sealer): (sending: OpenedFrom) => WebhookTarget {
  const opened = new Map<string, { readonly from: string; readonly target: WebhookTarget }>()
  let forgetting: NodeJS.Timeout | undefined
  const forget = () => {
    opened.clear()
    forgetting = undefined
  }
  return (sending) => {
    const { webhook, secrets } = sending
    const from = JSON.stringify([
      webhook.url,
      webhook.identifier,
      webhook.signing,
      webhook.headersSealed?.toString('base64'),
      secrets.map(({ id, secretSealed }) => [id, secretSealed.toString('base64')]),
    ])
    const known = opened.get(webhook.id)
    if (known?.from === from) return known.target
    const target = toWebhookTarget(sending, sealer)
    opened.delete(webhook.id)
    const [oldest] = opened.keys()
    if (opened.size >= OPENED_MAX && oldest !== undefined) opened.delete(oldest)
    opened.set(webhook.id, { from, target })
    forgetting ??= setTimeout(forget, OPENED_MAX_MS).unref()
    return target
  }
}

function openHeaders(
  { identifier, headersSealed: sealed }: WebhookSending['webhook'],
  sealer: Sealer,
): CustomHeaders {
  if (sealed === null) return {}
  return JSON.parse(sealer.openText(sealed, webhookHeadersContext(identifier))) as CustomHeaders
}

/**
 * The request that posts one event at `now`: Standard Webhooks, and for webhooks of the form `hex` the
 * bare signature of the body in `Authorization`. There is room for one there: while an old secret is in
 * use, it signs.
 */
export function toWebhookRequest(
  target: WebhookTarget,
  { eventId, body }: WebhookMessage,
  now: Date,
): OutboundRequest {
  const message = { id: eventId, timestamp: toEpochSeconds(now), body }
  const bodySignature = target.isHex ? target.signers[0]?.signBody(body) : undefined
  return {
    url: target.url,
    method: 'POST',
    headers: {
      ...target.headers,
      'content-type': 'application/json',
      accept: 'application/json',
      'webhook-id': eventId,
      'webhook-timestamp': String(message.timestamp),
      'webhook-signature': target.signers.map((signer) => signer.sign(message)).join(' '),
      'x-service-webhook-identifier': target.identifier,
      'x-kolide-webhook-identifier': target.identifier,
      ...(bodySignature === undefined ? {} : { authorization: bodySignature }),
    },
    openHeaders: OPEN_HEADERS,
    body,
    secrets: target.secrets,
  }
}

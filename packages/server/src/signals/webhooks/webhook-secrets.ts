/*
 * The secrets of a webhook: made, replaced with an overlap, shown. Their forms and the signatures made with
 * them are webhook-secret.ts's.
 */
import type { Change } from '../../changes/change.ts'
import { AppError, invalidBody } from '../../platform/app-error.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { notifyTargetChanged } from '../dispatch/delivery-store.ts'
import { webhookTarget } from './webhook-json.ts'
import { generateWebhookSecret, webhookSecretContext, type SigningForm } from './webhook-secret.ts'
import {
  deleteEndedSecrets,
  endSecrets,
  getWebhook,
  getWebhookRecord,
  insertWebhookSecret,
  listLiveSecrets,
  type Webhook,
  type WebhookRecord,
} from './webhook-store.ts'

/** How long the old secret goes on signing when nothing else is asked for. */
export const OVERLAP_DEFAULT_MS = DAY_MS

/** An old secret must end some day. */
export const OVERLAP_MAX_MS = 30 * DAY_MS

/** As many signatures as a delivery may carry. */
const LIVE_SECRETS_MAX = 10

/** A webhook with the secret that was made for it. */
export interface WebhookWithSecret {
  readonly webhook: WebhookRecord
  /** What receivers verify with; null for a key pair, whose public key the webhook shows. */
  readonly secret: string | null
}

/** Makes a secret for a webhook that has no present one; answers what its owner is shown of it. */
export async function addWebhookSecret(
  change: Change,
  webhook: Pick<Webhook, 'id' | 'signing'>,
  sealer: Sealer,
): Promise<Pick<WebhookWithSecret, 'secret'>> {
  const { secret, publicKey } = generateWebhookSecret(webhook.signing)
  const id = newUuid()
  await insertWebhookSecret(change.tx, {
    id,
    webhookId: webhook.id,
    secretSealed: sealer.seal(secret, webhookSecretContext(id)),
    publicKey,
    createdAt: change.at,
    endsAt: null,
  })
  return { secret: publicKey === null ? secret : null }
}

/**
 * Gives a webhook a new secret and leaves an audit entry. Until `oldSecretEndsAt` deliveries are signed
 * with the old one as well; at once when it is the time of the change.
 *
 * @throws AppError `not_found`; `invalid_body` for an end in the past or too far away; `conflict` when
 * too many old secrets are still in use
 */
export async function rotateWebhookSecret(
  change: Change,
  id: string,
  oldSecretEndsAt: Date | undefined,
  sealer: Sealer,
): Promise<WebhookWithSecret> {
  const { tx, at } = change
  const webhook = await getWebhook(tx, id, { isLocked: true })
  const endsAt = oldSecretEndsAt ?? new Date(at.getTime() + OVERLAP_DEFAULT_MS)
  assertOverlap(endsAt, at)
  await endSecrets(tx, webhook.id, endsAt)
  await deleteEndedSecrets(tx, webhook.id, at)
  if ((await listLiveSecrets(tx, webhook.id, at)).length >= LIVE_SECRETS_MAX) {
    throw new AppError(
      'conflict',
      `${LIVE_SECRETS_MAX - 1} old secrets are still in use. End them first: rotate with \`immediate\`.`,
    )
  }
  const { secret } = await addWebhookSecret(change, webhook, sealer)
  await notifyTargetChanged(tx, webhook.destinationId)
  change.recordAudit({
    action: 'webhook.secret_rotated',
    target: webhookTarget(webhook),
    description: `gave the webhook ${webhook.name} a new secret`,
    after: { old_secrets_end_at: endsAt > at ? endsAt.toISOString() : null },
  })
  return { webhook: await getWebhookRecord(tx, webhook.id, at), secret }
}

function assertOverlap(endsAt: Date, at: Date): void {
  const overlapMs = endsAt.getTime() - at.getTime()
  if (overlapMs >= 0 && overlapMs <= OVERLAP_MAX_MS) return
  const days = OVERLAP_MAX_MS / DAY_MS
  const message = `Must be a time from now on, at most ${days} days away.`
  throw invalidBody([{ path: 'old_secret_ends_at', message }])
}

/** The secret of a webhook, as its owner needs it. */
export interface RevealedSecret {
  readonly id: string
  readonly signing: SigningForm
  /** Null for a key pair: its private key never leaves the service. */
  readonly secret: string | null
  readonly publicKey: string | null
}

/**
 * The present secret of a webhook; the audit entry names who saw it: `viewer`, where that is not who
 * makes the change.
 *
 * @throws AppError `not_found`
 */
export async function revealWebhookSecret(
  change: Change,
  id: string,
  sealer: Sealer,
  viewer?: string,
): Promise<RevealedSecret> {
  const webhook = await getWebhook(change.tx, id, { isLocked: true })
  const present = (await listLiveSecrets(change.tx, webhook.id, change.at)).at(-1)
  if (present === undefined) throw new Error(`the webhook ${id} has no secret`)
  change.recordAudit({
    action: 'webhook.secret_revealed',
    target: webhookTarget(webhook),
    description: `revealed the secret of the webhook ${webhook.name}${viewer === undefined ? '' : ` to ${viewer}`}`,
  })
  const { publicKey } = present
  const secret =
    publicKey === null
      ? sealer.openText(present.secretSealed, webhookSecretContext(present.id))
      : null
  return { id: webhook.id, signing: webhook.signing, secret, publicKey }
}

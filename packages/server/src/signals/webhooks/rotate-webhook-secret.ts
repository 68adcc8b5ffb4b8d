import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { addWebhookSecret, type WebhookWithSecret } from './add-webhook-secret.ts'
import { webhookTarget } from './webhook-json.ts'
import {
  deleteEndedSecrets,
  endSecrets,
  getWebhook,
  getWebhookRecord,
  listLiveSecrets,
} from './webhook-store.ts'

/** How long the old secret goes on signing when nothing else is asked for. */
export const OVERLAP_DEFAULT_MS = DAY_MS

/** An old secret must end some day. */
export const OVERLAP_MAX_MS = 30 * DAY_MS

/** As many signatures as a delivery may carry. */
const LIVE_SECRETS_MAX = 10

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
  throw new AppError('invalid_body', `The body is not valid. old_secret_ends_at: ${message}`, {
    details: [{ path: 'old_secret_ends_at', message }],
  })
}

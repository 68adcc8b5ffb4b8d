import type { Change } from '../../changes/change.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { generateWebhookSecret, webhookSecretContext } from './webhook-secret.ts'
import { insertWebhookSecret, type Webhook, type WebhookRecord } from './webhook-store.ts'

/** A webhook with the secret that was made for it. */
export interface WebhookWithSecret {
  readonly webhook: WebhookRecord
  /** What receivers verify with; null for a key pair, whose public key the webhook shows. */
  readonly secret: string | null
}

/** Makes a secret for a webhook that has no present one; answers what its owner is told of it. */
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

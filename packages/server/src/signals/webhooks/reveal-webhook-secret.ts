import type { Kysely } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { findAdminAccess } from '../../organisation/admins/admin-store.ts'
import { AppError } from '../../platform/app-error.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { webhookTarget } from './webhook-json.ts'
import { webhookSecretContext, type SigningForm } from './webhook-secret.ts'
import { getWebhook, listLiveSecrets } from './webhook-store.ts'

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

/**
 * Refuses callers behind whom no admin with Full Access stands.
 *
 * @throws AppError `permission_missing`
 */
export async function assertFullAccess(
  db: Kysely<Schema>,
  principal: { readonly kind: string; readonly id: string },
): Promise<void> {
  if ((await findAdminAccess(db, principal)) === 'full') return
  throw new AppError(
    'permission_missing',
    'Secrets are shown to admins with Full Access only, and to the keys that they answer for.',
  )
}

import { findAdminByEmail, hasFullAccess } from '../admins/find-admin.ts'
import type { JsonObject } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { apiKeyContext } from './api-key-secret.ts'
import { getKeyForUpdate } from './api-key-store.ts'
import { assertMayHaveSecretOf, type Grantor } from './grantor.ts'

/**
 * The plain text of a key, for an admin with Full Access; the audit entry names who saw it.
 *
 * @throws AppError `not_found`; `invalid_body` when the admin does not exist or has no Full Access;
 *   `conflict` when the key is revoked
 */
export async function revealApiKey(
  change: Change,
  sealer: Sealer,
  keyId: string,
  adminEmail: string,
): Promise<string> {
  const admin = await findAdminByEmail(change.tx, adminEmail)
  if (admin === undefined || !hasFullAccess(admin)) {
    const message = 'must be an admin with Full Access'
    throw new AppError('invalid_body', `admin ${message}.`, {
      details: [{ path: 'admin', message }],
    })
  }
  return openKey(change, sealer, keyId, { viewer: admin.email, facts: { admin_id: admin.id } })
}

/**
 * The plain text of a key, for a caller of the API who holds what the key does, and for as long. The audit entry, which
 * names the reason, is durable before the text is shown.
 *
 * @throws AppError `not_found`, `permission_missing`; `conflict` when the key is revoked
 */
export async function revealApiKeyTo(
  change: Change,
  sealer: Sealer,
  viewer: Grantor,
  { keyId, reason }: { readonly keyId: string; readonly reason: string },
): Promise<string> {
  await assertMayHaveSecretOf(change, viewer, keyId)
  return openKey(change, sealer, keyId, { viewer: viewer.name, facts: { reason } })
}

async function openKey(
  change: Change,
  sealer: Sealer,
  keyId: string,
  { viewer, facts }: { readonly viewer: string; readonly facts: JsonObject },
): Promise<string> {
  const key = await getKeyForUpdate(change.tx, keyId)
  if (key.revokedAt !== null) {
    throw new AppError('conflict', `The API key ${keyId} is revoked.`)
  }
  change.recordAudit({
    action: 'api_key.revealed',
    target: { type: 'api_key', id: key.id },
    description: `revealed the API key ${key.name} to ${viewer}`,
    after: facts,
  })
  return sealer.openText(key.secretSealed, apiKeyContext(key.secretHash))
}

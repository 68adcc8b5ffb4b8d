import { findAdminByEmail } from '../admins/find-admin.ts'
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { apiKeyContext } from './api-key-secret.ts'
import { getKeyForUpdate } from './api-key-store.ts'

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
  if (admin?.access !== 'full') {
    const message = 'must be an admin with Full Access'
    throw new AppError('invalid_body', `admin ${message}.`, {
      details: [{ path: 'admin', message }],
    })
  }
  const key = await getKeyForUpdate(change.tx, keyId)
  if (key.revokedAt !== null) {
    throw new AppError('conflict', `The API key ${keyId} is revoked.`)
  }
  change.recordAudit({
    action: 'api_key.revealed',
    target: { type: 'api_key', id: key.id },
    description: `revealed the API key ${key.name} to ${admin.email}`,
    after: { admin_id: admin.id },
  })
  return sealer.openText(key.secretSealed, apiKeyContext(key.secretHash))
}

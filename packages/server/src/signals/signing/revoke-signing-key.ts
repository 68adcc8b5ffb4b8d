import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { notify } from '../../platform/db/listener.ts'
import { findGeneralKey, findPendingKey } from './signing-key.ts'
import {
  getSigningKey,
  listSigningKeys,
  lockSigningKeys,
  updateSigningKey,
  type SigningKeyRecord,
} from './signing-key-store.ts'
import {
  addSigningKey,
  SIGNING_KEY_CHANNEL,
  toSigningKeyAudit,
  type SigningKeyDependencies,
} from './signing-keys.ts'
import { deleteStreamKeysOf } from './stream-key-store.ts'

/** What a revocation came to. */
export interface RevokedKey {
  readonly revoked: SigningKeyRecord
  /** Signs for every stream from now on. */
  readonly active: SigningKeyRecord
}

/**
 * Ends a compromised key at once: it is not published any more, and what waits under it is signed
 * again when it is sent. When it was the one in use, the key of the rotation that is under way takes
 * over, or else a new one, both without their time ahead: receivers that cache the key set refuse it
 * until they fetch the set again, which is why such refusals are tried again for a day.
 *
 * @throws AppError `not_found`; `conflict` for a key that is revoked already.
 */
export async function revokeSigningKey(
  change: Change,
  kid: string,
  dependencies: SigningKeyDependencies,
): Promise<RevokedKey> {
  await lockSigningKeys(change.tx)
  const before = await getSigningKey(change.tx, kid)
  if (before.revokedAt !== null) {
    throw new AppError('conflict', 'This signing key is revoked already.')
  }
  const revoked = await updateSigningKey(change.tx, kid, {
    revokedAt: change.at,
    retiredAt: change.at,
  })
  await deleteStreamKeysOf(change.tx, kid)
  const active = await ensureActiveKey(change, before, dependencies)
  await notify(change.tx, SIGNING_KEY_CHANNEL)
  change.recordAudit({
    action: 'signing_key.revoked',
    target: { type: 'signing_key', id: kid },
    description: `revoked the signing key ${kid}`,
    before: toSigningKeyAudit(before),
    after: { ...toSigningKeyAudit(revoked), active_kid: active.kid },
  })
  return { revoked, active }
}

/** An earlier key does not come back: whoever took one key may have taken what lay beside it. */
async function ensureActiveKey(
  change: Change,
  revoked: SigningKeyRecord,
  dependencies: SigningKeyDependencies,
): Promise<SigningKeyRecord> {
  const keys = await listSigningKeys(change.tx)
  const general = findGeneralKey(keys, change.at)
  const wasInUse = findGeneralKey([revoked, ...keys], change.at)?.kid === revoked.kid
  if (general !== undefined && !wasInUse) {
    if (general.retiredAt === null) return general
    const isReplaced = findPendingKey(keys, change.at) !== undefined
    // The key that was to replace it is the revoked one.
    return isReplaced ? general : updateSigningKey(change.tx, general.kid, { retiredAt: null })
  }
  const at = { activeFrom: change.at, generalFrom: change.at }
  const pending = findPendingKey(keys, change.at)
  if (pending === undefined) return addSigningKey(change, dependencies, at)
  return updateSigningKey(change.tx, pending.kid, {
    activeFrom: at.activeFrom,
    generalFrom: at.generalFrom,
  })
}

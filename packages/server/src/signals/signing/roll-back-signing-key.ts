import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { notify } from '../../platform/db/listener.ts'
import { findGeneralKey, findPendingKey, findPreviousKey } from './signing-key.ts'
import {
  listSigningKeys,
  lockSigningKeys,
  updateSigningKey,
  type SigningKeyRecord,
} from './signing-key-store.ts'
import { PUBLICATION_OVERLAP_MS, SIGNING_KEY_CHANNEL, toSigningKeyAudit } from './signing-keys.ts'
import { deleteStreamKeysOf, rebindQueued } from './stream-key-store.ts'

/** What a rollback came to. */
export interface RolledBackKeys {
  readonly rolledBack: SigningKeyRecord
  /** Signs for every stream from now on. */
  readonly active: SigningKeyRecord
}

/**
 * Takes the last rotation back, also one that is still under way: the key before it signs again, at
 * once and for every stream, and what waits under the new key is signed again. The key that is given
 * up stays published for the overlap, because SETs that it signed are on their way.
 *
 * @throws AppError `conflict` when the key before is not published any more.
 */
export async function rollBackSigningKey(change: Change): Promise<RolledBackKeys> {
  await lockSigningKeys(change.tx)
  const keys = await listSigningKeys(change.tx)
  const given = findPendingKey(keys, change.at) ?? findGeneralKey(keys, change.at)
  const before = given === undefined ? undefined : findPreviousKey(keys, given.kid, change.at)
  if (given === undefined || before === undefined) {
    throw new AppError(
      'conflict',
      'There is no earlier signing key to go back to: none is published any more.',
    )
  }
  const rolledBack = await updateSigningKey(change.tx, given.kid, {
    rolledBackAt: change.at,
    retiredAt: new Date(change.at.getTime() + PUBLICATION_OVERLAP_MS),
  })
  const active = await updateSigningKey(change.tx, before.kid, { retiredAt: null })
  await deleteStreamKeysOf(change.tx, given.kid)
  await rebindQueued(change.tx, {
    fromKid: given.kid,
    toKid: before.kid,
    destinationId: null,
  })
  await notify(change.tx, SIGNING_KEY_CHANNEL)
  change.recordAudit({
    action: 'signing_key.rolled_back',
    target: { type: 'signing_key', id: given.kid },
    description: `rolled the signing key back from ${given.kid} to ${before.kid}`,
    before: toSigningKeyAudit(given),
    after: { ...toSigningKeyAudit(rolledBack), active_kid: before.kid },
  })
  return { rolledBack, active }
}

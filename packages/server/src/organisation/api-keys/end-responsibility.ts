import type { Change } from '../../changes/change.ts'
import type { Admin } from '../admins/find-admin.ts'
import {
  deleteResponsibility,
  listLiveKeysForUpdate,
  updateKey,
  type ApiKey,
} from './api-key-store.ts'

/** The ids of the keys that an admin answered for. */
export interface EndedKeys {
  readonly revokedKeyIds: readonly string[]
  readonly handedOverKeyIds: readonly string[]
}

/**
 * The admin answers for no key any more: each goes to `successor`, who has Full Access, or ends at once
 * without one. The admin must be locked, so that it gets no further keys. When it is removed, the keys that
 * had ended before name nobody any more.
 */
export async function endResponsibility(
  change: Change,
  admin: Admin,
  successor: Admin | undefined,
  { isRemoved = false } = {},
): Promise<EndedKeys> {
  const keys = await listLiveKeysForUpdate(change.tx, admin.id)
  for (const key of keys) {
    if (successor === undefined) await revoke(change, key, admin)
    else await handOver(change, key, { from: admin, to: successor })
  }
  if (isRemoved) await deleteResponsibility(change.tx, admin.id)
  const ids = keys.map(({ id }) => id)
  return successor === undefined
    ? { revokedKeyIds: ids, handedOverKeyIds: [] }
    : { revokedKeyIds: [], handedOverKeyIds: ids }
}

async function revoke(change: Change, key: ApiKey, admin: Admin): Promise<void> {
  await updateKey(change.tx, key.id, { revokedAt: change.at, updatedAt: change.at })
  change.recordAudit({
    action: 'api_key.revoked',
    target: { type: 'api_key', id: key.id },
    description: `revoked the API key ${key.name}: ${admin.email}, who answered for it, has no Full Access any more`,
    before: { responsible_admin_id: admin.id },
  })
}

async function handOver(
  change: Change,
  key: ApiKey,
  { from, to }: { readonly from: Admin; readonly to: Admin },
): Promise<void> {
  await updateKey(change.tx, key.id, { responsibleAdminId: to.id, updatedAt: change.at })
  change.recordAudit({
    action: 'api_key.handed_over',
    target: { type: 'api_key', id: key.id },
    description: `handed the API key ${key.name} over from ${from.email} to ${to.email}`,
    before: { responsible_admin_id: from.id },
    after: { responsible_admin_id: to.id },
  })
}

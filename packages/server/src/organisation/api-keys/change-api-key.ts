import type { JsonObject } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import { conflict } from '../../platform/app-error.ts'
import { parseName } from '../../platform/parse-text.ts'
import { findAdminForShare, type Admin } from '../admins/find-admin.ts'
import { answersFor, parseExpiry, parsePermissions, resolveResponsible } from './api-key-members.ts'
import {
  deleteKeyPermissions,
  getKeyForUpdate,
  insertKeyPermissions,
  listKeyPermissions,
  updateKey,
  type ApiKey,
  type GrantedPermission,
} from './api-key-store.ts'
import {
  assertEndsInTime,
  assertHolds,
  assertHoldsAllOfKey,
  isLater,
  type Grantor,
} from './grantor.ts'
import { toKeyState } from './key-state.ts'

/** What becomes of a key; absent members stay as they are. */
export interface ApiKeyEdit {
  readonly name?: string | undefined
  readonly responsibleEmail?: string | undefined
  /** All that the key holds from now on. */
  readonly permissions?: readonly GrantedPermission[] | undefined
  readonly expiresAt?: Date | null | undefined
}

/**
 * Changes a live key; its next request goes by it. Its secret stays.
 *
 * @throws AppError `not_found`; `conflict` for a key that has ended; `invalid_body` as for a new key, and for an end
 *   that a grantor may not give; `permission_missing` for a permission that the key has or gets and the grantor does
 *   not hold
 */
export async function changeApiKey(
  change: Change,
  grantor: Grantor,
  keyId: string,
  edit: ApiKeyEdit,
): Promise<ApiKey> {
  await assertHoldsAllOfKey(change, grantor, keyId)
  const before = await getKeyForUpdate(change.tx, keyId)
  if (toKeyState(before, change.now()) !== 'live') {
    throw conflict(`The API key ${keyId} has ended; create a new one.`)
  }
  const oldPermissions = await listKeyPermissions(change.tx, before.id)
  const permissions =
    edit.permissions === undefined ? oldPermissions : parsePermissions(edit.permissions)
  await changePermissions(change, grantor, { keyId: before.id, oldPermissions, permissions })
  const responsible = await findNewResponsible(change, before, edit.responsibleEmail)
  const after = await updateKey(change.tx, before.id, {
    name: edit.name === undefined ? before.name : parseName(edit.name, 'name'),
    responsibleAdminId: responsible?.id ?? null,
    expiresAt: await findNewEnd(change, grantor, before, edit.expiresAt),
    updatedAt: change.at,
  })
  const isHandedOver = responsible !== undefined && responsible.id !== before.responsibleAdminId
  change.recordAudit({
    action: 'api_key.updated',
    target: { type: 'api_key', id: after.id },
    description: `changed the API key ${after.name}${isHandedOver ? answersFor(responsible) : ''}`,
    before: toAuditValues(before, oldPermissions),
    after: toAuditValues(after, permissions),
  })
  return after
}

async function findNewEnd(
  change: Change,
  grantor: Grantor,
  before: ApiKey,
  given: Date | null | undefined,
): Promise<Date | null> {
  if (given === undefined) return before.expiresAt
  if (isLater(given, before.expiresAt)) await assertEndsInTime(change, grantor, given)
  return parseExpiry(change, given)
}

async function findNewResponsible(
  change: Change,
  { responsibleAdminId }: ApiKey,
  email: string | undefined,
): Promise<Admin | undefined> {
  if (email !== undefined) return resolveResponsible(change, email)
  // A key that names nobody has ended, and nobody is demoted beside this change.
  return responsibleAdminId === null ? undefined : findAdminForShare(change.tx, responsibleAdminId)
}

/** Permissions that stay as they are keep the time at which they were granted. */
async function changePermissions(
  { tx, at }: Change,
  grantor: Grantor,
  {
    keyId,
    oldPermissions,
    permissions,
  }: {
    readonly keyId: string
    readonly oldPermissions: readonly GrantedPermission[]
    readonly permissions: readonly GrantedPermission[]
  },
): Promise<void> {
  const isAmong = (granted: readonly GrantedPermission[], one: GrantedPermission) =>
    granted.some(
      ({ permission, rationale }) => permission === one.permission && rationale === one.rationale,
    )
  const ended = oldPermissions.filter((one) => !isAmong(permissions, one))
  const granted = permissions.filter((one) => !isAmong(oldPermissions, one))
  assertHolds(grantor, namesOf(granted))
  await deleteKeyPermissions(tx, keyId, namesOf(ended))
  await insertKeyPermissions(tx, keyId, granted, at)
}

function namesOf(granted: readonly GrantedPermission[]): string[] {
  return granted.map(({ permission }) => permission)
}

function toAuditValues(key: ApiKey, permissions: readonly GrantedPermission[]): JsonObject {
  return {
    name: key.name,
    responsible_admin_id: key.responsibleAdminId,
    expires_at: key.expiresAt?.toISOString() ?? null,
    permissions: permissions.map(({ permission, rationale }) => ({ permission, rationale })),
  }
}

/*
 * Changes of what an admin may do, and the removal of admins. Owns that somebody with Full Access remains, that
 * no key outlives the Full Access of the admin who answers for it, and that no session outlives another access.
 */
import type { Change } from '../../changes/change.ts'
import type { Restriction } from '../../schema/access-levels.ts'
import { AppError, notFound } from '../../platform/app-error.ts'
import { parseName } from '../../platform/parse-text.ts'
import { deleteSessionsOf } from '../admin-sign-in/admin-session-store.ts'
import { deleteLinksOf } from '../admin-sign-in/sign-in-link-store.ts'
import { endResponsibility, type EndedKeys } from '../api-keys/end-responsibility.ts'
import { deleteOwnSavedViews } from '../saved-views/saved-view-store.ts'
import { assertMayGrant, assertMayTakeFullAccess, type AccessGrantor } from './admin-grants.ts'
import {
  deleteAdmin,
  findAdminForUpdate,
  hasFullAccess,
  listFullAdminsForUpdate,
  updateAdmin,
  type Admin,
} from './admin-store.ts'
import type { AdminAccess } from './create-admin.ts'

/** What becomes of an admin; absent members stay as they are. */
export interface AdminEdit {
  readonly firstName?: string | undefined
  readonly lastName?: string | undefined
  readonly access?: AdminAccess | undefined
  /** What the admin may not do; counts with limited access alone. */
  readonly restrictions?: readonly Restriction[] | undefined
  /** Whether the admin is kept out: without sessions, links and keys, until it is taken back. */
  readonly isDeactivated?: boolean | undefined
  /** The id of the admin who answers for the keys from now on. */
  readonly keysTo?: string | undefined
  /** Who asks by the API, and gives no more than it holds; the machine of the service may give everything. */
  readonly grantor?: AccessGrantor
}

/** An admin after a change, or before its removal, and what became of its keys. */
export interface ChangedAdmin extends EndedKeys {
  readonly admin: Admin
}

/**
 * Changes an admin. Its keys go to another admin when one is named; else they end with its Full Access: the
 * next request with one is refused, in every process.
 *
 * @throws AppError `not_found`; `conflict` for the last admin with Full Access; `invalid_body` for an empty
 *   name or a new responsible admin without Full Access; `permission_missing` for a grantor who holds less
 */
export async function changeAdmin(
  change: Change,
  adminId: string,
  edit: AdminEdit,
): Promise<ChangedAdmin> {
  const { admin: before, successor, isLast } = await lockAdmin(change, adminId, edit.keysTo)
  const next = toNext(before, edit, change.at)
  if (edit.grantor !== undefined) {
    // Whoever takes somebody back gives all that it had.
    const isTakenBack = before.deactivatedAt !== null && next.deactivatedAt === null
    assertMayGrant(edit.grantor, next, isTakenBack ? undefined : before)
    const isPutOut = before.deactivatedAt === null && next.deactivatedAt !== null
    if (next.access !== 'full' || isPutOut) assertMayTakeFullAccess(edit.grantor, before)
  }
  if (isLast && !hasFullAccess(next)) throw lastAdmin(before)
  const admin = await updateAdmin(change.tx, before.id, next)
  change.recordAudit({
    action: 'admin_user.updated',
    target: { type: 'admin_user', id: admin.id },
    description: describeChange(before, admin),
    before: toAuditValues(before),
    after: toAuditValues(admin),
  })
  await endAccess(change, before, admin)
  const isEnded = !hasFullAccess(admin) || successor !== undefined
  const keys = isEnded ? await endResponsibility(change, admin, successor) : NO_KEYS
  return { admin, ...keys }
}

/** What an admin is after an edit. */
function toNext(before: Admin, edit: AdminEdit, at: Date) {
  const isOut = edit.isDeactivated ?? before.deactivatedAt !== null
  return {
    firstName:
      edit.firstName === undefined ? before.firstName : parseName(edit.firstName, 'first_name'),
    lastName: edit.lastName === undefined ? before.lastName : parseName(edit.lastName, 'last_name'),
    access: edit.access ?? before.access,
    restrictions: [...(edit.restrictions ?? before.restrictions)],
    deactivatedAt: isOut ? (before.deactivatedAt ?? at) : null,
    updatedAt: at,
  }
}

/** No session and no link outlives another access, or is left to somebody who is kept out. */
async function endAccess(change: Change, before: Admin, after: Admin): Promise<void> {
  const { access, email, firstName, lastName } = after
  const isOther = access !== before.access
  if (isOther) {
    const event = { adminId: after.id, firstName, lastName, email, access }
    const { access: previousAccess } = before
    change.recordEvent({ type: 'admin_users.access_changed', ...event, previousAccess })
  }
  if (!isOther && after.deactivatedAt === null) return
  await deleteSessionsOf(change.tx, after.id)
  await deleteLinksOf(change.tx, after.id)
}

/**
 * Removes an admin. Its keys go to another admin when one is named, and end otherwise; entries of the audit
 * log keep its name.
 *
 * @throws AppError `not_found`; `conflict` for the last admin with Full Access; `invalid_body` for a new
 *   responsible admin without Full Access; `permission_missing` for a grantor who may not take Full Access
 */
export async function removeAdmin(
  change: Change,
  adminId: string,
  { keysTo, grantor }: Pick<AdminEdit, 'keysTo' | 'grantor'> = {},
): Promise<ChangedAdmin> {
  const { admin, successor, isLast } = await lockAdmin(change, adminId, keysTo)
  if (grantor !== undefined) assertMayTakeFullAccess(grantor, admin)
  if (isLast) throw lastAdmin(admin)
  const keys = await endResponsibility(change, admin, successor, { isRemoved: true })
  // What the admin has shared stays, as the organisation's.
  await deleteOwnSavedViews(change.tx, admin.id)
  await deleteAdmin(change.tx, admin.id)
  change.recordAudit({
    action: 'admin_user.removed',
    target: { type: 'admin_user', id: admin.id },
    description: `removed the admin ${describe(admin)}`,
    before: toAuditValues(admin),
  })
  change.recordEvent({
    type: 'admin_users.destroyed',
    adminId: admin.id,
    firstName: admin.firstName,
    lastName: admin.lastName,
    email: admin.email,
    access: admin.access,
  })
  return { admin, ...keys }
}

const NO_KEYS: EndedKeys = { revokedKeyIds: [], handedOverKeyIds: [] }

interface LockedAdmin {
  readonly admin: Admin
  /** Answers for the keys from now on. */
  readonly successor: Admin | undefined
  /** Nobody else has Full Access. */
  readonly isLast: boolean
}

/** Everybody with Full Access is locked, by id: of two who remove each other, one stays. */
async function lockAdmin(
  { tx }: Change,
  adminId: string,
  keysTo: string | undefined,
): Promise<LockedAdmin> {
  const fullAdmins = await listFullAdminsForUpdate(tx)
  const admin =
    fullAdmins.find(({ id }) => id === adminId) ??
    (/^\d{1,18}$/.test(adminId) ? await findAdminForUpdate(tx, adminId) : undefined)
  if (admin === undefined) throw notFound('admin', adminId)
  const others = fullAdmins.filter(({ id }) => id !== admin.id)
  const successor = others.find(({ id }) => id === keysTo)
  if (keysTo !== undefined && successor === undefined) throw noSuccessor()
  return { admin, successor, isLast: hasFullAccess(admin) && others.length === 0 }
}

function lastAdmin(admin: Admin): AppError {
  return new AppError(
    'conflict',
    `${describe(admin)} is the last admin with Full Access; give it to somebody else first.`,
  )
}

function noSuccessor(): AppError {
  const message = 'must be another admin with Full Access'
  return new AppError('invalid_body', `keys_to ${message}.`, {
    details: [{ path: 'keys_to', message }],
  })
}

function describeChange(before: Admin, after: Admin): string {
  const isOut = after.deactivatedAt !== null
  if (isOut !== (before.deactivatedAt !== null)) {
    return `${isOut ? 'deactivated' : 'took back'} the admin ${describe(after)}`
  }
  return before.access === after.access
    ? `changed the admin ${describe(after)}`
    : `changed the access of the admin ${describe(after)} from ${before.access} to ${after.access}`
}

function describe({ firstName, lastName, email }: Admin): string {
  return `${firstName} ${lastName} (${email})`
}

function toAuditValues({ deactivatedAt: out, ...admin }: Admin) {
  const { email, firstName, lastName, access, restrictions } = admin
  const names = { first_name: firstName, last_name: lastName }
  return { email, ...names, access, restrictions, deactivated: out !== null }
}

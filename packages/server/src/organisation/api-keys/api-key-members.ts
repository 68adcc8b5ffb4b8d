/* What keys have: an admin who answers for them, an end, permissions with the reason for each. */
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import { isPermission, PERMISSIONS } from '../../schema/permissions.ts'
import {
  findAdminByEmail,
  findAdminForShare,
  hasFullAccess,
  type Admin,
} from '../admins/find-admin.ts'
import type { GrantedPermission } from './api-key-store.ts'

const RATIONALE_LENGTH_MAX = 1_000

/**
 * The admin who answers for a key. Locked: nobody demotes the admin, and so ends its keys, before the
 * transaction ends.
 *
 * @throws AppError `invalid_body` for one who does not exist or lacks Full Access
 */
export async function resolveResponsible({ tx }: Change, email: string): Promise<Admin> {
  const found = await findAdminByEmail(tx, email)
  const admin = found && (await findAdminForShare(tx, found.id))
  if (admin !== undefined && hasFullAccess(admin)) return admin
  const problem =
    admin === undefined
      ? `there is no admin with the email address ${email}`
      : `the admin ${admin.email} has no Full Access`
  throw invalid('responsible_email', `must be an admin with Full Access: ${problem}`)
}

/**
 * When a key ends; null for never.
 *
 * @throws AppError `invalid_body` for a time that has passed
 */
export function parseExpiry(change: Change, expiresAt: Date | null): Date | null {
  if (expiresAt === null || expiresAt > change.at) return expiresAt
  throw invalid('expires_at', 'must be in the future')
}

/** Who is responsible for the use of a key, as its audit entries say after what was done. */
export function answersFor({ firstName, lastName }: Pick<Admin, 'firstName' | 'lastName'>): string {
  return `; ${firstName} ${lastName} is responsible for its use`
}

/** What a key may do, in words. */
export function describePermissions(permissions: readonly GrantedPermission[]): string {
  if (permissions.length === 0) return 'read access'
  return `the permissions ${permissions.map(({ permission }) => permission).join(', ')}`
}

/**
 * The permissions of a key, with their reasons as they are stored.
 *
 * @throws AppError `invalid_body` for a permission that does not exist or is named twice, or a missing reason
 */
export function parsePermissions(permissions: readonly GrantedPermission[]): GrantedPermission[] {
  const names = new Set(permissions.map(({ permission }) => permission))
  if (names.size !== permissions.length) {
    throw invalid('permissions', 'must not name a permission twice')
  }
  return permissions.map(({ permission, rationale }, index) => {
    if (!isPermission(permission)) {
      throw invalid(
        `permissions.${index}.permission`,
        `must be one of ${PERMISSIONS.join(', ')}; it is "${permission}"`,
      )
    }
    const reason = toStorableText(rationale.trim())
    if (reason === '' || reason.length > RATIONALE_LENGTH_MAX) {
      throw invalid(
        `permissions.${index}.rationale`,
        `must say in 1 to ${RATIONALE_LENGTH_MAX} characters why the key needs "${permission}"`,
      )
    }
    return { permission, rationale: reason }
  })
}

function invalid(path: string, message: string): AppError {
  return new AppError('invalid_body', `${path} ${message}.`, {
    details: [{ path, message }],
  })
}

import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import type { AccessLevel, Restriction } from '../../schema/access-levels.ts'
import { parseEmail, parseName } from '../../platform/parse-text.ts'
import { findAdminByEmail, insertAdmin, type Admin } from './admin-store.ts'

export const ADMIN_ACCESS_LEVELS = ['full', 'limited', 'billing_only'] as const
export type AdminAccess = (typeof ADMIN_ACCESS_LEVELS)[number]

/** The word of the table of access for the access of an admin. */
export function toAccessLevel(access: AdminAccess): AccessLevel {
  return access === 'billing_only' ? 'billing' : access
}

export interface NewAdmin {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly access: AdminAccess
  /** What the admin may not do; counts with limited access alone. */
  readonly restrictions?: readonly Restriction[] | undefined
}

/**
 * Creates an admin and its audit entry.
 *
 * @throws AppError `invalid_body` for a malformed email address or empty name, `conflict` when an
 *   admin with this address exists
 */
export async function createAdmin(change: Change, input: NewAdmin): Promise<Admin> {
  const email = parseEmail(input.email, 'email')
  if ((await findAdminByEmail(change.tx, email)) !== undefined) {
    throw new AppError('conflict', `An admin with the email address ${email} exists.`)
  }
  const admin = await insertAdmin(change.tx, {
    email,
    firstName: parseName(input.firstName, 'first_name'),
    lastName: parseName(input.lastName, 'last_name'),
    access: input.access,
    restrictions: [...(input.restrictions ?? [])],
    createdAt: change.at,
    updatedAt: change.at,
  })
  change.recordAudit({
    action: 'admin_user.created',
    target: { type: 'admin_user', id: admin.id },
    description: `created the admin ${admin.firstName} ${admin.lastName} (${admin.email}) with ${admin.access} access`,
    after: {
      email: admin.email,
      first_name: admin.firstName,
      last_name: admin.lastName,
      access: admin.access,
      restrictions: admin.restrictions,
    },
  })
  change.recordEvent({ type: 'admin_users.created', adminId: admin.id })
  return admin
}

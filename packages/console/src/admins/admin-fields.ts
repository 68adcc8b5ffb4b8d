/* What the forms of admins hold. */
import type { AdminUser } from '../api/generated/types.gen.ts'
import type { Restriction } from './admin-access.tsx'
import { texts } from './texts.ts'

/** The fields that every form of an admin has. */
export interface AdminValues {
  firstName: string
  lastName: string
  access: AdminUser['access']
  restrictions: Restriction[]
}

const needed = (value: string) => (value.trim() === '' ? texts.missing : null)

/** Refuses names that are missing. */
export const ADMIN_RULES = { firstName: needed, lastName: needed }

/** Refuses an address that is missing too. */
export const INVITATION_RULES = { ...ADMIN_RULES, email: needed }

/** The members of a request; restrictions count with limited access alone. */
export function toAdminBody({ firstName, lastName, access, restrictions }: AdminValues) {
  return {
    first_name: firstName.trim(),
    last_name: lastName.trim(),
    access,
    ...(access === 'limited' ? { restrictions } : {}),
  }
}

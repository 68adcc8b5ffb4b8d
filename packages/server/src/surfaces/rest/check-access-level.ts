import { AppError } from '../../platform/app-error.ts'
import type { AccessCheck } from '../../platform/http/access.ts'
import { isAreaOpen } from '../../schema/access-levels.ts'
import type { PrincipalSession } from '../../schema/principal.ts'

/**
 * Refuses an admin who is signed in what the access level, or a restriction of it, does not open. Keys are told
 * by their permissions alone.
 *
 * @throws AppError `permission_missing`
 */
export const checkAccessLevel: AccessCheck = (operation, { caller }) => {
  // The callers of the REST API are principals.
  const session = caller?.session as PrincipalSession | undefined
  if (session === undefined || isAreaOpen(operation, session)) return
  throw new AppError('permission_missing', 'Your access level does not open this.')
}

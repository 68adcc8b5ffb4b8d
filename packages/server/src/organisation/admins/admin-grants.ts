/* What callers of the API may give to admins and take from them: nobody gives more than they hold. */
import { AppError } from '../../platform/app-error.ts'
import { permissionsOf } from '../../schema/access-levels.ts'
import { toAccessLevel, type AdminAccess } from './create-admin.ts'

/** Who gives access to admins by the API. */
export interface AccessGrantor {
  readonly permissions: ReadonlySet<string>
  /** Of an admin who is signed in. */
  readonly session?: { readonly accessLevel: string }
}

/** What an admin may do. */
export interface GrantedAccess {
  readonly access: AdminAccess
  readonly restrictions: readonly string[]
}

/**
 * Refuses a grantor who would give an admin more than it holds. What the admin has already is not given.
 *
 * @throws AppError `permission_missing`
 */
export function assertMayGrant(
  { permissions: held, session }: AccessGrantor,
  after: GrantedAccess,
  before?: GrantedAccess,
): void {
  if (session?.accessLevel === 'full') return
  if (after.access === 'full' && before?.access !== 'full') {
    throw new AppError(
      'permission_missing',
      'Only an admin with Full Access who is signed in can give somebody Full Access.',
    )
  }
  const had = before === undefined ? new Set<string>() : permissionsGivenBy(before)
  const missing = [...permissionsGivenBy(after)].filter((name) => !had.has(name) && !held.has(name))
  if (missing.length === 0) return
  throw new AppError(
    'permission_missing',
    `Whoever gives access away has to hold it; the caller lacks ${missing.map((name) => `"${name}"`).join(', ')}.`,
  )
}

/**
 * Refuses a grantor who would take Full Access from an admin, whether by less access, by keeping the admin out or by
 * removing it. A key could else leave the organisation to whom its holder chooses.
 *
 * @throws AppError `permission_missing`
 */
export function assertMayTakeFullAccess(
  { session }: AccessGrantor,
  before: Pick<GrantedAccess, 'access'>,
): void {
  if (session?.accessLevel === 'full' || before.access !== 'full') return
  throw new AppError(
    'permission_missing',
    'Only an admin with Full Access who is signed in can take Full Access from somebody.',
  )
}

function permissionsGivenBy({ access, restrictions }: GrantedAccess): ReadonlySet<string> {
  return permissionsOf({ accessLevel: toAccessLevel(access), restrictions })
}

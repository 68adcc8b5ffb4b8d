import type { Kysely } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import { permissionsOf } from '../../schema/access-levels.ts'
import type { Principal, PrincipalSession } from '../../schema/principal.ts'
import type { Schema } from '../../schema/schema.ts'
import { toAccessLevel } from '../admins/create-admin.ts'
import { findLiveSession, updateSessionUse, type LiveSession } from './admin-session-store.ts'
import { hashSignInToken } from './sign-in-token.ts'

/** A caller who is signed in. */
export interface AuthenticatedSession {
  readonly principal: Principal & { readonly session: PrincipalSession }
  readonly session: LiveSession
}

/**
 * The admin whose session a token is. The database is asked every time, so a session that has ended anywhere,
 * and one whose admin is gone, is refused on the next request of every process. A look that is no use of the
 * session does not keep it from ending when it is idle.
 *
 * @throws AppError `unauthenticated`
 */
export async function authenticateSession(
  db: Kysely<Schema>,
  token: string,
  { isUse = true }: { readonly isUse?: boolean } = {},
): Promise<AuthenticatedSession> {
  const hash = hashSignInToken(token)
  const session = hash === undefined ? undefined : await findLiveSession(db, hash)
  if (session === undefined) {
    throw new AppError('unauthenticated', 'The session has ended. Sign in again.')
  }
  if (isUse && session.isUseDue) await updateSessionUse(db, session.id)
  const { admin } = session
  const accessLevel = toAccessLevel(admin.access)
  return {
    principal: {
      kind: 'admin',
      id: admin.id,
      name: `${admin.firstName} ${admin.lastName}`,
      permissions: permissionsOf({ accessLevel, restrictions: admin.restrictions }),
      session: {
        id: session.id,
        email: admin.email,
        accessLevel,
        restrictions: admin.restrictions,
        steppedUpAt: session.steppedUpAt,
      },
    },
    session,
  }
}

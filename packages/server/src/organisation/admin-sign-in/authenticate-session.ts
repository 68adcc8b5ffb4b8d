import type { Kysely } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import { ignoreHinderedWrite } from '../../platform/db/database-fault.ts'
import { permissionsOf } from '../../schema/access-levels.ts'
import type { Principal, PrincipalSession } from '../../schema/principal.ts'
import type { Schema } from '../../schema/schema.ts'
import { toAccessLevel } from '../admins/create-admin.ts'
import type { DeviceTrust } from './device-trust.ts'
import {
  findDeviceProblem,
  findLiveSession,
  updateSessionUse,
  type LiveSession,
} from './admin-session-store.ts'
import { hashSignInToken } from './sign-in-token.ts'

/** What sessions are looked up with. */
export interface SessionLookup {
  readonly db: Kysely<Schema>
  readonly deviceTrust: DeviceTrust
}

/** How a session is looked at. */
export interface SessionLook {
  /** Whether it is a use of the session; it is unless said otherwise. */
  readonly isUse?: boolean
  /** Whether its device is looked at also where none is asked for. */
  readonly isDeviceShown?: boolean
}

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
  { db, deviceTrust }: SessionLookup,
  token: string,
  { isUse = true, isDeviceShown = false }: SessionLook = {},
): Promise<AuthenticatedSession> {
  const hash = hashSignInToken(token)
  const session =
    hash === undefined ? undefined : await findWithDevice({ db, deviceTrust }, hash, isDeviceShown)
  if (session === undefined) {
    throw new AppError('unauthenticated', 'The session has ended. Sign in again.')
  }
  // One whose uses cannot be stored ends when it would be idle.
  if (isUse && session.isUseDue) await ignoreHinderedWrite(updateSessionUse(db, session.id))
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

/**
 * A session, with what is wrong with its device where one is asked for: in one statement, but for when that has
 * changed.
 */
async function findWithDevice(
  { db, deviceTrust }: SessionLookup,
  hash: Buffer,
  isDeviceShown: boolean,
): Promise<LiveSession | undefined> {
  const isLookedAt = isDeviceShown || deviceTrust.wasRequired
  const session = await findLiveSession(db, hash, isLookedAt ? deviceTrust : undefined)
  if (session === undefined) return undefined
  deviceTrust.wasRequired = session.isDeviceRequired
  if (!session.isDeviceRequired || isLookedAt) return session
  return { ...session, deviceProblem: await findDeviceProblem(db, session.id, deviceTrust) }
}

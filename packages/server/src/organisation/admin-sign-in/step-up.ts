/*
 * A step-up: an admin who is signed in proves to be there, which opens what asks for it for five minutes. It is
 * bound to the session, whose token changes with it.
 */
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { findAdminById } from '../admins/find-admin.ts'
import { rotateSession, type LiveSession } from './admin-session-store.ts'
import { findOwned, usePasskey, type PasskeyDependencies } from './passkeys.ts'
import { completeSetUp } from './set-ups.ts'
import { refuseSignIn } from './refused-sign-ins.ts'
import { digestOf, passkeyRefused } from './sign-in.ts'
import { newSignInToken } from './sign-in-token.ts'
import type { AuthenticationResponseJSON } from './webauthn.ts'
import type { ChangeOrigin } from '../../changes/change.ts'

/** The purpose of a challenge by which the admin of a session steps it up. */
export function stepUpPurpose(session: Pick<LiveSession, 'id'>): string {
  return `step up ${session.id}`
}

/** The purpose of a challenge by which a session gets a passkey. */
export function registrationPurpose(session: Pick<LiveSession, 'id'>): string {
  return `register ${session.id}`
}

/** @throws AppError `step_up_required` */
export function assertSteppedUp({ steppedUpAt }: Pick<LiveSession, 'steppedUpAt'>): void {
  if (steppedUpAt !== null) return
  throw new AppError(
    'step_up_required',
    'Prove by your passkey or your code that it is you, then send the request again.',
  )
}

/**
 * Steps a session up by a passkey of its admin and answers its new token.
 *
 * @throws AppError `sign_in_failed`
 */
export async function stepUpByPasskey(
  { db, runChange, webAuthn }: PasskeyDependencies,
  session: LiveSession,
  credential: AuthenticationResponseJSON,
  origin: ChangeOrigin,
): Promise<string> {
  const admin = await findAdminById(db, session.adminId)
  const attempt = { runChange, origin, admin, method: 'step-up' } as const
  return refuseSignIn(attempt, async () => {
    const owned = await findOwned(db, credential)
    if (owned?.admin.id !== session.adminId) throw passkeyRefused()
    const purpose = stepUpPurpose(session)
    const proven = await webAuthn.verifyAuthentication(purpose, credential, owned)
    return runChange(origin, async (change) => {
      await usePasskey(change, owned.passkey, proven)
      return renewSession(change, session)
    })
  })
}

/**
 * Gives a session another token, by which it is stepped up and its set-up is over: the other ones of its admin end.
 *
 * @throws AppError `unauthenticated` when the session has ended meanwhile
 */
export async function renewSession(change: Change, session: LiveSession): Promise<string> {
  if (session.isSetupPending) await completeSetUp(change, session)
  const token = newSignInToken()
  if (!(await rotateSession(change.tx, session.id, digestOf(token)))) {
    throw new AppError('unauthenticated', 'The session has ended. Sign in again.')
  }
  change.recordAudit({
    action: 'admin_session.stepped_up',
    target: { type: 'admin_session', id: session.id },
    description: 'proved to be there',
  })
  return token
}

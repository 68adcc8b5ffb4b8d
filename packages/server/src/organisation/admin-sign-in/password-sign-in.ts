/*
 * Signing in by a password with a code, and stepping up by a code. Owns that nobody learns what was wrong, neither
 * by the answer nor by the time that it takes; that a code is taken once; and that refused codes close a password.
 */
import type { Actor } from '../../changes/audit/audit-entry.ts'
import type { Change, ChangeOrigin } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { findCodeStep } from '../../platform/secrets/one-time-code.ts'
import { findAdminByEmail, findAdminById, type Admin } from '../admins/find-admin.ts'
import type { LiveSession } from './admin-session-store.ts'
import { toPasswordForm } from './password-rules.ts'
import {
  findPassword,
  updatePasswordUse,
  updateWrongCodes,
  type AdminPassword,
} from './password-store.ts'
import { codeSecretContext, type PasswordDependencies } from './passwords.ts'
import { refuseSignIn } from './refused-sign-ins.ts'
import { WRONG_CODES_MAX } from './sign-in-way-read.ts'
import {
  actorOf,
  describeAdmin,
  signInFailed,
  startSession,
  type SigningInBrowser,
} from './sign-in.ts'
import { renewSession } from './step-up.ts'

/** Somebody who signs in by a password. */
export interface PasswordSignIn {
  readonly email: string
  readonly password: string
  readonly code: string
  readonly requestId: string
  readonly browser: SigningInBrowser
}

/** The id of no admin: the database is asked the same of an address that nobody has. */
const NOBODY = '0'
const SOMEBODY: Actor = { type: 'User', id: null, name: 'Unknown', email: null }

/**
 * Signs an admin in and answers the token of the session. Every refusal has done the same work: a password is
 * hashed and an entry of the audit log is written, whether the admin exists or not.
 *
 * @throws AppError `sign_in_failed`, the same whatever is wrong; `unavailable` when too many try at once
 */
export async function signInByPassword(
  dependencies: PasswordDependencies,
  { email, password, code, requestId, browser }: PasswordSignIn,
): Promise<string> {
  const { db, runChange, hasher } = dependencies
  const admin = await findAdminByEmail(db, email.trim())
  const stored = await findPassword(db, admin?.id ?? NOBODY)
  const form = toPasswordForm(password)
  const isRight = await hasher.verify(stored?.passwordHash, form)
  const actor = admin === undefined ? SOMEBODY : actorOf(admin)
  const origin = { actor, requestId, ipAddress: browser.address }
  const onRefused = async (change: Change) => countWrongCode(change, admin, isRight ? 1 : 0)
  const attempt = { runChange, origin, admin, method: 'password', onRefused } as const
  return refuseSignIn(attempt, async () => {
    if (admin === undefined || stored === undefined || !isRight) throw passwordRefused()
    const step = await findStep(dependencies, stored, code)
    if (step === undefined) throw passwordRefused()
    const isOutdated = await hasher.isOutdated(stored.passwordHash)
    const passwordHash = isOutdated ? await hasher.hash(form) : stored.passwordHash
    return runChange(origin, async (change) => {
      const isTaken = await updatePasswordUse(change.tx, stored, { step, passwordHash })
      if (!isTaken) throw passwordRefused()
      return startSession(change, { admin, method: 'password', isSetupPending: false, browser })
    })
  })
}

/**
 * Steps a session up by a code of its admin's app, and answers its new token. A code alone is no way to sign in, so
 * that it does not end the set-up after a one-time link.
 *
 * @throws AppError `sign_in_failed`; `sign_in_setup_required`
 */
export async function stepUpByCode(
  dependencies: PasswordDependencies,
  session: LiveSession,
  code: string,
  origin: ChangeOrigin,
): Promise<string> {
  const { db, runChange } = dependencies
  if (session.isSetupPending) {
    const message = 'Set a way to sign in up first: a passkey, or a password with a code.'
    throw new AppError('sign_in_setup_required', message)
  }
  const admin = await findAdminById(db, session.adminId)
  const stored = await findPassword(db, session.adminId)
  const onRefused = async (change: Change) => countWrongCode(change, admin, 1)
  const attempt = { runChange, origin, admin, method: 'step-up', onRefused } as const
  return refuseSignIn(attempt, async () => {
    const step = stored && (await findStep(dependencies, stored, code))
    if (stored === undefined || step === undefined) throw codeRefused()
    return runChange(origin, async (change) => {
      const use = { step, passwordHash: stored.passwordHash }
      if (!(await updatePasswordUse(change.tx, stored, use))) throw codeRefused()
      return renewSession(change, session)
    })
  })
}

async function findStep(
  { sealer, clock }: PasswordDependencies,
  { adminId, totpSecretSealed }: AdminPassword,
  code: string,
): Promise<number | undefined> {
  const secret = sealer.open(totpSecretSealed, codeSecretContext(adminId))
  return findCodeStep(secret, code, clock.now())
}

/** Whoever knows the password, or has a session, may not go on to guess codes. */
async function countWrongCode(
  change: Change,
  admin: Admin | undefined,
  added: 0 | 1,
): Promise<void> {
  const count = await updateWrongCodes(change.tx, admin?.id ?? NOBODY, added)
  if (admin === undefined || added === 0 || count !== WRONG_CODES_MAX) return
  change.recordAudit({
    action: 'admin_password.closed',
    target: { type: 'admin_user', id: admin.id },
    description: `closed the password of ${describeAdmin(admin)}: ${count} codes in a row were refused`,
  })
}

function passwordRefused(): AppError {
  return signInFailed(
    'The email address, the password or the code was not accepted. A code works once: wait for the next one, or sign in another way.',
  )
}

function codeRefused(): AppError {
  return signInFailed(
    'The code was not accepted. A code works once: wait for the next one, or use a passkey.',
  )
}

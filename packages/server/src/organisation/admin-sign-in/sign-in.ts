/*
 * The beginning and the end of sessions. Owns that a session begins with a token that nobody knew before, that
 * the one which the browser had until then ends, and that both are in the audit log.
 */
import type { Actor } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import { findAdminForUpdate, type Admin } from '../admins/find-admin.ts'
import {
  deleteSession,
  deleteSessionOfToken,
  insertSession,
  updateLastSignIn,
  type SignInMethod,
} from './admin-session-store.ts'
import { hashSignInToken, newSignInToken } from './sign-in-token.ts'

const USER_AGENT_LENGTH_MAX = 500

/** The browser in which somebody signs in. */
export interface SigningInBrowser {
  readonly userAgent: string | undefined
  readonly address: string
  /** The token of the session that it has until now. */
  readonly presentToken: string | undefined
}

/** Who signs in, and by what. */
export interface SignIn {
  readonly admin: Admin
  readonly method: SignInMethod
  /** Whether the session opens nothing before the admin has a way to sign in. */
  readonly isSetupPending: boolean
  /** Whether the admin has just proven to be there; a session at a provider may be older. */
  readonly isSteppedUp?: boolean
  readonly browser: SigningInBrowser
}

const METHOD_TEXT: Readonly<Record<SignInMethod, string>> = {
  link: 'a one-time link',
  demo: 'the one-time link of the demo',
  passkey: 'a passkey',
  password: 'a password and a code',
  oidc: 'the identity provider of the organisation',
}

/**
 * Begins a session and answers its token, which is stored as a digest only.
 *
 * @throws AppError `sign_in_failed` for an admin who is deactivated or gone, also since it was looked at
 */
export async function startSession(
  change: Change,
  { admin, method, isSetupPending, isSteppedUp = true, browser }: SignIn,
): Promise<string> {
  const current = await findAdminForUpdate(change.tx, admin.id)
  if (current === undefined || current.deactivatedAt !== null) throw keptOut(admin)
  const { presentToken, userAgent, address } = browser
  await endPresentSession(change, presentToken)
  const token = newSignInToken()
  const session = await insertSession(change.tx, {
    adminId: admin.id,
    tokenHash: digestOf(token),
    method,
    isSetupPending,
    isSteppedUp,
    userAgent:
      userAgent === undefined ? null : toStorableText(userAgent).slice(0, USER_AGENT_LENGTH_MAX),
    ipAddress: address,
  })
  await updateLastSignIn(change.tx, admin.id)
  change.recordAudit({
    action: 'admin_session.created',
    target: { type: 'admin_session', id: session.id },
    description: `signed ${describeAdmin(admin)} in by ${METHOD_TEXT[method]}`,
    after: { admin_id: admin.id, method, ip_address: address },
  })
  return token
}

/** Of somebody else too: whoever signs in now has the browser. */
async function endPresentSession(change: Change, token: string | undefined): Promise<void> {
  const hash = token === undefined ? undefined : hashSignInToken(token)
  const ended = hash === undefined ? undefined : await deleteSessionOfToken(change.tx, hash)
  if (ended === undefined) return
  change.recordAudit({
    action: 'admin_session.ended',
    target: { type: 'admin_session', id: ended.id },
    description: 'signed in anew in the browser of this session',
    before: { admin_id: ended.adminId },
  })
}

/** Ends the session of whoever signs out. */
export async function endSession(change: Change, sessionId: string): Promise<void> {
  await deleteSession(change.tx, sessionId)
  change.recordAudit({
    action: 'admin_session.ended',
    target: { type: 'admin_session', id: sessionId },
    description: 'signed out',
  })
}

/** The digest of a token of ours. */
export function digestOf(token: string): Buffer {
  const hash = hashSignInToken(token)
  if (hash === undefined) throw new Error('a token of another form')
  return hash
}

/** An admin who is about to be signed in, as the one who does it. */
export function actorOf({ id, firstName, lastName, email }: Admin): Actor {
  return { type: 'User', id, name: `${firstName} ${lastName}`, email }
}

export function describeAdmin({
  firstName,
  lastName,
  email,
}: Pick<Admin, 'firstName' | 'lastName' | 'email'>): string {
  return `${firstName} ${lastName} (${email})`
}

/** The refusal of whoever cannot sign in. */
export function signInFailed(message: string, cause?: unknown): AppError {
  return new AppError('sign_in_failed', message, { cause })
}

/** Said to whom has proven who they are alone. */
function keptOut({ email }: Admin): AppError {
  return signInFailed(`${email} is deactivated or removed. Ask an admin with Full Access.`)
}

/** The same whatever is wrong with it. */
export function passkeyRefused(cause?: unknown): AppError {
  return signInFailed('The passkey was not accepted. Try again, or sign in another way.', cause)
}

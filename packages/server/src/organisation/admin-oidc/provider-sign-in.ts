/*
 * Signing in, stepping up and being bound by the identity provider of the organisation. Owns that a person is known
 * by issuer and subject; that an email address binds only whom an admin has invited, once, and only where the
 * provider has verified it; and that the groups of a person decide each time.
 */
import type { Kysely } from 'kysely'
import type { Actor } from '../../changes/audit/audit-entry.ts'
import type { Change, ChangeOrigin } from '../../changes/change.ts'
import { conflict, type AppError } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { changeAdmin } from '../admins/change-admin.ts'
import type { AdminAccess } from '../admins/create-admin.ts'
import { findAdminByEmail, findAdminById, type Admin } from '../admins/find-admin.ts'
import { STEP_UP_MS, type LiveSession } from '../admin-sign-in/admin-session-store.ts'
import { lockWaysToSignIn } from '../admin-sign-in/keep-way-to-sign-in.ts'
import { refuseSignIn } from '../admin-sign-in/refused-sign-ins.ts'
import { endSetUps } from '../admin-sign-in/set-ups.ts'
import { hasOpenInvitation } from '../admin-sign-in/sign-in-link-store.ts'
import { hasWayToSignIn } from '../admin-sign-in/sign-in-way-read.ts'
import {
  actorOf,
  describeAdmin,
  signInFailed,
  startSession,
  type SigningInBrowser,
} from '../admin-sign-in/sign-in.ts'
import { renewSession } from '../admin-sign-in/step-up.ts'
import type { IdentityProvider } from './identity-provider-store.ts'
import { findIdentity, insertIdentity, updateIdentityUse, type Identity } from './identity-store.ts'
import {
  getProviderOf,
  proveAttempt,
  type ProvenAttempt,
  type ProviderSignInDependencies,
} from './provider-attempt.ts'
import {
  CLOCK_TOLERANCE_SECONDS,
  type AuthorizationAnswer,
  type ProvenClaims,
} from './provider-client.ts'
import type { SignInAttempt } from './sign-in-attempt.ts'

/** An attempt that a browser has come back from, with what the provider sent it back with. */
export interface AnsweredAttempt {
  readonly attempt: SignInAttempt
  readonly answer: AuthorizationAnswer
}

/** Who signs in from where. */
export interface ProviderSignIn {
  readonly requestId: string
  readonly browser: SigningInBrowser
}

/**
 * Signs the admin of a subject in and answers the token of the session. Who is not bound yet is, when an invitation
 * to the verified address of the subject is open.
 *
 * @throws AppError `sign_in_failed`; `conflict` when its groups take Full Access from the last admin who has it
 */
export async function signInByProvider(
  dependencies: ProviderSignInDependencies,
  { attempt, answer }: AnsweredAttempt,
  { requestId, browser }: ProviderSignIn,
): Promise<string> {
  const { db, runChange } = dependencies
  const method = 'identity provider'
  const from = { requestId, ipAddress: browser.address }
  const bySomebody = { ...from, actor: toSomebody() }
  const proven = await refuseSignIn(
    { runChange, origin: bySomebody, admin: undefined, method },
    async () => proveAttempt(dependencies, attempt, answer),
  )
  const { claims } = proven
  const identity = await findIdentity(db, attempt.issuer, claims.subject)
  const admin =
    identity === undefined
      ? await findNamesake(db, claims)
      : await findAdminById(db, identity.adminId)
  const origin = { ...from, actor: admin === undefined ? toSomebody(claims) : actorOf(admin) }
  return refuseSignIn({ runChange, origin, admin, method }, async () => {
    if (admin === undefined) throw notInvited(claims)
    return runChange(origin, async (change) => {
      const current = await admit(change, proven, { admin, identity })
      return startSession(change, {
        admin: current,
        method: 'oidc',
        isSetupPending: false,
        isSteppedUp: isRecent(claims, dependencies.clock.now().getTime() - STEP_UP_MS),
        browser,
      })
    })
  })
}

function toSomebody(claims?: ProvenClaims): Actor {
  return { type: 'User', id: null, name: 'Somebody', email: claims?.email ?? null }
}

/** Whom a subject stands for, and by what it is known; without an identity it is bound, if it may be. */
interface KnownAdmin {
  readonly admin: Admin
  readonly identity: Identity | undefined
}

/** The admin with the access that its groups give. */
async function admit(
  change: Change,
  { attempt, claims }: ProvenAttempt,
  { admin, identity }: KnownAdmin,
): Promise<Admin> {
  const access = readAccess(await getProviderOf(change.tx, attempt), claims)
  if (identity === undefined) await bindInvited(change, admin, attempt, claims)
  else await useIdentity(change, identity)
  const isOther = access !== undefined && access !== admin.access
  return isOther ? (await changeAdmin(change, admin.id, { access })).admin : admin
}

async function bindInvited(
  change: Change,
  admin: Admin,
  { issuer }: Pick<SignInAttempt, 'issuer'>,
  claims: ProvenClaims,
): Promise<void> {
  assertVerified(claims)
  await lockWaysToSignIn(change, admin.id)
  const isInvited =
    (await hasOpenInvitation(change.tx, admin.id)) && !(await hasWayToSignIn(change.tx, admin.id))
  if (!isInvited) throw notInvited(claims)
  await bind(change, admin, { issuer, subject: claims.subject })
  await endSetUps(change, { adminId: admin.id })
}

async function useIdentity({ tx }: Change, { id }: Identity): Promise<void> {
  if (await updateIdentityUse(tx, id)) return
  throw signInFailed('Your account at the identity provider was disconnected meanwhile.')
}

async function findNamesake(
  db: Kysely<Schema>,
  { email }: ProvenClaims,
): Promise<Admin | undefined> {
  return email === undefined ? undefined : findAdminByEmail(db, email)
}

function assertVerified({ isEmailVerified }: ProvenClaims): void {
  if (isEmailVerified) return
  throw signInFailed(
    'The identity provider does not say that it has verified your address. Follow the one-time link of your invitation, and connect the provider there.',
  )
}

function notInvited({ email }: ProvenClaims): AppError {
  const whom = email === undefined ? 'somebody without an address' : email
  return signInFailed(
    `The identity provider knows you as ${whom}, to whom no invitation is open. Ask an admin to invite you, or sign in another way and connect the provider under your account.`,
  )
}

/** The access that the groups of a person give; undefined where groups decide nothing. */
function readAccess(
  { groupClaim, fullAccessGroups, limitedAccessGroups }: IdentityProvider,
  { all }: ProvenClaims,
): AdminAccess | undefined {
  if (groupClaim === null) return undefined
  const groups = new Set([all[groupClaim]].flat())
  if (fullAccessGroups.some((group) => groups.has(group))) return 'full'
  if (limitedAccessGroups.some((group) => groups.has(group))) return 'limited'
  throw signInFailed(
    'None of the groups in which the identity provider has you opens this console.',
  )
}

/** Groups that give less than the admin has count at once, not only at the next sign-in. */
function assertKeepsAccess(
  provider: IdentityProvider,
  claims: ProvenClaims,
  { access }: Pick<Admin, 'access'>,
): void {
  if (readAccess(provider, claims) !== 'limited' || access !== 'full') return
  throw signInFailed('Your groups give you less than you have here. Sign in again.')
}

/** Whether the provider says that the person was there at this time, or later. */
function isRecent({ authenticatedAt }: ProvenClaims, sinceMs: number): boolean {
  if (authenticatedAt === undefined) return false
  return (authenticatedAt + CLOCK_TOLERANCE_SECONDS) * SECOND_MS >= sinceMs
}

async function bind(
  change: Change,
  admin: Pick<Admin, 'id' | 'firstName' | 'lastName' | 'email'>,
  { issuer, subject }: Pick<Identity, 'issuer' | 'subject'>,
): Promise<void> {
  const identity = { adminId: admin.id, issuer, subject, createdAt: change.at }
  if ((await insertIdentity(change.tx, identity)) === undefined) {
    throw conflict(
      'The account at the identity provider belongs to another admin, or you have another one there.',
    )
  }
  change.recordAudit({
    action: 'admin_identity.created',
    target: { type: 'admin_user', id: admin.id },
    description: `bound ${describeAdmin(admin)} to an account at ${issuer}`,
    after: { issuer, subject },
  })
}

/** A session that an attempt belongs to. */
export interface OfSession {
  readonly session: LiveSession
  readonly origin: ChangeOrigin
}

/**
 * Steps a session up by what the provider has asked its person anew, and answers its new token.
 *
 * @throws AppError `sign_in_failed`
 */
export async function stepUpByProvider(
  dependencies: ProviderSignInDependencies,
  { attempt, answer }: AnsweredAttempt,
  { session, origin }: OfSession,
): Promise<string> {
  const { db, runChange } = dependencies
  const admin = await findAdminById(db, session.adminId)
  return refuseSignIn({ runChange, origin, admin, method: 'step-up' }, async () => {
    const { claims } = await proveAttempt(dependencies, attempt, answer)
    const identity = await findIdentity(db, attempt.issuer, claims.subject)
    if (identity?.adminId !== session.adminId) {
      throw signInFailed('At the identity provider you are somebody else than here.')
    }
    if (!isRecent(claims, attempt.startedAt)) {
      throw signInFailed('The identity provider does not say that it has asked you anew.')
    }
    return runChange(origin, async (change) => {
      assertKeepsAccess(await getProviderOf(change.tx, attempt), claims, session.admin)
      await useIdentity(change, identity)
      return renewSession(change, session)
    })
  })
}

/**
 * Binds the admin of a session to an account at the provider and answers the new token of the session. What was begun
 * by links of the admin ends.
 *
 * @throws AppError `sign_in_failed`; `conflict` when one of the two is bound already
 */
export async function connectProvider(
  dependencies: ProviderSignInDependencies,
  { attempt, answer }: AnsweredAttempt,
  { session, origin }: OfSession,
): Promise<string> {
  const { db, runChange } = dependencies
  const admin = await findAdminById(db, session.adminId)
  return refuseSignIn({ runChange, origin, admin, method: 'identity provider' }, async () => {
    const { claims } = await proveAttempt(dependencies, attempt, answer)
    if (admin === undefined) throw notInvited(claims)
    return runChange(origin, async (change) => {
      // Whom it would not let in has no way to sign in by it.
      readAccess(await getProviderOf(change.tx, attempt), claims)
      await bind(change, admin, { issuer: attempt.issuer, subject: claims.subject })
      await endSetUps(change, { adminId: admin.id, exceptId: session.id })
      return renewSession(change, session)
    })
  })
}

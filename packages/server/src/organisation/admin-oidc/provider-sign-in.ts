/*
 * Signing in, stepping up and being bound by the identity provider of the organisation. Owns that a person is known
 * by issuer and subject; that an email address binds only whom an admin has invited, once, and only where the
 * provider has verified it; and that an attempt ends in the browser that began it, once.
 */
import type { Kysely } from 'kysely'
import type { ChangeOrigin, RunChange } from '../../changes/change.ts'
import { AppError, conflict } from '../../platform/app-error.ts'
import { SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import type { Schema } from '../../schema/schema.ts'
import { changeAdmin } from '../admins/change-admin.ts'
import type { AdminAccess } from '../admins/create-admin.ts'
import { findAdminByEmail, findAdminById, type Admin } from '../admins/find-admin.ts'
import { STEP_UP_MS, type LiveSession } from '../admin-sign-in/admin-session-store.ts'
import { insertUsedChallenge } from '../admin-sign-in/passkey-store.ts'
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
import { findProvider, type IdentityProvider } from './identity-provider-store.ts'
import { findIdentity, insertIdentity, updateIdentityUse, type Identity } from './identity-store.ts'
import { findMetadataProblems } from './check-provider.ts'
import {
  CLOCK_TOLERANCE_SECONDS,
  proveClaims,
  toAuthorizationUrl,
  type AuthorizationAnswer,
  type ProvenClaims,
} from './provider-client.ts'
import { describeProviderError, toAccess, type ProviderGateway } from './provider-gateway.ts'
import {
  ATTEMPT_LIFETIME_MS,
  hashAttempt,
  newAttempt,
  type AttemptPurpose,
  type SignInAttempt,
} from './sign-in-attempt.ts'

export interface ProviderSignInDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
  readonly clock: Clock
  readonly sealer: Sealer
  readonly gateway: ProviderGateway
}

/** What somebody wants of the provider. */
export interface WantedSignIn {
  readonly purpose: AttemptPurpose
  /** Of whoever is signed in. */
  readonly sessionId: string | null
}

/**
 * Begins an attempt.
 *
 * @throws AppError `sign_in_failed` when no provider is set up or it cannot be reached
 */
export async function beginAtProvider(
  { db, sealer, gateway, clock }: ProviderSignInDependencies,
  wanted: WantedSignIn,
): Promise<{ readonly attempt: SignInAttempt; readonly url: string }> {
  const provider = await requireProvider(db)
  const { id: providerId, issuer, clientId } = provider
  const attempt = newAttempt({ ...wanted, providerId, issuer, clientId }, clock)
  const url = await explainFailures(async () => {
    const config = await gateway.open(toAccess(sealer, provider))
    const [problem] = findMetadataProblems(config.serverMetadata(), issuer)
    if (problem !== undefined) throw signInFailed(problem.message)
    const isAnew = wanted.purpose === 'step_up'
    return toAuthorizationUrl(config, gateway.redirectUri, attempt, isAnew)
  })
  return { attempt, url }
}

async function requireProvider(db: Kysely<Schema>): Promise<IdentityProvider> {
  const provider = await findProvider(db)
  if (provider?.enabled === true) return provider
  throw signInFailed('No identity provider is set up for signing in here.')
}

async function explainFailures<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw signInFailed(describeProviderError(error), error)
  }
}

/** What an attempt has proven. */
export interface ProvenAttempt {
  readonly provider: IdentityProvider
  readonly claims: ProvenClaims
}

/**
 * Uses an attempt up and proves what the provider has answered.
 *
 * @throws AppError `sign_in_failed`
 */
export async function proveAttempt(
  { db, sealer, gateway }: ProviderSignInDependencies,
  attempt: SignInAttempt,
  answer: AuthorizationAnswer,
): Promise<ProvenAttempt> {
  if (!(await insertUsedChallenge(db, hashAttempt(attempt), ATTEMPT_LIFETIME_MS))) {
    throw signInFailed('This sign-in was ended before. Begin again.')
  }
  const provider = await requireProvider(db)
  const { id, issuer, clientId } = provider
  if (id !== attempt.providerId || issuer !== attempt.issuer || clientId !== attempt.clientId) {
    throw signInFailed('The identity provider was changed meanwhile. Begin again.')
  }
  const claims = await explainFailures(async () => {
    const config = await gateway.open(toAccess(sealer, provider))
    return proveClaims(config, gateway.redirectUri, attempt, answer)
  })
  return { provider, claims }
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
  { db, runChange, clock }: ProviderSignInDependencies,
  { provider, claims }: ProvenAttempt,
  { requestId, browser }: ProviderSignIn,
): Promise<string> {
  const { issuer } = provider
  const identity = await findIdentity(db, issuer, claims.subject)
  const admin =
    identity === undefined
      ? await findNamesake(db, claims)
      : await findAdminById(db, identity.adminId)
  const nobody = { type: 'User', id: null, name: 'Somebody', email: claims.email ?? null } as const
  const actor = admin === undefined ? nobody : actorOf(admin)
  const origin: ChangeOrigin = { actor, requestId, ipAddress: browser.address }
  return refuseSignIn({ runChange, origin, admin, method: 'identity provider' }, async () => {
    if (admin === undefined) throw notInvited(claims)
    const access = readAccess(provider, claims)
    return runChange(origin, async (change) => {
      if (identity === undefined) {
        assertVerified(claims)
        await lockWaysToSignIn(change, admin.id)
        const isInvited =
          (await hasOpenInvitation(change.tx, admin.id)) &&
          !(await hasWayToSignIn(change.tx, admin.id))
        if (!isInvited) throw notInvited(claims)
        await bind(change, admin, { issuer, subject: claims.subject })
        await endSetUps(change, { adminId: admin.id })
      } else {
        await updateIdentityUse(change.tx, identity.id)
      }
      const isOther = access !== undefined && access !== admin.access
      const current = isOther ? (await changeAdmin(change, admin.id, { access })).admin : admin
      return startSession(change, {
        admin: current,
        method: 'oidc',
        isSetupPending: false,
        isSteppedUp: isRecent(claims, clock.now().getTime() - STEP_UP_MS),
        browser,
      })
    })
  })
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

/** Whether the provider says that the person was there at this time, or later. */
function isRecent({ authenticatedAt }: ProvenClaims, sinceMs: number): boolean {
  if (authenticatedAt === undefined) return false
  return (authenticatedAt + CLOCK_TOLERANCE_SECONDS) * SECOND_MS >= sinceMs
}

type Change = Parameters<typeof startSession>[0]

async function bind(
  change: Change,
  admin: Pick<Admin, 'id' | 'first_name' | 'last_name' | 'email'>,
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

/**
 * Steps a session up by what the provider has asked its person anew, and answers its new token.
 *
 * @throws AppError `sign_in_failed`
 */
export async function stepUpByProvider(
  { db, runChange }: ProviderSignInDependencies,
  { provider, claims }: ProvenAttempt,
  attempt: SignInAttempt,
  { session, origin }: OfSession,
): Promise<string> {
  const admin = await findAdminById(db, session.adminId)
  return refuseSignIn({ runChange, origin, admin, method: 'step-up' }, async () => {
    const identity = await findIdentity(db, provider.issuer, claims.subject)
    if (identity?.adminId !== session.adminId) {
      throw signInFailed('At the identity provider you are somebody else than here.')
    }
    if (!isRecent(claims, attempt.startedAt)) {
      throw signInFailed('The identity provider does not say that it has asked you anew.')
    }
    return runChange(origin, async (change) => {
      await updateIdentityUse(change.tx, identity.id)
      return renewSession(change, session)
    })
  })
}

/** A session that an attempt belongs to. */
export interface OfSession {
  readonly session: LiveSession
  readonly origin: ChangeOrigin
}

/**
 * Binds the admin of a session to an account at the provider and answers the new token of the session.
 *
 * @throws AppError `conflict` when one of the two is bound already
 */
export async function connectProvider(
  { runChange }: ProviderSignInDependencies,
  { provider, claims }: ProvenAttempt,
  { session, origin }: OfSession,
): Promise<string> {
  const { admin } = session
  const named = { ...admin, first_name: admin.firstName, last_name: admin.lastName }
  return runChange(origin, async (change) => {
    await bind(change, named, { issuer: provider.issuer, subject: claims.subject })
    return renewSession(change, session)
  })
}

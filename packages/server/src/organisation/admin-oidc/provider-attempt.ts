/*
 * An attempt at the identity provider of the organisation: its beginning, and the proof of what the provider has
 * answered. Owns that an attempt is used once, and for the provider that it began at.
 */
import type { Kysely } from 'kysely'
import type { RunChange } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import type { Schema } from '../../schema/schema.ts'
import { insertUsedChallenge } from '../admin-sign-in/passkey-store.ts'
import { signInFailed } from '../admin-sign-in/sign-in.ts'
import { findMetadataProblems } from './check-provider.ts'
import { findProvider, type IdentityProvider } from './identity-provider-store.ts'
import {
  proveClaims,
  toAuthorizationUrl,
  type AuthorizationAnswer,
  type ProvenClaims,
  type ProviderAccess,
} from './provider-client.ts'
import { describeFailedSignIn, toAccess, type ProviderGateway } from './provider-gateway.ts'
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
  const access = toAccess(sealer, provider)
  const url = await explainFailures(async () => {
    const config = await openUsable(gateway, access)
    const isAnew = wanted.purpose === 'step_up'
    return toAuthorizationUrl(config, gateway.redirectUri, attempt, isAnew)
  })
  return { attempt, url }
}

async function openUsable(gateway: ProviderGateway, access: ProviderAccess) {
  const config = await gateway.open(access)
  const [problem] = findMetadataProblems(config.serverMetadata(), access.issuer)
  if (problem !== undefined) throw signInFailed(problem.message)
  return config
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
    throw signInFailed(describeFailedSignIn(error), error)
  }
}

/** What an attempt has proven. */
export interface ProvenAttempt {
  readonly attempt: SignInAttempt
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
  const access = toAccess(sealer, await getProviderOf(db, attempt))
  const claims = await explainFailures(async () => {
    const config = await openUsable(gateway, access)
    return proveClaims(config, gateway.redirectUri, attempt, answer)
  })
  return { attempt, claims }
}

/**
 * The provider at which an attempt began, as it is now: asked again where the attempt takes effect, because a
 * provider may take its time to answer.
 *
 * @throws AppError `sign_in_failed` when it is off, gone or another one
 */
export async function getProviderOf(
  db: Kysely<Schema>,
  attempt: Pick<SignInAttempt, 'providerId' | 'issuer' | 'clientId'>,
): Promise<IdentityProvider> {
  const provider = await requireProvider(db)
  const { id, issuer, clientId } = provider
  if (id === attempt.providerId && issuer === attempt.issuer && clientId === attempt.clientId) {
    return provider
  }
  throw signInFailed('The identity provider was changed meanwhile. Begin again.')
}

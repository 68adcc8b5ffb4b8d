import type { StreamRowId } from '../../schema/branded-ids.ts'
import type { Change } from '../../changes/change.ts'
import type { ErrorDetail } from '../../platform/app-error.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { PushAuthenticationFacts } from '../../schema/tables/ssf-stream-tables.ts'
import type { TargetPolicy } from '../../platform/net/target-policy.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { assertTarget } from '../dispatch/assert-target.ts'
import { isSameHost } from '../dispatch/is-same-host.ts'
import { refuseIf } from '../streams/refuse-if.ts'
import type { StreamContext } from '../streams/stream-context.ts'
import { updateStream, type Stream } from '../streams/stream-store.ts'
import {
  describeCertificate,
  findAuthorityProblems,
  findCertificateProblems,
  isAuthenticationGiven,
  type PushAuthenticationInput,
} from './push-authentication.ts'
import {
  deletePushCredential,
  findPushCredential,
  pushSecretContext,
  savePushCredential,
  type PushCredentialRecord,
  type PushCredentialValues,
} from './push-credential-store.ts'

/** How long an old client secret is still tried when the receiver refuses the new one. */
export const OLD_SECRET_MS = DAY_MS

/**
 * Changes how the service authenticates to the receiver of a stream, and answers the stream as it is
 * then. Credentials of a stream that polls are forgotten. A new OAuth secret overlaps with the old one
 * for a day, unless pushes went to another host `before`; a new certificate is shown on every connection that is opened
 * from now on. The audit entry is the caller's.
 *
 * @throws AppError `invalid_body` naming each member; `target_refused` for the token endpoint
 */
export async function changePushAuthentication(
  change: Change,
  stream: Stream,
  wish: PushAuthenticationInput | undefined,
  { sealer, targetPolicy }: Pick<StreamContext, 'sealer' | 'targetPolicy'>,
  before = stream,
): Promise<Stream> {
  const input = wish ?? {}
  if (stream.deliveryMethod === 'poll') return forgetAuthentication(change, stream, input)
  refuseIf(findHeaderConflict(stream, input))
  if (!isAuthenticationGiven(input)) return stream
  const stored = await findPushCredential(change.tx, stream.id)
  const facts = stream.pushAuthentication ?? {}
  const known = { streamRowId: stream.id, facts, stored, hasMoved: hasMoved(before, stream) }
  assertUsable(input, known, change.at, targetPolicy)
  const credential = toCredential(input, known, change.at, sealer)
  await savePushCredential(change.tx, credential)
  return applyFacts(change, stream, toFacts(input, facts))
}

/** Whether pushes go to another host from now on. */
function hasMoved(before: Stream, { endpointUrl: after }: Stream): boolean {
  return before.endpointUrl !== null && after !== null && !isSameHost(before.endpointUrl, after)
}

async function forgetAuthentication(
  { tx }: Change,
  stream: Stream,
  input: PushAuthenticationInput,
): Promise<Stream> {
  refuseIf(findStrayMembers(input))
  if (stream.pushAuthentication === null) return stream
  await deletePushCredential(tx, stream.id)
  return updateStream(tx, stream.id, { pushAuthentication: null })
}

async function applyFacts(
  { tx }: Change,
  { id }: Stream,
  facts: PushAuthenticationFacts,
): Promise<Stream> {
  const isEmpty = Object.keys(facts).length === 0
  if (isEmpty) await deletePushCredential(tx, id)
  return updateStream(tx, id, { pushAuthentication: isEmpty ? null : JSON.stringify(facts) })
}

const NO_CREDENTIAL: Omit<PushCredentialRecord, 'version' | 'streamRowId'> = {
  oauthClientSecretSealed: null,
  oauthPreviousSecretSealed: null,
  oauthPreviousSecretUntil: null,
  clientCertificate: null,
  clientKeySealed: null,
  extraCa: null,
}

interface Before {
  readonly streamRowId: StreamRowId
  readonly facts: PushAuthenticationFacts
  readonly stored: PushCredentialRecord | undefined
  readonly hasMoved: boolean
}

function findStrayMembers(input: PushAuthenticationInput): ErrorDetail[] {
  return (['oauth', 'mtls', 'extra_ca'] as const)
    .filter((name) => (input[name] ?? null) !== null)
    .map((name) => ({ path: `delivery.${name}`, message: 'Only push streams authenticate.' }))
}

function assertUsable(
  { oauth, mtls, extra_ca: extraCa }: PushAuthenticationInput,
  before: Before,
  now: Date,
  policy: TargetPolicy,
): void {
  if (oauth !== undefined && oauth !== null) {
    assertTarget(oauth.token_endpoint, policy, 'delivery.oauth.token_endpoint', 'pushed')
  }
  refuseIf([
    ...(oauth === undefined || oauth === null ? [] : findOAuthProblems(oauth, before)),
    ...(mtls === undefined || mtls === null ? [] : findCertificateProblems(mtls, now)),
    ...(extraCa === undefined || extraCa === null ? [] : findAuthorityProblems(extraCa)),
  ])
}

type OAuthInput = NonNullable<PushAuthenticationInput['oauth']>

/** Both would be the one `Authorization` header of a push. */
function findHeaderConflict(
  { authorizationHeaderSealed: header, pushAuthentication: facts }: Stream,
  { oauth }: PushAuthenticationInput,
): ErrorDetail[] {
  const hasOAuth = oauth === undefined ? facts?.oauth !== undefined : oauth !== null
  if (header === null || !hasOAuth) return []
  const message = 'Cannot be used beside an authorization header; remove one of them.'
  return [{ path: 'delivery.oauth', message }]
}

function findOAuthProblems(oauth: OAuthInput, { facts, stored }: Before): ErrorDetail[] {
  const path = 'delivery.oauth.client_secret'
  if (oauth.auth_method === 'private_key_jwt') {
    if (oauth.client_secret === undefined) return []
    return [{ path, message: 'Is not used with private_key_jwt.' }]
  }
  if (oauth.client_secret !== undefined) return []
  if ((stored?.oauthClientSecretSealed ?? null) === null) {
    return [{ path, message: 'This is required: a string.' }]
  }
  // A secret goes to the endpoint that it was given for, and to no other.
  if (facts.oauth?.token_endpoint === oauth.token_endpoint) return []
  return [{ path, message: 'This is required with another token endpoint.' }]
}

function toFacts(
  { oauth, mtls, extra_ca: extraCa }: PushAuthenticationInput,
  before: PushAuthenticationFacts,
): PushAuthenticationFacts {
  const { oauth: oauthBefore, mtls: mtlsBefore, has_extra_ca: hadExtraCa } = before
  const nextOAuth = oauth === undefined ? oauthBefore : oauth === null ? undefined : factsOf(oauth)
  const nextMtls =
    mtls === undefined
      ? mtlsBefore
      : mtls === null
        ? undefined
        : describeCertificate(mtls.certificate)
  const hasExtraCa = extraCa === undefined ? hadExtraCa === true : extraCa !== null
  return {
    ...(nextOAuth === undefined ? {} : { oauth: nextOAuth }),
    ...(nextMtls === undefined ? {} : { mtls: nextMtls }),
    ...(hasExtraCa ? { has_extra_ca: true } : {}),
  }
}

function factsOf(oauth: OAuthInput): NonNullable<PushAuthenticationFacts['oauth']> {
  const { token_endpoint, client_id, auth_method, scope } = oauth
  return { token_endpoint, client_id, auth_method, scope: scope ?? null }
}

function toCredential(
  { oauth, mtls, extra_ca: extraCa }: PushAuthenticationInput,
  before: Before,
  now: Date,
  sealer: Sealer,
): PushCredentialValues {
  const { streamRowId, stored } = before
  return {
    ...(stored ?? { ...NO_CREDENTIAL, streamRowId }),
    ...(oauth === undefined ? {} : toSecrets(oauth, before, now, sealer)),
    ...(mtls === undefined ? {} : toCertificate(mtls, streamRowId, sealer)),
    ...(extraCa === undefined ? {} : { extraCa }),
  }
}

function toSecrets(
  oauth: OAuthInput | null,
  { streamRowId, facts, stored, hasMoved: isOfOtherHost }: Before,
  now: Date,
  sealer: Sealer,
): Partial<PushCredentialValues> {
  if (oauth === null || oauth.auth_method === 'private_key_jwt') {
    return {
      oauthClientSecretSealed: null,
      oauthPreviousSecretSealed: null,
      oauthPreviousSecretUntil: null,
    }
  }
  if (oauth.client_secret === undefined) return {}
  const context = pushSecretContext(streamRowId, 'oauth_client_secret_sealed')
  // Like every secret, the old one goes to its own endpoint alone, and its tokens to the host that it was given for.
  const isSameUse = !isOfOtherHost && facts.oauth?.token_endpoint === oauth.token_endpoint
  const previous = isSameUse ? (stored?.oauthClientSecretSealed ?? null) : null
  return {
    oauthClientSecretSealed: sealer.seal(oauth.client_secret, context),
    oauthPreviousSecretSealed: previous,
    oauthPreviousSecretUntil: previous === null ? null : new Date(now.getTime() + OLD_SECRET_MS),
  }
}

function toCertificate(
  mtls: NonNullable<PushAuthenticationInput['mtls']> | null,
  streamRowId: StreamRowId,
  sealer: Sealer,
) {
  if (mtls === null) return { clientCertificate: null, clientKeySealed: null }
  const context = pushSecretContext(streamRowId, 'client_key_sealed')
  return {
    clientCertificate: mtls.certificate,
    clientKeySealed: sealer.seal(mtls.private_key, context),
  }
}

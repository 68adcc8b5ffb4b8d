/*
 * The client of an OpenID provider: its discovery, where it sends people, and what its answers prove. Owns which
 * signatures are taken, and that every request goes through the guarded client. OpenID Connect Core 1.0; RFC 9207;
 * RFC 9700.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type ServerMetadata,
} from 'openid-client'
import { createGuardedFetch } from '../../platform/net/guarded-fetch.ts'
import type { GuardedClient } from '../../platform/net/guarded-client.ts'
import { EMAIL_LENGTH_MAX } from '../../platform/parse-text.ts'
import { toStorableText } from '../../platform/storable-text.ts'

/** Signatures by a key of the provider alone: a shared secret, and none at all, prove nothing. */
const SIGNATURES: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** Clocks of servers that are set by NTP differ by less. */
export const CLOCK_TOLERANCE_SECONDS = 30
const TIMEOUT_SECONDS = 10
const SCOPE = 'openid email profile'
/** OpenID Connect Core 1.0, section 2. */
const SUBJECT_LENGTH_MAX = 255

/** How a provider is reached. */
export interface ProviderAccess {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}

/** What of a sign-in is known on both of its ends, and to nobody else. */
export interface AuthorizationSecrets {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** What a provider says of whom it has authenticated. */
export interface ProvenClaims {
  readonly subject: string
  readonly email: string | undefined
  /** Said of this very address, by whatever names it. */
  readonly isEmailVerified: boolean
  /** Seconds since 1970 at which the person was authenticated; undefined where the provider does not say. */
  readonly authenticatedAt: number | undefined
  readonly all: Readonly<Record<string, unknown>>
}

/**
 * What a provider says of itself.
 *
 * @throws GuardedFetchError, or what `openid-client` throws for a document that is wrong
 */
export async function discoverProvider(
  client: Pick<GuardedClient, 'request'>,
  issuer: string,
  clientId: string,
): Promise<Readonly<ServerMetadata>> {
  const found = await discovery(new URL(issuer), clientId, undefined, undefined, {
    [customFetch]: createGuardedFetch(client),
    // Which addresses may be asked without TLS is the guarded client's decision.
    execute: [allowInsecureRequests],
    timeout: TIMEOUT_SECONDS,
  })
  return found.serverMetadata()
}

/** The signatures of a provider that are taken. */
export function listSignatures(server: Readonly<ServerMetadata>): string[] {
  const offered = listWords(server.id_token_signing_alg_values_supported) ?? ['RS256']
  return offered.filter((name) => SIGNATURES.includes(name))
}

/** A member of a discovery document that should be an array of texts; undefined where there is none. */
export function listWords(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** A client of the provider that this metadata describes. */
export function configure(
  client: Pick<GuardedClient, 'request'>,
  server: Readonly<ServerMetadata>,
  { clientId, clientSecret }: Pick<ProviderAccess, 'clientId' | 'clientSecret'>,
): Configuration {
  const methods = listWords(server.token_endpoint_auth_methods_supported) ?? ['client_secret_basic']
  const authentication = methods.includes('client_secret_basic')
    ? ClientSecretBasic(clientSecret)
    : ClientSecretPost(clientSecret)
  const metadata = { ...server, id_token_signing_alg_values_supported: listSignatures(server) }
  const config = new Configuration(
    metadata,
    clientId,
    { client_secret: clientSecret, [clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    authentication,
  )
  config[customFetch] = createGuardedFetch(client)
  config.timeout = TIMEOUT_SECONDS
  allowInsecureRequests(config)
  enableNonRepudiationChecks(config)
  return config
}

/** Where the browser goes to sign in; `isAnew` asks for a proof of presence instead of a session there. */
export async function toAuthorizationUrl(
  config: Configuration,
  redirectUri: string,
  { state, nonce, codeVerifier }: AuthorizationSecrets,
  isAnew: boolean,
): Promise<string> {
  const url = buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: SCOPE,
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...(isAnew ? { prompt: 'login', max_age: '0' } : {}),
  })
  return url.href
}

/** What the provider has sent the browser back with. */
export interface AuthorizationAnswer {
  readonly code: string
  readonly state: string
  readonly iss: string | undefined
}

/**
 * Exchanges the code and checks what it proves: state, nonce, issuer, audience, times and signature.
 *
 * @throws GuardedFetchError, or what `openid-client` throws for an answer that proves nothing
 */
export async function proveClaims(
  config: Configuration,
  redirectUri: string,
  { codeVerifier, nonce, state }: AuthorizationSecrets,
  answer: AuthorizationAnswer,
): Promise<ProvenClaims> {
  const url = new URL(redirectUri)
  url.searchParams.set('code', answer.code)
  url.searchParams.set('state', answer.state)
  if (answer.iss !== undefined) url.searchParams.set('iss', answer.iss)
  const tokens = await authorizationCodeGrant(config, url, {
    pkceCodeVerifier: codeVerifier,
    expectedNonce: nonce,
    expectedState: state,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (claims === undefined) throw new Error('no ID token')
  const { sub: subject } = claims
  if (subject.length > SUBJECT_LENGTH_MAX || !isStorable(subject)) throw new Error('no subject')
  // Some providers tell the address and the groups only there.
  const isMore = typeof config.serverMetadata().userinfo_endpoint === 'string'
  const more: Claims = isMore ? await fetchUserInfo(config, tokens.access_token, subject) : {}
  return {
    subject,
    ...readEmail([claims, more]),
    authenticatedAt: claims.auth_time,
    all: { ...more, ...claims },
  }
}

type Claims = Readonly<Record<string, unknown>>

/**
 * The address that the first of these names. What one of them says of its own address verifies no other: a person may
 * be able to write one of the two, and have proven the other.
 */
function readEmail(documents: readonly Claims[]): Pick<ProvenClaims, 'email' | 'isEmailVerified'> {
  const email = documents.map(({ email: named }) => named).find((named) => named !== undefined)
  const isAddress =
    typeof email === 'string' && email.length <= EMAIL_LENGTH_MAX && isStorable(email)
  if (!isAddress) return { email: undefined, isEmailVerified: false }
  const said = documents
    .filter((document) => document['email'] === email)
    .map((document) => document['email_verified'])
    .filter((word) => word !== undefined)
  return { email, isEmailVerified: said.length > 0 && said.every((word) => word === true) }
}

function isStorable(text: string): boolean {
  return toStorableText(text) === text
}

/*
 * Tries what a provider is set up with before anybody depends on it, and names the field that is wrong: its
 * discovery, what it can do, and whether it takes the client's secret. Nobody signs in.
 */
import {
  authorizationCodeGrant,
  ClientError,
  randomPKCECodeVerifier,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client'
import type { ServerMetadata } from 'openid-client'
import { GuardedFetchError } from '../../platform/net/guarded-fetch.ts'
import { newSecret } from '../../platform/ids.ts'
import { listSignatures, listWords, type ProviderAccess } from './provider-client.ts'
import { describeProviderError, type ProviderGateway } from './provider-gateway.ts'

/** What is wrong with a field of the set-up. */
export interface ProviderProblem {
  readonly field: 'issuer' | 'client_id' | 'client_secret'
  readonly message: string
}

/** What the provider answered. */
export interface ProviderCheck {
  readonly problems: readonly ProviderProblem[]
  readonly authorizationEndpoint: string | null
  /** Whether the provider says that it can ask people to prove anew that they are there. */
  readonly signatures: readonly string[]
}

/** Checks the set-up; the secret is tried where one is given. */
export async function checkProvider(
  gateway: ProviderGateway,
  access: Omit<ProviderAccess, 'clientSecret'> & { readonly clientSecret: string | undefined },
): Promise<ProviderCheck> {
  const nothing = { authorizationEndpoint: null, signatures: [] }
  const wrong = gateway.findTargetProblem(access.issuer)
  if (wrong !== undefined) return { ...nothing, problems: [issuerProblem(wrong)] }
  let server: Readonly<ServerMetadata>
  try {
    server = await gateway.discover(access)
  } catch (error) {
    return { ...nothing, problems: [issuerProblem(describeDiscoveryError(error))] }
  }
  const problems = findMetadataProblems(server, access.issuer)
  const { clientSecret } = access
  const refused =
    problems.length > 0 || clientSecret === undefined
      ? undefined
      : await findClientProblem(gateway, { ...access, clientSecret })
  return {
    problems: refused === undefined ? problems : [refused],
    authorizationEndpoint: isText(server.authorization_endpoint)
      ? server.authorization_endpoint
      : null,
    signatures: listSignatures(server),
  }
}

function issuerProblem(message: string): ProviderProblem {
  return { field: 'issuer', message }
}

function describeDiscoveryError(error: unknown): string {
  const cause = error instanceof ClientError ? error.cause : undefined
  if (error instanceof GuardedFetchError || cause instanceof GuardedFetchError) {
    return describeProviderError(error)
  }
  const code = error instanceof ClientError ? error.code : undefined
  return code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'
    ? 'The document at /.well-known/openid-configuration names another issuer. Write it exactly as it stands there, with or without the slash at its end.'
    : 'There is no OpenID Connect document at /.well-known/openid-configuration below this address.'
}

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const

/** The members of a discovery document are whatever the provider has written. */
function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** What Heliograph needs of a provider. */
export function findMetadataProblems(
  server: Readonly<ServerMetadata>,
  issuer: string,
): readonly ProviderProblem[] {
  const problems: string[] = []
  if (server.issuer !== issuer) {
    problems.push(`The provider calls itself ${server.issuer}: write it exactly so.`)
  }
  const isPlain = new URL(issuer).protocol === 'http:'
  for (const name of ENDPOINTS) {
    const url: unknown = server[name]
    if (!isText(url)) problems.push(`The provider names no ${name}.`)
    else if (!isWebAddress(url, isPlain))
      problems.push(`The ${name} of the provider is no HTTPS address.`)
  }
  const userInfo: unknown = server.userinfo_endpoint
  if (isText(userInfo) && !isWebAddress(userInfo, isPlain)) {
    problems.push('The userinfo_endpoint of the provider is no HTTPS address.')
  }
  if (listSignatures(server).length === 0) {
    problems.push('The provider signs ID tokens by no algorithm with a public key.')
  }
  const challenges = listWords(server.code_challenge_methods_supported)
  if (challenges !== undefined && !challenges.includes('S256')) {
    problems.push('The provider does not take PKCE with S256.')
  }
  return problems.map(issuerProblem)
}

function isWebAddress(text: string, isPlain: boolean): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === 'https:' || (isPlain && url?.protocol === 'http:')
}

/** Sends a code that nobody has: whoever knows the client says that of the code, else of the client. */
async function findClientProblem(
  gateway: ProviderGateway,
  access: ProviderAccess,
): Promise<ProviderProblem | undefined> {
  try {
    const config = await gateway.open(access)
    const state = newSecret(16)
    const url = new URL(`${gateway.redirectUri}?code=${newSecret(16)}&state=${state}`)
    url.searchParams.set('iss', config.serverMetadata().issuer)
    const pkceCodeVerifier = randomPKCECodeVerifier()
    await authorizationCodeGrant(config, url, { expectedState: state, pkceCodeVerifier })
  } catch (error) {
    const code = error instanceof ResponseBodyError ? error.error : undefined
    if (code === 'invalid_grant') return undefined
    if (code === 'unauthorized_client') {
      const message = 'The provider knows the client, but not for signing in with a code.'
      return { field: 'client_id', message }
    }
    // Most providers refuse a client with 401 and a challenge (RFC 6749, section 5.2).
    if (code === 'invalid_client' || error instanceof WWWAuthenticateChallengeError) {
      const message = 'The provider does not accept the client ID with this secret.'
      return { field: 'client_secret', message }
    }
    return { field: 'client_secret', message: describeProviderError(error) }
  }
  return undefined
}

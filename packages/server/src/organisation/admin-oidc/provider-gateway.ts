/*
 * What of the identity provider several use cases need: its discovery, shared for a minute so that attempts to sign
 * in do not become as many requests to it, and the redirect URI. Says in words why a provider does not answer.
 */
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client'
import type { Configuration, ServerMetadata } from 'openid-client'
import { MINUTE_MS, type Clock } from '../../platform/clock.ts'
import { GuardedFetchError } from '../../platform/net/guarded-fetch.ts'
import type { Outbound } from '../../platform/net/outbound.ts'
import { checkTargetUrl } from '../../platform/net/target-policy.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { shareReading } from '../../platform/shared-reading.ts'
import type { IdentityProvider } from './identity-provider-store.ts'
import { configure, discoverProvider, type ProviderAccess } from './provider-client.ts'

const FRESH_MS = MINUTE_MS
const ISSUERS_MAX = 16
const ERROR_WORD = /^[a-z_]{1,40}$/

export interface ProviderGateway {
  /** Where the provider sends browsers back to: exactly this is registered there. */
  readonly redirectUri: string
  /** What the provider says of itself now. */
  discover(access: Pick<ProviderAccess, 'issuer' | 'clientId'>): Promise<Readonly<ServerMetadata>>
  /** A client of the provider; what it says of itself is at most a minute old. */
  open(access: ProviderAccess): Promise<Configuration>
  /** Why an address cannot be asked; undefined when it can. */
  findTargetProblem(url: string): string | undefined
}

/** `redirectUri` is where a provider sends browsers back to. */
export function createProviderGateway(
  { policy, client }: Outbound,
  redirectUri: string,
  clock: Clock,
): ProviderGateway {
  const discover: ProviderGateway['discover'] = ({ issuer, clientId }) =>
    discoverProvider(client, issuer, clientId)
  const shared = { clock, freshMs: FRESH_MS, keysMax: ISSUERS_MAX }
  const discoverShared = shareReading((key) => {
    const [issuer = '', clientId = ''] = JSON.parse(key) as string[]
    return discover({ issuer, clientId })
  }, shared)
  return {
    redirectUri,
    discover,
    open: async (access) => {
      const server = await discoverShared(JSON.stringify([access.issuer, access.clientId]))
      return configure(client, server, access)
    },
    findTargetProblem: (url) => {
      const check = checkTargetUrl(url, policy)
      return check.ok ? undefined : check.reason
    },
  }
}

/** The secret is sealed for its row. */
export function secretContext(provider: { readonly clientId: string; readonly issuer: string }) {
  const { clientId, issuer } = provider
  return {
    table: 'admin_identity_provider',
    column: 'client_secret_sealed',
    id: `${issuer} ${clientId}`,
  } as const
}

/** How a provider that is set up is reached. */
export function toAccess(sealer: Sealer, provider: IdentityProvider): ProviderAccess {
  const { issuer, clientId, clientSecretSealed } = provider
  const clientSecret = sealer.openText(clientSecretSealed, secretContext(provider))
  return { issuer, clientId, clientSecret }
}

/** Why a request to the provider, or its answer, is of no use: a sentence for admins who set it up. */
export function describeProviderError(error: unknown): string {
  const fault = findFetchError(error)
  return fault === undefined
    ? describeFailedSignIn(error)
    : `The identity provider cannot be reached: ${fault.message}.`
}

/** The same for whoever signs in, who learns nothing of addresses in the network of the service. */
export function describeFailedSignIn(error: unknown): string {
  if (findFetchError(error) !== undefined) {
    return 'The identity provider cannot be reached. Try again, or sign in another way; its check in the settings says why.'
  }
  if (error instanceof ResponseBodyError) return describeRefusal(error.error)
  if (error instanceof WWWAuthenticateChallengeError) return describeRefusal('invalid_client')
  if (error instanceof AuthorizationResponseError) return describeRefusal(error.error)
  return 'The identity provider answered something that proves nothing: its issuer, keys or times do not fit.'
}

/** Whether an error is of the way to the provider, and not of what it said. */
export function isUnreachable(error: unknown): boolean {
  return findFetchError(error) !== undefined
}

function findFetchError(error: unknown): GuardedFetchError | undefined {
  const root = error instanceof ClientError ? (error.cause ?? error) : error
  return root instanceof GuardedFetchError ? root : undefined
}

/** What an error code of OAuth 2.0 or OpenID Connect says. */
export function describeRefusal(code: string): string {
  switch (code) {
    case 'access_denied':
      return 'The identity provider did not let you in, or you have cancelled.'
    case 'invalid_client':
    case 'unauthorized_client':
      return 'The identity provider does not accept the client ID and secret of this service.'
    case 'invalid_grant':
      return 'The identity provider does not know the code any more. Begin again.'
    case 'login_required':
    case 'interaction_required':
      return 'The identity provider wants you to sign in there first.'
    default:
      return `The identity provider refused${ERROR_WORD.test(code) ? `: ${code}` : ''}.`
  }
}

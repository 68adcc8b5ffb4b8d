/*
 * The OAuth 2.0 authorization server of the standard surface: client credentials for access tokens, their
 * revocation and introspection (RFC 6749, 7009, 7662). A certified library does the protocol; this file
 * owns how it is set up and what it may not do. Who manages clients is change-client.ts's.
 */
import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { errors, Provider, type Client, type KoaContextWithOIDC } from 'oidc-provider'
import type { Foundation } from '../../changes/foundation.ts'
import { MINUTE_MS, SECOND_MS, systemClock, toEpochSeconds } from '../../platform/clock.ts'
import { isEqualSecret } from '../../platform/secrets/keyed-digest.ts'
import type { SurfaceUrls } from '../streams/surface-urls.ts'
import {
  createAuthorizationStore,
  SECRET_HASHES,
  UNUSED_SIGNING_ALGORITHM,
} from './authorization-store.ts'
import { SSF_SCOPES } from './client-scopes.ts'
import { hashCredential } from './client-secret.ts'

export interface AuthorizationServerDependencies extends Pick<Foundation, 'db' | 'clock'> {
  readonly urls: SurfaceUrls
  /** Refuses a client that asks too often, by throwing. */
  readonly countTokenRequest: (clientId: string) => Promise<void>
}

/** What one request came to, for whoever answers it. */
export type AuthorizationFailure =
  /** Client authentication failed. */
  | { readonly kind: 'unauthenticated' }
  /** A fault of ours; nothing of it has been told. */
  | { readonly kind: 'fault'; readonly error: unknown }

/** One of the things that the authorization server does. */
export type AuthorizationOperation = 'token' | 'revocation' | 'introspection'

export interface AuthorizationServer {
  /**
   * Answers a request with an unread body. `onFailure` may write another answer than the library's
   * before it is sent: a status with a body.
   */
  answer(
    operation: AuthorizationOperation,
    request: IncomingMessage,
    response: ServerResponse,
    onFailure: OnAuthorizationFailure,
  ): Promise<void>
}

export interface ReplacedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

export type OnAuthorizationFailure = (
  failure: AuthorizationFailure,
) => Promise<ReplacedAnswer | undefined>

/** How long an access token lasts. */
export const ACCESS_TOKEN_SECONDS = (30 * MINUTE_MS) / SECOND_MS

/** How clients may authenticate. */
export const CLIENT_AUTHENTICATION_METHODS = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const

/** The signatures that the assertions of clients may have. */
export const ASSERTION_ALGORITHMS = [
  'RS256',
  'PS256',
  'ES256',
  'ES384',
  'ES512',
  'Ed25519',
  'EdDSA',
] as const

/** The longest life of an assertion: a stolen one is worth little, and used ones are remembered so long. */
const ASSERTION_MAX_SECONDS = 10 * 60

/** The paths that the library knows; the service calls them by its own. */
const PATHS = {
  token: '/token',
  revocation: '/revocation',
  introspection: '/introspection',
} as const satisfies Record<AuthorizationOperation, string>

/** Creates the authorization server. It keeps nothing between requests but what can be read again. */
export function createAuthorizationServer(
  dependencies: AuthorizationServerDependencies,
): AuthorizationServer {
  const { urls } = dependencies
  const provider = createProvider(dependencies)
  const onFailures = new WeakMap<IncomingMessage, OnAuthorizationFailure>()
  const faults = new WeakMap<IncomingMessage, unknown>()
  provider.Client.prototype.compareClientSecret = compareSecret
  provider.OIDCContext.prototype.clientJwtAuthExpectedAudience = () =>
    new Set([urls.issuer, urls.tokenEndpoint, urls.revocationEndpoint, urls.introspectionEndpoint])
  provider.on('server_error', (context, error) => faults.set(context.req, error))
  provider.use(async (context, next) => {
    await next()
    const failure = toFailure(context.status, context.req, faults)
    if (failure === undefined) return
    const replaced = await onFailures.get(context.req)?.(failure)
    if (replaced === undefined) return
    context.status = replaced.status
    context.set(replaced.headers)
    context.body = replaced.body
  })
  const callback = provider.callback()
  return {
    answer: async (operation, request, response, onFailure) => {
      onFailures.set(request, onFailure)
      // Parameters in the query mean nothing here, and the library shall see none.
      request.url = PATHS[operation]
      await callback(request, response)
    },
  }
}

function toFailure(
  status: number,
  request: IncomingMessage,
  faults: WeakMap<IncomingMessage, unknown>,
): AuthorizationFailure | undefined {
  if (faults.has(request)) return { kind: 'fault', error: faults.get(request) }
  if (status >= 500) return { kind: 'fault', error: new Error(`status ${status}`) }
  return status === 401 ? { kind: 'unauthenticated' } : undefined
}

function createProvider(dependencies: AuthorizationServerDependencies): Provider {
  const { db, clock, urls, countTokenRequest } = dependencies
  return new Provider(urls.issuer, {
    adapter: (kind) => createAuthorizationStore(kind, { db, clock }),
    // Access tokens are opaque. The library wants a key; nothing is ever signed with this one.
    jwks: { keys: [generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })] },
    enabledJWA: {
      clientAuthSigningAlgValues: [...ASSERTION_ALGORITHMS],
      idTokenSigningAlgValues: [UNUSED_SIGNING_ALGORITHM],
    },
    scopes: [...SSF_SCOPES],
    responseTypes: [],
    clientAuthMethods: [...CLIENT_AUTHENTICATION_METHODS],
    extraClientMetadata: { properties: [SECRET_HASHES] },
    routes: PATHS,
    ttl: {
      // Runs when the token is made, before its scope is stored and told: a client that asks for no
      // scope gets all that it may have (RFC 6749 section 3.3). One that asks for unknown ones alone does not: it may
      // have misspelt the lesser one.
      ClientCredentials: (context, token, client) => {
        // As it was sent: the library has taken unknown names out of the parameters by now.
        const asked = context.oidc.body?.['scope']
        if (token.scope === undefined && typeof asked === 'string' && asked.trim() !== '') {
          throw new errors.InvalidScope('requested scope is unknown', asked)
        }
        token.scope ??= client.scope
        return ACCESS_TOKEN_SECONDS
      },
    },
    extraTokenClaims: async (_context, token) => {
      await countTokenRequest(token.clientId ?? '')
      return undefined
    },
    assertJwtClientAuthClaimsAndHeader: (_context, claims) => {
      // By the clock of the machine, as the library judges the rest of the assertion.
      const lifeSeconds = Number(claims['exp']) - toEpochSeconds(systemClock.now())
      if (lifeSeconds <= ASSERTION_MAX_SECONDS) return
      throw new errors.InvalidClientAuth('the client assertion lasts too long')
    },
    // Faults as JSON, whoever asks.
    renderError: (context, out) => {
      context.type = 'json'
      context.body = out
    },
    clientBasedCORS: () => false,
    features: {
      clientCredentials: { enabled: true },
      revocation: { enabled: true, allowedPolicy: isOwnToken },
      introspection: { enabled: true, allowedPolicy: isOwnToken },
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
  })
}

/** A client learns nothing of the tokens of another, not even that they exist. */
function isOwnToken(
  _context: KoaContextWithOIDC,
  client: Client,
  token: { readonly clientId?: string | undefined },
): boolean {
  return token.clientId === client.clientId
}

/** Compares a secret with every live one of the client, in a time that tells nothing of them. */
function compareSecret(this: Client, secret: string): boolean {
  const given = hashCredential(secret).toString('hex')
  const known = this[SECRET_HASHES] as readonly string[]
  return known.map((hash) => isEqualSecret(hash, given)).includes(true)
}

// Access tokens by the OAuth 2.0 client credentials grant (RFC 6749 section 4.4), as the CAEP
// Interoperability Profile asks for. Tokens live in memory only.
import { TransmitterError } from '../errors.ts'
import { requireAmounts } from '../require-amounts.ts'
import {
  defaultFetch,
  requestTransmitter,
  requireSecureUrl,
  type FetchFunction,
  type TransmitterResponse,
} from '../transmitter-request.ts'
import { untilAborted } from '../until-aborted.ts'
import type { AuthorizationSource } from './authorization-source.ts'
import { createClientCredential, type ClientAuthentication } from './client-authentication.ts'

/** What is needed to get access tokens. */
export interface ClientCredentialsOptions {
  readonly tokenEndpoint: string
  readonly clientId: string
  readonly authentication: ClientAuthentication
  /** Space-separated scopes, such as `ssf.read ssf.manage`. Left out, the server decides. */
  readonly scope?: string
  /** The protected resource that the token is for. RFC 8707 section 2. */
  readonly resource?: string
  /** Longest wait for a token in milliseconds. Default 10000. */
  readonly timeoutMs?: number
  /**
   * How long before its end a token is replaced, in milliseconds. Default 60000, and never more
   * than a quarter of the token's lifetime.
   */
  readonly refreshBeforeMs?: number
  /** Allows plain HTTP beyond the loopback interface. Default false. */
  readonly isHttpAllowed?: boolean
  readonly fetch?: FetchFunction
  /** Now, in milliseconds since the epoch. */
  readonly nowMs?: () => number
}

interface AccessToken {
  readonly authorization: string
  readonly refreshAtMs: number
}

const ANSWER_BYTES_MAX = 64 * 1024
/** What a server that does not tell a lifetime is taken to mean. */
const ASSUMED_LIFETIME_SECONDS = 300
const LIFETIME_SECONDS_MAX = 30 * 24 * 60 * 60

/**
 * Creates a source of access tokens: each is kept until shortly before its end or until it is
 * answered with 401; requests at the same time share one token request.
 *
 * @throws TypeError when the token endpoint is neither HTTPS nor loopback, or a time is none.
 */
export function createClientCredentials(options: ClientCredentialsOptions): AuthorizationSource {
  requireSecureUrl(options.tokenEndpoint, options.isHttpAllowed ?? false)
  const { timeoutMs, refreshBeforeMs } = options
  requireAmounts({ timeoutMs, refreshBeforeMs })
  const nowMs = options.nowMs ?? Date.now
  let current: AccessToken | undefined
  let fetching: Promise<AccessToken> | undefined

  function renew(): Promise<AccessToken> {
    fetching ??= requestToken(options, nowMs)
      .then((token) => (current = token))
      .finally(() => {
        fetching = undefined
      })
    return fetching
  }

  return {
    async getAuthorization(signal) {
      if (current !== undefined && nowMs() < current.refreshAtMs) return current.authorization
      // The request is shared: one caller that gives up must not end it for the others.
      return (await untilAborted(renew(), signal)).authorization
    },
    discard(authorization) {
      if (current?.authorization === authorization) current = undefined
    },
  }
}

async function requestToken(
  options: ClientCredentialsOptions,
  nowMs: () => number,
): Promise<AccessToken> {
  const { tokenEndpoint, clientId, authentication, scope, resource } = options
  const credential = await createClientCredential({
    clientId,
    tokenEndpoint,
    authentication,
    nowMs: nowMs(),
  })
  const requestedAtMs = nowMs()
  const response = await requestTransmitter({
    method: 'POST',
    url: tokenEndpoint,
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...credential.headers,
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      ...(scope === undefined ? {} : { scope }),
      ...(resource === undefined ? {} : { resource }),
      ...credential.parameters,
    }).toString(),
    timeoutMs: options.timeoutMs ?? 10_000,
    responseBytesMax: ANSWER_BYTES_MAX,
    fetch: options.fetch ?? defaultFetch,
  })
  const { token, lifetimeMs } = readToken(response)
  const refreshBeforeMs = Math.min(options.refreshBeforeMs ?? 60_000, lifetimeMs / 4)
  return {
    authorization: `Bearer ${token}`,
    refreshAtMs: requestedAtMs + lifetimeMs - refreshBeforeMs,
  }
}

/** RFC 6749 section 5.1. */
function readToken({ json, status, request }: TransmitterResponse): {
  token: string
  lifetimeMs: number
} {
  const answer = typeof json === 'object' && json !== null ? json : {}
  const token: unknown = 'access_token' in answer ? answer.access_token : undefined
  const type: unknown = 'token_type' in answer ? answer.token_type : 'Bearer'
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,16384}$/.test(token)) {
    const message = `${request}: the token endpoint gave no access token`
    throw new TransmitterError('bad_response', message, { status })
  }
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') {
    const message = `${request}: the access token is no Bearer token`
    throw new TransmitterError('bad_response', message, { status })
  }
  const lifetime = Number('expires_in' in answer ? answer.expires_in : ASSUMED_LIFETIME_SECONDS)
  const seconds = lifetime > 0 ? Math.min(lifetime, LIFETIME_SECONDS_MAX) : ASSUMED_LIFETIME_SECONDS
  return { token, lifetimeMs: seconds * 1000 }
}

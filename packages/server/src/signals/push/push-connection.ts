/*
 * How the receiver of a stream is addressed: the request of a push with what it authenticates by, and the
 * sending with an access token. Owns the credentials while they are open; the requests go out through the
 * guarded client.
 */
import { SET_MEDIA_TYPE } from '@heliograph/ssf'
import type { GuardedClient, OutboundRequest } from '../../platform/net/guarded-client.ts'
import type { OutboundFailed, OutboundResult } from '../../platform/net/outbound-result.ts'
import type { PrepareOptions } from '../dispatch/delivery-channel.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { unlessAborted } from '../../platform/unless-aborted.ts'
import { AccessTokens } from './access-tokens.ts'
import { createAssertionSigner, type AssertionDependencies } from './client-assertion.ts'
import { authorizationHeaderContext } from './authorization-header.ts'
import { openPushCredential, type OAuthCredential } from './push-credential.ts'
import type { PushTarget } from './push-target-store.ts'

/** A receiver that can be pushed to, with its credentials. */
export interface PushConnection {
  /** The push of one signed SET: the compact token is the whole body. RFC 8935 section 2.1. */
  toRequest(token: string): OutboundRequest
  /** Sends such a request with an access token; undefined when it goes out as it is. */
  readonly send: ((request: OutboundRequest) => Promise<OutboundResult>) | undefined
}

/** Opens the credentials of a target, as they are now; fresh ones when the credentials are to be tried. */
export type OpenPushConnection = (
  target: PushTarget,
  options?: PrepareOptions,
) => Promise<PushConnection>

export interface PushConnectionDependencies extends AssertionDependencies {
  readonly client: Pick<GuardedClient, 'request'>
}

/** Creates what opens connections; those of one opener share their access tokens unless given others. */
export function createPushConnections(
  dependencies: PushConnectionDependencies,
): OpenPushConnection {
  const { db, clock, sealer, client } = dependencies
  const signAssertion = createAssertionSigner(dependencies)
  const newTokens = () => new AccessTokens({ clock, client, signAssertion })
  const sharedTokens = newTokens()
  return async (target, { hasFreshCredentials = false } = {}) => {
    const tokens = hasFreshCredentials ? newTokens() : sharedTokens
    const { authentication, streamRowId } = target
    const credential =
      authentication === null
        ? undefined
        : await openPushCredential(db, sealer, { streamRowId, authentication }, clock.now())
    const headers = pushHeaders(target, sealer)
    const { oauth, tls } = credential ?? {}
    return {
      toRequest: (body) => {
        const request = { url: target.endpointUrl, method: 'POST', headers, body } as const
        return tls === undefined ? request : { ...request, tls }
      },
      send:
        oauth === undefined
          ? undefined
          : (request) => sendWithToken(oauth, request, client, tokens),
    }
  }
}

/**
 * The headers of every push to a target. RFC 8935 section 2.1; the stored authorization header goes
 * out exactly as it was given (SSF 1.0 section 6.1.1), and none is sent when none was given.
 */
function pushHeaders(target: PushTarget, sealer: Sealer): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': SET_MEDIA_TYPE,
    accept: 'application/json',
  }
  if (target.authorizationHeaderSealed !== null) {
    const context = authorizationHeaderContext(target.streamId)
    headers['authorization'] = sealer.openText(target.authorizationHeaderSealed, context)
  }
  return headers
}

/** Where a request says nothing of its time; the engine always does. */
const TIMEOUT_DEFAULT_MS = 15_000

/**
 * Sends a request with an access token. A receiver that answers 401 is asked once more with a new one.
 * The time limit of the request covers all of it. When no token can be had, the result is a failure
 * that may be tried again, in the words of the token endpoint. Never rejects.
 */
async function sendWithToken(
  credential: OAuthCredential,
  request: OutboundRequest,
  client: PushConnectionDependencies['client'],
  tokens: AccessTokens,
): Promise<OutboundResult> {
  const startedAtMs = performance.now()
  const totalMs = request.timeouts?.totalMs ?? TIMEOUT_DEFAULT_MS
  const leftMs = (): number => totalMs - (performance.now() - startedAtMs)
  let result: OutboundResult | undefined
  for (;;) {
    // Others wait for the same token.
    const token = await unlessAborted(tokens.get(credential, leftMs()), request.signal)
    if (token === undefined) return failed(ABORTED, startedAtMs)
    if (token.kind === 'refused') return result ?? failed(unauthorized(token.message), startedAtMs)
    if (leftMs() <= 0)
      return result ?? failed(unauthorized('There was no time left to push'), startedAtMs)
    const headers = { ...request.headers, authorization: `Bearer ${token.value}` }
    const timeouts = { ...request.timeouts, totalMs: leftMs() }
    const isRepeated = result !== undefined
    result = await client.request({ ...request, headers, timeouts })
    const isRefused = result.kind === 'response' && result.status === 401
    if (!isRefused || isRepeated || !tokens.discard(credential, token.value)) return result
  }
}

type Failure = Pick<OutboundFailed, 'stage' | 'code' | 'message'>

const ABORTED: Failure = {
  stage: 'aborted',
  code: 'aborted',
  message: 'The request was broken off',
}

function unauthorized(message: string): Failure {
  return { stage: 'authorization', code: 'authorization_failed', message }
}

function failed(failure: Failure, startedAtMs: number): OutboundFailed {
  const none = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null }
  return {
    kind: 'failed',
    ...failure,
    retryable: true,
    status: undefined,
    remoteAddress: undefined,
    timings: { ...none, totalMs: performance.now() - startedAtMs, reusedConnection: false },
  }
}

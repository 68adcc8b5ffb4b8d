import type { GuardedClient, OutboundRequest } from '../../platform/net/guarded-client.ts'
import type { OutboundFailed, OutboundResult } from '../../platform/net/outbound-result.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { OAuthCredential } from './push-credential.ts'

export interface PushSenderDependencies {
  readonly client: Pick<GuardedClient, 'request'>
  readonly tokens: AccessTokens
}

/** Where a request says nothing of its time; the engine always does. */
const TIMEOUT_DEFAULT_MS = 15_000

/**
 * Sends a request with an access token. A receiver that answers 401 is asked once more with a new one.
 * The time limit of the request covers all of it. When no token can be had, the result is a failure
 * that may be tried again, in the words of the token endpoint. Never rejects.
 */
export async function sendWithToken(
  credential: OAuthCredential,
  request: OutboundRequest,
  { client, tokens }: PushSenderDependencies,
): Promise<OutboundResult> {
  const startedAtMs = performance.now()
  const totalMs = request.timeouts?.totalMs ?? TIMEOUT_DEFAULT_MS
  const leftMs = (): number => totalMs - (performance.now() - startedAtMs)
  let result: OutboundResult | undefined
  for (;;) {
    const token = await tokens.get(credential, leftMs())
    if (token.kind === 'refused') return result ?? unauthorized(token.message, startedAtMs)
    if (leftMs() <= 0) return result ?? unauthorized('There was no time left to push', startedAtMs)
    const headers = { ...request.headers, authorization: `Bearer ${token.value}` }
    const timeouts = { ...request.timeouts, totalMs: leftMs() }
    const isRepeated = result !== undefined
    result = await client.request({ ...request, headers, timeouts })
    const isRefused = result.kind === 'response' && result.status === 401
    if (!isRefused || isRepeated || !tokens.discard(credential, token.value)) return result
  }
}

function unauthorized(message: string, startedAtMs: number): OutboundFailed {
  const none = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null }
  return {
    kind: 'failed',
    stage: 'authorization',
    code: 'authorization_failed',
    message,
    retryable: true,
    status: undefined,
    remoteAddress: undefined,
    timings: { ...none, totalMs: performance.now() - startedAtMs, reusedConnection: false },
  }
}

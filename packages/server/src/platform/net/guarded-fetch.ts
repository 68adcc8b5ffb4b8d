/*
 * `fetch` by the guarded client, for libraries that take one. Owns that what they send passes the same checks as
 * every other request to an address that somebody gave, and that a long answer is refused, not cut.
 */
import type { GuardedClient, OutboundRequest } from './guarded-client.ts'
import type { OutboundFailed, OutboundResponse } from './outbound-result.ts'

/** More than documents and tokens of well-behaved servers have. */
const BODY_BYTES_MAX = 262_144

/** Statuses whose answers have no body (Fetch Standard, null body status). */
const WITHOUT_BODY = new Set([204, 205, 304])

/** The request failed before it was answered. `message` is public. */
export class GuardedFetchError extends Error {
  readonly failure: OutboundFailed | undefined

  constructor(message: string, failure?: OutboundFailed) {
    super(message)
    this.name = 'GuardedFetchError'
    this.failure = failure
  }
}

/** What libraries give to a `fetch` of their own. */
export interface GuardedFetchInit {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal | null
}

/** A `fetch` that goes through the client. Its answers carry credentials for the caller and are not masked. */
export function createGuardedFetch(
  client: Pick<GuardedClient, 'request'>,
): (url: string, init: GuardedFetchInit) => Promise<Response> {
  return async (url, { method, headers, body, signal }) => {
    const result = await client.request({
      url,
      method: toMethod(method),
      headers: withoutUserAgent(headers),
      isAnswerConfidential: true,
      bodyBytesMax: BODY_BYTES_MAX,
      ...(body === undefined || body === null ? {} : { body: toText(body) }),
      ...(signal === undefined || signal === null ? {} : { signal }),
    })
    if (result.kind === 'failed') throw new GuardedFetchError(result.message, result)
    return toResponse(result)
  }
}

/** The client names itself. */
function withoutUserAgent(headers: GuardedFetchInit['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'user-agent'),
  )
}

function toMethod(method: string): OutboundRequest['method'] {
  if (method === 'GET' || method === 'POST') return method
  throw new GuardedFetchError(`The method ${method} is not sent`)
}

function toText(body: unknown): string {
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new GuardedFetchError('A body of another kind is not sent')
}

function toResponse({ status, headers, body, bodyTruncated }: OutboundResponse): Response {
  if (bodyTruncated) throw new GuardedFetchError('The answer is too long')
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  )
  return new Response(WITHOUT_BODY.has(status) ? null : new Uint8Array(body), {
    status,
    headers: pairs,
  })
}

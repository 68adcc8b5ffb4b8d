import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../app-error.ts'
import { toCanonicalJson } from '../../canonical-json.ts'

/** With this header a write can be repeated without being done twice. draft-ietf-httpapi-idempotency-key-header-07. */
export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key'

/** `true` on an answer that was kept from the first request. */
export const IDEMPOTENT_REPLAYED_HEADER = 'Idempotent-Replayed'

export const IDEMPOTENCY_KEY_LENGTH_MAX = 255

/** Visible characters of ASCII, spaces between them. */
const KEY = /^[!-~](?:[ -~]*[!-~])?$/

/** Who asks for what under which key. */
export interface IdempotentRequest {
  readonly key: string
  /** The credential, such as `api_key:7`: keys of different callers never meet. */
  readonly caller: string
  readonly method: string
  /** The path of the route, with its parameters unfilled. */
  readonly routePath: string
  /** Everything else that decides about the effect and the answer. */
  readonly content: {
    readonly path: string
    readonly query: unknown
    readonly body: unknown
    readonly apiVersion: string
  }
  readonly requestId: string
}

/**
 * The idempotency key of a request, if it carries one.
 *
 * @throws AppError `invalid_parameter` for a key that is empty, too long or not printable ASCII: a
 * client that sends one counts on it.
 */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const value = headers[IDEMPOTENCY_KEY_HEADER.toLowerCase()]
  if (value === undefined) return undefined
  const key = Array.isArray(value) ? value.join(', ') : value
  if (key.length <= IDEMPOTENCY_KEY_LENGTH_MAX && KEY.test(key)) return key
  const message = `must be 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} printable ASCII characters.`
  throw new AppError('invalid_parameter', `The header ${IDEMPOTENCY_KEY_HEADER} ${message}`, {
    details: [{ path: IDEMPOTENCY_KEY_HEADER, message: `This ${message}` }],
  })
}

/** SHA-256 over the place where a key counts: caller, key, method and route. */
export function scopeHashOf({ caller, key, method, routePath }: IdempotentRequest): Buffer {
  return sha256(JSON.stringify([caller, key, method, routePath]))
}

/** SHA-256 over what a request asks for; the order of members does not matter. */
export function fingerprintOf({ content }: IdempotentRequest): Buffer {
  const { path, query, body, apiVersion } = content
  return sha256(toCanonicalJson([path, query, body ?? null, apiVersion]))
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

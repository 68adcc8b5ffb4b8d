import { parsePushError } from '@heliograph/ssf'
import { decodeUtf8, parseJson, readBodyStart, readCappedBody } from './capped-body.ts'
import { TransmitterError, type TransmitterErrorCode } from './errors.ts'

/** The part of `fetch` that is used; pass another implementation to use a proxy or an own agent. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>

/** One request to the transmitter. */
export interface TransmitterRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly timeoutMs: number
  readonly responseBytesMax: number
  readonly signal?: AbortSignal | undefined
  readonly fetch: FetchFunction
}

/** A successful answer. */
export interface TransmitterResponse {
  readonly status: number
  readonly headers: Headers
  /** The parsed body; undefined when there is none. */
  readonly json: unknown
}

const ERROR_BODY_BYTES_MAX = 4096

/** The runtime's own `fetch`, looked up at each call so that a replaced global is used. */
export const defaultFetch: FetchFunction = (url, init) => fetch(url, init)

/**
 * Sends one request and reads a JSON answer within a time and a size; follows no redirect.
 *
 * @throws TransmitterError for every failure, a non-2xx answer included.
 */
export async function requestTransmitter(
  request: TransmitterRequest,
): Promise<TransmitterResponse> {
  const timeout = AbortSignal.timeout(request.timeoutMs)
  const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout])
  try {
    signal.throwIfAborted()
    const response = await request.fetch(request.url, {
      method: request.method,
      headers: request.headers,
      redirect: 'manual',
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    })
    if (!response.ok) throw await statusError(response)
    const { status, headers } = response
    return { status, headers, json: await readJson(response, request.responseBytesMax) }
  } catch (error) {
    if (error instanceof TransmitterError) throw error
    throw connectionError(error, request, timeout)
  }
}

function connectionError(
  cause: unknown,
  request: TransmitterRequest,
  timeout: AbortSignal,
): TransmitterError {
  if (request.signal?.aborted === true) {
    return new TransmitterError('aborted', 'the request was aborted', { cause })
  }
  if (timeout.aborted) {
    return new TransmitterError('timeout', `no answer within ${request.timeoutMs} ms`, { cause })
  }
  return new TransmitterError('network', 'the request failed', { cause })
}

async function readJson(response: Response, bytesMax: number): Promise<unknown> {
  const { status } = response
  const bytes = await readCappedBody(response.body, bytesMax)
  if (bytes === undefined) {
    throw new TransmitterError('bad_response', `the answer is larger than ${bytesMax} bytes`, {
      status,
    })
  }
  if (bytes.byteLength === 0) return undefined
  const json = parseJson(decodeUtf8(bytes))
  if (json === undefined) {
    throw new TransmitterError('bad_response', 'the answer is not JSON', { status })
  }
  return json
}

async function statusError(response: Response): Promise<TransmitterError> {
  const { status, headers } = response
  const body = await readBodyStart(response.body, ERROR_BODY_BYTES_MAX)
  const said = parsePushError(status, headers.get('content-type') ?? undefined, body)
  return new TransmitterError(statusCode(status), `the transmitter answered ${status}`, {
    status,
    retryAfterMs: parseRetryAfter(headers.get('retry-after'), Date.now()),
    error: challengeError(headers.get('www-authenticate')) ?? said.err,
    description: said.description,
    ...(body === '' ? {} : { body }),
  })
}

/** The `error` of a Bearer challenge. RFC 6750 section 3. */
function challengeError(challenge: string | null): string | undefined {
  return /\berror="([^"]{1,128})"/.exec(challenge ?? '')?.[1]
}

const CODES_BY_STATUS: Readonly<Record<number, TransmitterErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  429: 'rate_limited',
}

function statusCode(status: number): TransmitterErrorCode {
  const code = CODES_BY_STATUS[status]
  if (code !== undefined) return code
  if (status >= 500) return 'unavailable'
  return status >= 400 ? 'refused' : 'bad_response'
}

/** Reads a Retry-After header, seconds or a date, in milliseconds from now. RFC 9110 section 10.2.3. */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}

/**
 * How long an answer stays fresh, in milliseconds, by its Cache-Control and Age headers; undefined
 * when they do not say. RFC 9111 sections 4.2.1 and 5.1.
 */
export function freshForMs(headers: Headers): number | undefined {
  const control = headers.get('cache-control') ?? ''
  if (/\bno-(?:store|cache)\b/i.test(control)) return 0
  const maxAge = /\bmax-age="?(\d{1,9})/i.exec(control)?.[1]
  if (maxAge === undefined) return undefined
  const age = /^\d{1,9}$/.exec(headers.get('age') ?? '')?.[0] ?? '0'
  return Math.max(0, Number(maxAge) - Number(age)) * 1000
}

/**
 * Checks that a URL is HTTPS, or HTTP on the loopback interface.
 *
 * @throws TypeError otherwise, unless plain HTTP is allowed.
 */
export function requireSecureUrl(url: string, isHttpAllowed: boolean): string {
  const { protocol, hostname } = new URL(url)
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
  if (protocol === 'https:' || (protocol === 'http:' && (isLoopback || isHttpAllowed))) return url
  throw new TypeError(`${url} must be an https URL`)
}

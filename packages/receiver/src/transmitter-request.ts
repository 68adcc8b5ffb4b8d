import { parsePushError } from '@heliograph/ssf'
import { decodeUtf8, parseJson, readBodyStart, readCappedBody } from './capped-body.ts'
import { TransmitterError, type TransmitterErrorCode } from './errors.ts'
import { limitRequest } from './request-limit.ts'
import { untilAborted } from './until-aborted.ts'

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
  /** What it answers, for messages: the method and the address. */
  readonly request: string
}

const ERROR_BODY_BYTES_MAX = 4096
/** How much of what a transmitter says stands in the message of an error. */
const SAID_CHARACTERS_MAX = 300

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
  const limit = limitRequest(request.timeoutMs, request.signal)
  try {
    limit.signal.throwIfAborted()
    // A `fetch` of the application may not look at the signal.
    return await untilAborted(exchange(request, limit.signal), limit.signal)
  } catch (error) {
    if (!(error instanceof TransmitterError)) {
      throw connectionError(error, request, limit.hasTimedOut())
    }
    if (error.code !== 'aborted') throw error
    throw connectionError(error.cause, request, limit.hasTimedOut())
  } finally {
    limit.release()
  }
}

async function exchange(
  request: TransmitterRequest,
  signal: AbortSignal,
): Promise<TransmitterResponse> {
  const response = await request.fetch(request.url, {
    method: request.method,
    headers: request.headers,
    redirect: 'manual',
    signal,
    ...(request.body === undefined ? {} : { body: request.body }),
  })
  if (!response.ok) throw await statusError(response, request, signal)
  const { status, headers } = response
  const json = await readJson(response, request, signal)
  return { status, headers, json, request: describeRequest(request) }
}

/** The method and the address of a request; what may be secret in an address is left out. */
function describeRequest({ method, url }: TransmitterRequest): string {
  const { origin, pathname } = new URL(url)
  return `${method} ${origin}${pathname}`
}

function connectionError(
  cause: unknown,
  request: TransmitterRequest,
  hasTimedOut: boolean,
): TransmitterError {
  const what = describeRequest(request)
  if (request.signal?.aborted === true) {
    return new TransmitterError('aborted', `${what}: the request was aborted`, { cause })
  }
  if (hasTimedOut) {
    const message = `${what}: no answer within ${request.timeoutMs} ms`
    return new TransmitterError('timeout', message, { cause })
  }
  return new TransmitterError('network', `${what}: ${describeCause(cause)}`, { cause })
}

/** `fetch` hides why a connection failed behind the same text each time. */
function describeCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const message = cause instanceof Error ? toOneLine(cause.message) : ''
  return message === '' ? 'the request failed' : `the request failed: ${message}`
}

async function readJson(
  response: Response,
  request: TransmitterRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const { status } = response
  const bytesMax = request.responseBytesMax
  const bytes = await readCappedBody(response.body, bytesMax, signal)
  const refuse = (why: string): never => {
    throw new TransmitterError('bad_response', `${describeRequest(request)}: ${why}`, { status })
  }
  if (bytes === undefined) return refuse(`the answer is larger than ${bytesMax} bytes`)
  if (bytes.byteLength === 0) return undefined
  const json = parseJson(decodeUtf8(bytes))
  return json === undefined ? refuse('the answer is not JSON') : json
}

async function statusError(
  response: Response,
  request: TransmitterRequest,
  signal: AbortSignal,
): Promise<TransmitterError> {
  const { status, headers } = response
  const body = await readBodyStart(response.body, ERROR_BODY_BYTES_MAX, signal)
  const said = parsePushError(status, headers.get('content-type') ?? undefined, body)
  const error = challengeError(headers.get('www-authenticate')) ?? said.err
  const words = [error, said.description].filter((word) => word !== undefined)
  const message = [`${describeRequest(request)}: the transmitter answered ${status}`, ...words]
  return new TransmitterError(statusCode(status), message.map(toOneLine).join(': '), {
    status,
    retryAfterMs: parseRetryAfter(headers.get('retry-after'), Date.now()),
    error,
    description: said.description,
    ...(body === '' ? {} : { body }),
  })
}

/** What others say, without what would break a log. */
function toOneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return line.length > SAID_CHARACTERS_MAX ? `${line.slice(0, SAID_CHARACTERS_MAX)} ...` : line
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
  if (!URL.canParse(url)) throw new TypeError(`${url} must be an absolute URL`)
  const { protocol, hostname } = new URL(url)
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
  if (protocol === 'https:' || (protocol === 'http:' && (isLoopback || isHttpAllowed))) return url
  throw new TypeError(`${url} must be an https URL`)
}

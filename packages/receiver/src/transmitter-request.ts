import { decodeUtf8, parseJson, readCappedBody } from './capped-body.ts'
import { TransmitterError, type TransmitterErrorCode } from './errors.ts'

/** The part of `fetch` that is used; pass another implementation to use a proxy or an own agent. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>

/** One request to the transmitter. */
export interface TransmitterRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
  readonly responseBytesMax: number
  readonly signal?: AbortSignal | undefined
  readonly fetch: FetchFunction
}

/** A successful answer. */
export interface TransmitterResponse {
  readonly status: number
  /** The parsed body; undefined when there is none. */
  readonly json: unknown
}

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
    const response = await request.fetch(request.url, {
      method: request.method,
      headers: request.headers,
      redirect: 'manual',
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw statusError(response)
    }
    return { status: response.status, json: await readJson(response, request.responseBytesMax) }
  } catch (error) {
    if (error instanceof TransmitterError) throw error
    const code = timeout.aborted ? 'timeout' : 'network'
    const message =
      code === 'timeout' ? `no answer within ${request.timeoutMs} ms` : 'the request failed'
    throw new TransmitterError(code, message, { cause: error })
  }
}

async function readJson(response: Response, bytesMax: number): Promise<unknown> {
  const bytes = await readCappedBody(response.body, bytesMax)
  if (bytes === undefined) {
    throw new TransmitterError('bad_response', `the answer is larger than ${bytesMax} bytes`, {
      status: response.status,
    })
  }
  if (bytes.byteLength === 0) return undefined
  const json = parseJson(decodeUtf8(bytes))
  if (json === undefined) {
    throw new TransmitterError('bad_response', 'the answer is not JSON', {
      status: response.status,
    })
  }
  return json
}

function statusError(response: Response): TransmitterError {
  const { status } = response
  return new TransmitterError(statusCode(status), `the transmitter answered ${status}`, {
    status,
    retryAfterMs: parseRetryAfter(response.headers.get('retry-after'), Date.now()),
  })
}

function statusCode(status: number): TransmitterErrorCode {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 429) return 'rate_limited'
  if (status >= 500) return 'unavailable'
  if (status >= 400) return 'refused'
  return 'bad_response'
}

/** Reads a Retry-After header, seconds or a date, in milliseconds from now. RFC 9110 section 10.2.3. */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
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

import { describeIssues, parsePollResponse, type SetError } from '@heliograph/ssf'
import {
  toAuthorizationSource,
  type Authorization,
  type AuthorizationSource,
} from './authorization/authorization-source.ts'
import { requestAuthorized } from './authorization/request-authorized.ts'
import { TransmitterError, type SetVerificationError } from './errors.ts'
import { requireAmounts, requireCount } from './require-amounts.ts'
import {
  defaultFetch,
  requireSecureUrl,
  type FetchFunction,
  type TransmitterResponse,
} from './transmitter-request.ts'

/** How a poll endpoint is asked. */
export interface PollExchangeOptions {
  readonly endpointUrl: string
  /** How polls are authorised; after 401 a source that has another credential is asked for it. */
  readonly authorization?: Authorization | undefined
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * `post` is RFC 8936; `get` fetches with GET and acknowledges with POST, for transmitters that
   * offer that form. Default `post`.
   */
  readonly form?: 'post' | 'get'
  /**
   * At most this many SETs per poll; with `Infinity` the transmitter decides. Default 100. Not sent by the form `get`.
   */
  readonly maxEvents?: number
  /** Asks for an answer at once instead of a long poll. Default false. */
  readonly returnImmediately?: boolean
  /** Longest wait for an answer in milliseconds; must be longer than a long poll. Default 90000. */
  readonly requestTimeoutMs?: number
  /** Largest accepted answer, in bytes. Default 33554432. */
  readonly responseBytesMax?: number
  /** Allows plain HTTP beyond the loopback interface. Default false. */
  readonly isHttpAllowed?: boolean
  readonly fetch?: FetchFunction
}

/** What a poll brought. */
export interface PollAnswer {
  readonly sets: ReadonlyMap<string, string>
  /** The ids of entries that are no SETs. */
  readonly malformed: readonly string[]
  readonly isMoreAvailable: boolean
}

/** The requests of one poll client, and the acknowledgements that wait to be sent. */
export interface PollExchange {
  /** Whether a poll waits at the transmitter when there is nothing to fetch. */
  readonly isLongPoll: boolean
  /** Remembers that a SET is finished; sent with the next request. */
  acknowledge(jti: string): void
  /** Remembers that a SET is refused; sent with the next request. */
  reportError(jti: string, error: SetVerificationError): void
  /** Sends what waits and fetches. @throws TransmitterError */
  poll(signal?: AbortSignal): Promise<PollAnswer>
  /** Sends what waits, if anything, and fetches nothing. @throws TransmitterError */
  flush(): Promise<void>
}

/** What bounds a single request. */
interface RequestLimits {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
}

/** An acknowledgement is answered at once, and stopping must not take as long as a long poll. */
const FLUSH_LIMITS: RequestLimits = { timeoutMs: 10_000 }

/** Most acknowledgements in one request; more wait for the next. */
const ACKNOWLEDGEMENTS_PER_REQUEST_MAX = 500

/**
 * Creates the exchange with a poll endpoint. Acknowledgements leave the memory only when the request
 * that carried them was answered with success. RFC 8936 section 2.2.
 */
export function createPollExchange(options: PollExchangeOptions): PollExchange {
  requireSecureUrl(options.endpointUrl, options.isHttpAllowed ?? false)
  const { maxEvents = 100, requestTimeoutMs, responseBytesMax } = options
  requireCount('maxEvents', maxEvents)
  requireAmounts({ requestTimeoutMs, responseBytesMax })
  const isGetForm = options.form === 'get'
  const isLongPoll = !isGetForm && options.returnImmediately !== true
  const { authorization } = options
  const source = authorization === undefined ? undefined : toAuthorizationSource(authorization)
  const acks = new Set<string>()
  const setErrs = new Map<string, SetError>()

  async function sendWaiting(
    members: object,
    limits: RequestLimits = {},
  ): Promise<TransmitterResponse> {
    const ack = [...acks].slice(0, ACKNOWLEDGEMENTS_PER_REQUEST_MAX)
    const errs = [...setErrs].slice(0, ACKNOWLEDGEMENTS_PER_REQUEST_MAX - ack.length)
    const response = await send(options, source, limits, {
      ...members,
      ...(ack.length > 0 ? { ack } : {}),
      ...(errs.length > 0 ? { setErrs: Object.fromEntries(errs) } : {}),
    })
    for (const jti of ack) acks.delete(jti)
    for (const [jti] of errs) setErrs.delete(jti)
    return response
  }

  async function flush(): Promise<void> {
    while (acks.size + setErrs.size > 0) {
      await sendWaiting(isGetForm ? {} : { maxEvents: 0, returnImmediately: true }, FLUSH_LIMITS)
    }
  }

  return {
    isLongPoll,
    acknowledge: (jti) => void acks.add(jti),
    reportError: (jti, { err, message }) => void setErrs.set(jti, { err, description: message }),
    async poll(signal) {
      if (isGetForm) {
        await flush()
        return readAnswer(await send(options, source, { signal }))
      }
      const wanted = {
        ...(Number.isFinite(maxEvents) ? { maxEvents } : {}),
        returnImmediately: !isLongPoll,
      }
      return readAnswer(await sendWaiting(wanted, { signal }))
    },
    flush,
  }
}

async function send(
  options: PollExchangeOptions,
  source: AuthorizationSource | undefined,
  limits: RequestLimits,
  body?: object,
): Promise<TransmitterResponse> {
  const request = {
    method: body === undefined ? 'GET' : 'POST',
    url: options.endpointUrl,
    headers: {
      accept: 'application/json',
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-language': 'en' }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    timeoutMs: limits.timeoutMs ?? options.requestTimeoutMs ?? 90_000,
    responseBytesMax: options.responseBytesMax ?? 32 * 1024 * 1024,
    signal: limits.signal,
    fetch: options.fetch ?? defaultFetch,
  } as const
  return requestAuthorized(request, source)
}

function readAnswer({ status, json, request }: TransmitterResponse): PollAnswer {
  const parsed = parsePollResponse(json)
  if (parsed.ok) return parsed.value
  const message = `${request}: ${describeIssues(parsed.issues)}`
  throw new TransmitterError('bad_response', message, { status })
}

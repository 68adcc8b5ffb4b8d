// Requests to the management endpoints of one transmitter: found by discovery, authorised, bounded
// in time and size, and repeated where repeating is safe.
import type { ParseIssue, ParseResult, TransmitterConfiguration } from '@heliograph/ssf'
import { describeIssues } from '@heliograph/ssf'
import { toAuthorizationSource, type Authorization } from '../authorization/authorization-source.ts'
import { requestAuthorized } from '../authorization/request-authorized.ts'
import { nextDelayMs, sleep } from '../back-off.ts'
import { createDiscoveryCache } from '../discovery.ts'
import { TransmitterError } from '../errors.ts'
import { requireAmounts } from '../require-amounts.ts'
import {
  defaultFetch,
  requireSecureUrl,
  type FetchFunction,
  type TransmitterRequest,
  type TransmitterResponse,
} from '../transmitter-request.ts'
import type { CallOptions } from './stream-client.ts'

/** What a stream client needs. */
export interface StreamClientOptions {
  /** The transmitter's issuer, exactly as in its discovery document. */
  readonly issuer: string
  readonly authorization: Authorization
  /** The discovery document, when it is already known; it is then never fetched. */
  readonly configuration?: TransmitterConfiguration
  /** Further headers of every management request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Longest wait for each answer in milliseconds. Default 30000. */
  readonly timeoutMs?: number
  /**
   * How often a request is repeated after 429, or, when it only reads, after a 5xx answer or a
   * broken connection. Default 2.
   */
  readonly retriesMax?: number
  /** Longest pause in milliseconds before a repeat; longer Retry-After ends the call. Default 10000. */
  readonly retryAfterMaxMs?: number
  /** Largest accepted answer, in bytes. Default 16777216. */
  readonly responseBytesMax?: number
  /** Allows plain HTTP beyond the loopback interface. Default false. */
  readonly isHttpAllowed?: boolean
  readonly fetch?: FetchFunction
  /** Now, in milliseconds since the epoch. */
  readonly nowMs?: () => number
  /** Answers a number from 0 to below 1, for jitter. */
  readonly random?: () => number
}

/** Endpoints that the discovery document may name. */
export type EndpointName =
  | 'configuration_endpoint'
  | 'status_endpoint'
  | 'add_subject_endpoint'
  | 'remove_subject_endpoint'
  | 'verification_endpoint'

/** One management request. */
export interface ManagementRequest {
  readonly method: TransmitterRequest['method']
  readonly url: string
  readonly body?: object
}

/** Sends management requests. */
export interface ManagementRequests {
  getConfiguration(options: CallOptions): Promise<TransmitterConfiguration>
  /** The URL of an endpoint; `{stream_id}` in it is filled in. @throws TransmitterError */
  findEndpoint(
    name: EndpointName,
    options: CallOptions,
    details?: { readonly streamId?: string; readonly query?: Readonly<Record<string, string>> },
  ): Promise<string>
  /** @throws TransmitterError */
  send(request: ManagementRequest, options: CallOptions): Promise<TransmitterResponse>
}

/** @throws TypeError when the issuer is neither HTTPS nor loopback, or a time, size or count is none. */
export function createManagementRequests(options: StreamClientOptions): ManagementRequests {
  const isHttpAllowed = options.isHttpAllowed ?? false
  requireSecureUrl(options.issuer, isHttpAllowed)
  const { timeoutMs, retriesMax, retryAfterMaxMs, responseBytesMax } = options
  requireAmounts({ timeoutMs, retriesMax, retryAfterMaxMs, responseBytesMax })
  const discovery = createDiscoveryCache(options.issuer, options)
  const source = toAuthorizationSource(options.authorization)
  const { configuration } = options

  async function getConfiguration(call: CallOptions): Promise<TransmitterConfiguration> {
    requireAmounts({ timeoutMs: call.timeoutMs })
    if (configuration !== undefined) return configuration
    return repeatWhereSafe(options, { method: 'GET', signal: call.signal }, () =>
      discovery.getConfiguration(call),
    )
  }

  return {
    getConfiguration,
    async findEndpoint(name, callOptions, { streamId, query } = {}) {
      const endpoint = (await getConfiguration(callOptions))[name]
      if (endpoint === undefined) {
        throw new TransmitterError('bad_response', `the transmitter has no ${name}`)
      }
      const url = new URL(fillTemplate(endpoint, streamId))
      for (const [member, value] of Object.entries(query ?? {})) url.searchParams.set(member, value)
      return url.href
    },
    async send({ method, url, body }, callOptions) {
      requireAmounts({ timeoutMs: callOptions.timeoutMs })
      const request: TransmitterRequest = {
        method,
        url: requireSecureUrl(url, isHttpAllowed),
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...options.headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        timeoutMs: callOptions.timeoutMs ?? options.timeoutMs ?? 30_000,
        responseBytesMax: options.responseBytesMax ?? 16 * 1024 * 1024,
        signal: callOptions.signal,
        fetch: options.fetch ?? defaultFetch,
      }
      return repeatWhereSafe(options, request, () => requestAuthorized(request, source))
    },
  }
}

const FIRST_PAUSE_MS = 500
const NO_SIGNAL = new AbortController().signal

async function repeatWhereSafe<Answer>(
  options: StreamClientOptions,
  request: Pick<TransmitterRequest, 'method' | 'signal'>,
  send: () => Promise<Answer>,
): Promise<Answer> {
  const { retriesMax = 2, retryAfterMaxMs = 10_000, random } = options
  for (let failures = 0; ; failures += 1) {
    try {
      return await send()
    } catch (error) {
      if (!(failures < retriesMax && isRepeatable(request, error))) throw error
      const pauses = {
        backOffMs: FIRST_PAUSE_MS,
        retryAfterMaxMs: Number.POSITIVE_INFINITY,
        ...(random === undefined ? {} : { random }),
      }
      const delayMs = nextDelayMs(pauses, failures, error.retryAfterMs)
      if (delayMs > retryAfterMaxMs) throw error
      await sleep(delayMs, request.signal ?? NO_SIGNAL)
    }
  }
}

/** 429 says that nothing was done; any other failure may have come after the work was done. */
function isRepeatable(
  request: Pick<TransmitterRequest, 'method'>,
  error: unknown,
): error is TransmitterError {
  if (!(error instanceof TransmitterError)) return false
  if (error.code === 'rate_limited') return true
  if (request.method !== 'GET') return false
  return error.code === 'unavailable' || error.code === 'network' || error.code === 'timeout'
}

/** Some transmitters publish a template instead of a URL. */
function fillTemplate(endpoint: string, streamId: string | undefined): string {
  if (streamId === undefined) return endpoint
  return endpoint.replace(/\{[\w-]+\}/g, encodeURIComponent(streamId))
}

/**
 * Reads the body of an answer.
 *
 * @throws TransmitterError `bad_response` when the parser refuses it.
 */
export function readAnswer<Value>(
  { json, status, request }: TransmitterResponse,
  parse: (body: unknown) => ParseResult<Value>,
): Value {
  const parsed = parse(json)
  if (parsed.ok) return parsed.value
  throw new TransmitterError('bad_response', describeAnswer(request, parsed.issues), { status })
}

function describeAnswer(request: string, issues: readonly ParseIssue[]): string {
  return `${request}: the answer is malformed: ${describeIssues(issues)}`
}

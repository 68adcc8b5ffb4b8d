/**
 * The guarded outbound client: every request to a URL that a user gave goes through it. It owns the checks of
 * target and headers, pinned connections, time and size limits, and the words for what went wrong. It follows
 * no redirects, reads no proxy settings, retries nothing and knows nothing of what it carries.
 */
import { systemConnector, type AddressConnector } from './guarded-connector.ts'
import type { OriginPools, OutboundTls, PoolLimits, PoolTarget } from './origin-pools.ts'
import { OutboundExchange, type BodyLimits, type OutboundTimeouts } from './outbound-exchange.ts'
import type { OutboundFailed, OutboundFailure, OutboundResult } from './outbound-result.ts'
import { findHeaderProblem } from './request-headers.ts'
import { systemResolver, type Resolver } from './resolver.ts'
import { maskResponse, sentSecretsMaskOf } from './sent-secrets.ts'
import { checkTargetUrl, hostOf, portOf, type TargetPolicy } from './target-policy.ts'
import { TlsIdentityError } from './tls-identity-error.ts'
import { createTrustContext, type TlsIdentity } from './trust.ts'

export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** Framing headers (`host`, `content-length`, `connection`, ...) are refused. */
  readonly headers?: Readonly<Record<string, string>>
  /** Names in lower case of headers whose values may be seen, beside `accept`, `content-type` and the like. */
  readonly openHeaders?: readonly string[]
  readonly body?: string | Buffer
  /** What the body says in confidence, and what else the receiver may know that nobody may read. */
  readonly secrets?: readonly string[]
  /**
   * The answer hands out credentials that the caller needs as they are: it is not masked, and what leaves the
   * caller passes through `createSentSecretsMask`.
   */
  readonly isAnswerConfidential?: boolean
  /** How much of the answer is kept, where it is not the client's default. */
  readonly bodyBytesMax?: number
  /** What is left out comes from the client's defaults. */
  readonly timeouts?: Partial<OutboundTimeouts>
  readonly signal?: AbortSignal
  /** Shown and trusted on connections that only requests with the same `key` share. */
  readonly tls?: OutboundTls | undefined
}

export interface GuardedClientLimits extends PoolLimits, BodyLimits {
  readonly dnsTimeoutMs: number
  /** For TCP and TLS together. */
  readonly connectTimeoutMs: number
}

export interface GuardedClientOptions {
  readonly policy: TargetPolicy
  readonly userAgent: string
  /** PEM bundle that is trusted beside the default roots. */
  readonly extraCa?: string | undefined
  readonly resolver?: Resolver
  readonly connector?: AddressConnector
  readonly limits?: Partial<GuardedClientLimits>
  readonly timeouts?: Partial<OutboundTimeouts>
}

export interface GuardedClient {
  /**
   * Never rejects: whatever the network does is a result. Sends at most once. An answer that repeats secrets
   * of the request (every header that is not open, and `secrets`) comes with them masked.
   */
  request(request: OutboundRequest): Promise<OutboundResult>
  /** Refuses new requests, lets those in flight end for at most `graceMs` (default 5,000), closes everything. */
  close(graceMs?: number): Promise<void>
}

interface CheckedTarget extends PoolTarget {
  readonly path: string
}

export const DEFAULT_LIMITS: GuardedClientLimits = {
  connectionsPerOriginMax: 16,
  originsMax: 512,
  keepAliveMs: 60_000,
  connectionAgeMaxMs: 300_000,
  responseHeaderBytesMax: 16_384,
  bodyBytesMax: 16_384,
  drainBytesMax: 65_536,
  dnsTimeoutMs: 5_000,
  connectTimeoutMs: 10_000,
}

export const DEFAULT_TIMEOUTS: OutboundTimeouts = {
  headersMs: 10_000,
  bodyMs: 10_000,
  totalMs: 30_000,
}

const CHECKED_TARGETS_MAX = 1_024
const CLOSE_GRACE_MS = 5_000

/** Creates the client; throws an `Error` with public words when `extraCa` cannot be read. */
export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts }
  const findTarget = createTargetCache(options.policy)
  const readHeaders = createHeadersReader(options.userAgent)
  const connector = {
    policy: options.policy,
    resolver: options.resolver ?? systemResolver,
    connector: options.connector ?? systemConnector,
    secureContextFor: (identity?: TlsIdentity) => createTrustContext(options.extraCa, identity),
    dnsTimeoutMs: limits.dnsTimeoutMs,
    connectTimeoutMs: limits.connectTimeoutMs,
  }
  if (options.extraCa !== undefined) connector.secureContextFor()
  let opening: Promise<OriginPools> | undefined
  let pools: OriginPools | undefined
  let isClosed = false

  /** The library of connections is loaded and the roots are read for the first request: a start needs neither. */
  async function openPools(): Promise<OriginPools> {
    const { OriginPools } = await import('./origin-pools.ts')
    pools = new OriginPools(connector, limits)
    return pools
  }

  function send(
    opened: OriginPools,
    request: OutboundRequest,
    target: CheckedTarget,
    headers: string[],
  ): Promise<OutboundResult> {
    return new Promise((resolve) => {
      const { method, body = null, signal } = request
      const pool = opened.poolFor(target, request.tls)
      const exchange = new OutboundExchange(
        { ...timeouts, ...request.timeouts },
        toBodyLimits(limits, request.bodyBytesMax),
        (result) => {
          unfollow?.()
          pool.release()
          resolve(masked(result, request))
        },
      )
      const unfollow = signal && follow(signal, exchange)
      pool.dispatch({ method, path: target.path, headers, body }, exchange)
    })
  }

  return {
    async request(request) {
      if (isClosed) return failed(CLOSED)
      const opened = pools ?? (await (opening ??= openPools()))
      if (request.signal?.aborted === true) return failed(ABORTED)
      const target = findTarget(request.url)
      if (typeof target === 'string') return failed(refused('target_refused', target))
      const { problem, list } = readHeaders(request.headers ?? NO_HEADERS)
      if (problem !== undefined) return failed(refused('request_invalid', problem))
      try {
        return await send(opened, request, target, list)
      } catch (error) {
        if (!(error instanceof TlsIdentityError)) throw error
        return failed(refused('request_invalid', error.message))
      }
    },
    async close(graceMs = CLOSE_GRACE_MS) {
      isClosed = true
      // Also those of a request that came before and waits for them.
      await (await opening)?.close(graceMs)
    },
  }
}

/** What ends with a signal: one listener for all of it, since many requests have the same one. */
interface Followers {
  readonly exchanges: Set<OutboundExchange>
  readonly abort: () => void
}

const followersBySignal = new WeakMap<AbortSignal, Followers>()

/** Fails an exchange when its signal is aborted, until the answer is called. */
function follow(signal: AbortSignal, exchange: OutboundExchange): () => void {
  const { exchanges, abort } = followersBySignal.get(signal) ?? listenTo(signal)
  exchanges.add(exchange)
  return () => {
    exchanges.delete(exchange)
    if (exchanges.size > 0) return
    signal.removeEventListener('abort', abort)
    followersBySignal.delete(signal)
  }
}

function listenTo(signal: AbortSignal): Followers {
  const exchanges = new Set<OutboundExchange>()
  const abort = (): void => exchanges.forEach((exchange) => exchange.fail(ABORTED))
  const followers = { exchanges, abort }
  followersBySignal.set(signal, followers)
  signal.addEventListener('abort', abort, { once: true })
  return followers
}

/** Whoever keeps more of an answer reads as much of it. */
function toBodyLimits(limits: BodyLimits, bodyBytesMax = limits.bodyBytesMax): BodyLimits {
  return { ...limits, bodyBytesMax, drainBytesMax: Math.max(limits.drainBytesMax, bodyBytesMax) }
}

/** Failures are told in words of our own; only answers repeat anything. */
function masked(result: OutboundResult, request: OutboundRequest): OutboundResult {
  if (result.kind === 'failed' || request.isAnswerConfidential === true) return result
  return maskResponse(result, sentSecretsMaskOf(request))
}

const ABORTED: OutboundFailure = {
  stage: 'aborted',
  code: 'aborted',
  message: 'The request was broken off',
  retryable: true,
}

const CLOSED: OutboundFailure = {
  stage: 'aborted',
  code: 'client_closed',
  message: 'The service is stopping',
  retryable: true,
}

function refused(code: 'target_refused' | 'request_invalid', message: string): OutboundFailure {
  return { stage: 'refused', code, message, retryable: false }
}

function failed(failure: OutboundFailure): OutboundFailed {
  const none = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null }
  const timings = { ...none, totalMs: 0, reusedConnection: false }
  return { kind: 'failed', ...failure, status: undefined, remoteAddress: undefined, timings }
}

/** The check of a URL is pure and endpoints repeat, so that its outcome is kept: a target, or why it is refused. */
function createTargetCache(policy: TargetPolicy): (url: string) => CheckedTarget | string {
  const checked = new Map<string, CheckedTarget | string>()
  return (url) => {
    const known = checked.get(url)
    if (known !== undefined) return known
    const check = checkTargetUrl(url, policy)
    const outcome = check.ok ? toTarget(check.url) : check.reason
    if (checked.size >= CHECKED_TARGETS_MAX) checked.clear()
    checked.set(url, outcome)
    return outcome
  }
}

function toTarget(url: URL): CheckedTarget {
  return {
    origin: url.origin,
    hostname: hostOf(url),
    port: portOf(url),
    isTls: url.protocol === 'https:',
    path: `${url.pathname}${url.search}`,
  }
}

/** Headers as they are sent, or what is wrong with them. */
interface ReadHeaders {
  readonly problem: string | undefined
  readonly list: string[]
}

const NO_HEADERS = {}

/**
 * What is sent again and again to one receiver has the same headers: they are read once, and cannot be changed from
 * then on, for what is secret of them is remembered as well.
 */
function createHeadersReader(userAgent: string) {
  const known = new WeakMap<Readonly<Record<string, string>>, ReadHeaders>()
  return (headers: Readonly<Record<string, string>>): ReadHeaders => {
    const before = known.get(headers)
    if (before !== undefined) return before
    const read = { problem: findHeaderProblem(headers), list: toHeaderList(headers, userAgent) }
    known.set(Object.freeze(headers), read)
    return read
  }
}

function toHeaderList(headers: Readonly<Record<string, string>>, userAgent: string): string[] {
  const list: string[] = []
  let hasUserAgent = false
  for (const name in headers) {
    hasUserAgent ||= name.toLowerCase() === 'user-agent'
    list.push(name, headers[name] ?? '')
  }
  if (!hasUserAgent) list.push('user-agent', userAgent)
  return list
}

/**
 * The HTTP side of simulated nodes: keep-alive pools per origin, shared by all nodes of a fleet. Requests that the
 * server may hold have a pool without a limit, for each takes a connection of its own, as osqueryd's do.
 * It knows nothing of osquery's messages beyond where they are sent.
 */
import { performance } from 'node:perf_hooks'
import { Pool } from 'undici'

const REQUEST_TIMEOUT_MS = 16_000
const REDIRECTS_MAX = 10
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024
const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** Bytes that were answered, or why nothing was. The status is for statistics only. */
type TransportResult =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  | { readonly kind: 'unreachable'; readonly reason: string }

/** One finished exchange, for statistics. `status` is 0 when nothing was answered. */
export interface RequestMeasurement {
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly requestBytes: number
  /** Whether the server may have held the answer back: then its duration says nothing of the server. */
  readonly mayBeHeld: boolean
}

export interface TransportOptions {
  /** Where the server is, for example `https://127.0.0.1:8443`. Plain HTTP is for loopback only. */
  readonly baseUrl: string
  /** PEM certificates that the server's certificate must chain to; the system's when absent. */
  readonly ca?: string | undefined
  /** Sockets per origin. */
  readonly connectionsMax?: number | undefined
  /** Milliseconds until a request is given up; osquery's 16 s by default. */
  readonly requestTimeoutMs?: number
  readonly onRequest?: ((measurement: RequestMeasurement) => void) | undefined
}

/** Something to post. */
interface TransportRequest {
  readonly path: string
  readonly body: string | Buffer
  readonly headers: Record<string, string>
  /** Whether the server may hold the answer back until there is something to say. */
  readonly mayBeHeld?: boolean
}

/** Posts bodies to the server's agent routes. */
export interface Transport {
  post(request: TransportRequest): Promise<TransportResult>
  close(): Promise<void>
}

function assertTransportSecurity(url: URL): void {
  if (url.protocol === 'https:') return
  if (url.protocol === 'http:' && LOOPBACK_HOSTS.has(url.hostname)) return
  throw new Error(`osquery refuses plain HTTP; use https:// instead of ${url.protocol}//`)
}

function joinPath(baseUrl: URL, path: string): URL {
  return new URL(`${baseUrl.pathname.replace(/\/$/, '')}${path}`, baseUrl)
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > RESPONSE_BYTES_MAX) throw new Error('the response is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Opens a transport. It follows up to ten redirects by repeating the request, speaks TLS 1.2 or
 * later, and never rejects: what goes wrong is part of the result.
 */
export function createTransport(options: TransportOptions): Transport {
  const baseUrl = new URL(options.baseUrl)
  assertTransportSecurity(baseUrl)
  const timeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS
  const pools = new Map<string, Pool>()

  function poolFor(origin: string, mayBeHeld: boolean): Pool {
    const name = mayBeHeld ? `${origin} held` : origin
    let pool = pools.get(name)
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: mayBeHeld ? null : (options.connectionsMax ?? 64),
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        pipelining: 1,
        connect: {
          timeout: timeoutMs,
          minVersion: 'TLSv1.2',
          ...(options.ca === undefined ? {} : { ca: options.ca }),
        },
      })
      pools.set(name, pool)
    }
    return pool
  }

  async function send(
    url: URL,
    request: TransportRequest,
    redirectsLeft: number,
  ): Promise<{ status: number; text: string }> {
    assertTransportSecurity(url)
    const { body, headers, mayBeHeld = false } = request
    const response = await poolFor(url.origin, mayBeHeld).request({
      method: 'POST',
      path: url.pathname + url.search,
      headers,
      body,
    })
    const text = await readText(response.body as AsyncIterable<Buffer>)
    const location = response.headers['location']
    if (response.statusCode < 300 || response.statusCode > 399 || typeof location !== 'string') {
      return { status: response.statusCode, text }
    }
    if (redirectsLeft === 0) throw new Error('too many redirects')
    return send(new URL(location, url), request, redirectsLeft - 1)
  }

  return {
    async post(request) {
      const { body, mayBeHeld = false, path } = request
      const startMs = performance.now()
      let status = 0
      try {
        const answer = await send(joinPath(baseUrl, path), request, REDIRECTS_MAX)
        status = answer.status
        return { kind: 'answered', ...answer }
      } catch (error) {
        return { kind: 'unreachable', reason: error instanceof Error ? error.message : 'failed' }
      } finally {
        const requestBytes = Buffer.byteLength(body)
        const durationMs = performance.now() - startMs
        options.onRequest?.({ path, status, durationMs, requestBytes, mayBeHeld })
      }
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
      pools.clear()
    },
  }
}

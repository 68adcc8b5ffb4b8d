/**
 * The HTTP side of simulated nodes: one keep-alive pool per origin, shared by all nodes of a fleet.
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
}

export interface TransportOptions {
  /** Where the server is, for example `https://127.0.0.1:8443`. Plain HTTP is for loopback only. */
  readonly baseUrl: string
  /** PEM certificates that the server's certificate must chain to; the system's when absent. */
  readonly ca?: string | undefined
  /** Sockets per origin. */
  readonly connectionsMax?: number
  /** Milliseconds until a request is given up; osquery's 16 s by default. */
  readonly requestTimeoutMs?: number
  readonly onRequest?: ((measurement: RequestMeasurement) => void) | undefined
}

/** Posts bodies to the server's agent routes. */
export interface Transport {
  post(
    path: string,
    body: string | Buffer,
    headers: Record<string, string>,
  ): Promise<TransportResult>
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

  function poolFor(origin: string): Pool {
    let pool = pools.get(origin)
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: options.connectionsMax ?? 64,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        pipelining: 1,
        connect: {
          timeout: timeoutMs,
          minVersion: 'TLSv1.2',
          ...(options.ca === undefined ? {} : { ca: options.ca }),
        },
      })
      pools.set(origin, pool)
    }
    return pool
  }

  async function send(
    url: URL,
    body: string | Buffer,
    headers: Record<string, string>,
    redirectsLeft: number,
  ): Promise<{ status: number; text: string }> {
    assertTransportSecurity(url)
    const response = await poolFor(url.origin).request({
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
    return send(new URL(location, url), body, headers, redirectsLeft - 1)
  }

  return {
    async post(path, body, headers) {
      const startMs = performance.now()
      let status = 0
      try {
        const answer = await send(joinPath(baseUrl, path), body, headers, REDIRECTS_MAX)
        status = answer.status
        return { kind: 'answered', ...answer }
      } catch (error) {
        return { kind: 'unreachable', reason: error instanceof Error ? error.message : 'failed' }
      } finally {
        const requestBytes = Buffer.byteLength(body)
        options.onRequest?.({ path, status, durationMs: performance.now() - startMs, requestBytes })
      }
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
      pools.clear()
    },
  }
}

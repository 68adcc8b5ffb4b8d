/*
 * Stands between devices and a service and remembers which check results were acknowledged: what the
 * devices were promised, whatever becomes of the service.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { setTimeout as sleep } from 'node:timers/promises'

const REQUEST_TIMEOUT_MS = 60_000
const HELD_POLL_MS = 10

interface Answer {
  readonly status: number
  readonly text: string
}

/** Passes requests on until it is told to hold them. */
export class RecordingProxy {
  /** When the last acknowledged write of a check was sent: by node key, then by the check's id. */
  readonly acknowledged = new Map<string, Map<string, number>>()
  readonly #serviceUrl: string
  readonly #server: Server
  readonly #underWay = new Set<Promise<unknown>>()
  #isHeld = false
  #onAcknowledged: () => void = () => undefined
  url = ''

  constructor(serviceUrl: string) {
    this.#serviceUrl = serviceUrl
    this.#server = createServer((request, response) => void this.#handle(request, response))
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    this.url = `http://127.0.0.1:${port}`
  }

  /** Resolves the moment that the next write is acknowledged. */
  nextAcknowledgement(): Promise<void> {
    return new Promise((resolve) => (this.#onAcknowledged = resolve))
  }

  /** Passes nothing more on; resolves when what is under way was answered or has failed. */
  async hold(): Promise<void> {
    this.#isHeld = true
    await Promise.allSettled(this.#underWay)
  }

  release(): void {
    this.#isHeld = false
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    while (this.#isHeld) await sleep(HELD_POLL_MS)
    const passing = this.#pass(request, body).catch(() => undefined)
    this.#underWay.add(passing)
    const answer = await passing
    this.#underWay.delete(passing)
    if (answer === undefined) {
      // As it would be without a proxy: the connection breaks.
      response.destroy()
      return
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text)
  }

  async #pass(request: IncomingMessage, body: Buffer): Promise<Answer> {
    const path = request.url ?? '/'
    const sentAtMs = Date.now()
    const reply = await fetch(`${this.#serviceUrl}${path}`, {
      method: request.method ?? 'POST',
      headers: pickHeaders(request),
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
    const text = await reply.text()
    if (path.endsWith('/distributed/write') && reply.ok && !('error' in toObject(text))) {
      this.#remember(
        request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body,
        sentAtMs,
      )
    }
    return { status: reply.status, text }
  }

  #remember(body: Buffer, sentAtMs: number): void {
    const { node_key: nodeKey, queries } = toObject(body.toString())
    if (typeof nodeKey !== 'string') return
    const results = this.acknowledged.get(nodeKey) ?? new Map<string, number>()
    this.acknowledged.set(nodeKey, results)
    for (const queryId of Object.keys(queries ?? {})) {
      const checkId = /^check:(\d+):/.exec(queryId)?.[1]
      if (checkId !== undefined) results.set(checkId, sentAtMs)
    }
    this.#onAcknowledged()
  }
}

function pickHeaders({ headers }: IncomingMessage): Record<string, string> {
  const names = ['content-type', 'content-encoding', 'authorization', 'user-agent'] as const
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  )
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function toObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

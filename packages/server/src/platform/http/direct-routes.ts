/*
 * Requests that are answered before the router sees them: small ones that come so often that the steps which every
 * request passes would cost more than their answer. A direct route answers what is usual; everything else, refusals
 * included, it leaves to the route of the same path, which finds the body read. Owns which requests may be direct: none
 * that says anything about itself that only the router looks at.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** Answers the usual requests of a path; named in the `config` of its route as `direct`. */
export interface DirectRoute {
  /**
   * Answers the JSON text for a body. Undefined leaves the request to the route, and so does what is thrown at once;
   * what a promise rejects with is thrown where the route reads the body.
   */
  answer(body: Buffer, sender: DirectSender): string | Promise<string | undefined> | undefined
}

/** Who sent a request. */
export interface DirectSender {
  /** As the router says it (`request.ip`); undefined when the connection has ended. */
  readonly address: string | undefined
  /** Closes when nobody waits for the answer any more. */
  readonly response: ServerResponse
}

/** Of a larger body the route decides. */
const BODY_BYTES_MAX = 1_024

interface DirectRoutesOptions {
  /** The headers of an answer of so many bytes: names and values in turn. */
  readonly toHeaders: (contentLength: number) => string[]
  /** Where a request comes from, as the router says it; undefined when its connection has ended. */
  readonly addressOf: (request: IncomingMessage) => string | undefined
}

/** Hears of an answer when its last byte has gone, as the router does; of one that nobody waited for, nothing. */
type AnswerObserver = (path: string, elapsedMs: number) => void

export class DirectRoutes {
  readonly #options: DirectRoutesOptions
  readonly #routes = new Map<string, DirectRoute>()
  #observer: AnswerObserver | undefined
  #isClosed = false

  constructor(options: DirectRoutesOptions) {
    this.#options = options
  }

  add(path: string, config: unknown): void {
    const direct = (config as { readonly direct?: DirectRoute } | undefined)?.direct
    if (direct !== undefined) this.#routes.set(path, direct)
  }

  observe(observer: AnswerObserver): void {
    this.#observer = observer
  }

  /** From now on every request goes to the router, which closes the connections of a server that ends. */
  close(): void {
    this.#isClosed = true
  }

  /** A listener that answers what is direct and passes on the rest. */
  before(router: RequestListener): RequestListener {
    return (request, response) => {
      const route = this.#find(request)
      if (route === undefined) {
        router(request, response)
        return
      }
      const beginMs = this.#observer === undefined ? 0 : performance.now()
      let body: Buffer | undefined
      request.on('data', (chunk: Buffer) => {
        body = body === undefined ? chunk : Buffer.concat([body, chunk])
      })
      request.on('end', () =>
        this.#answer(route, body ?? EMPTY, { request, response, router, beginMs }),
      )
    }
  }

  #find(request: IncomingMessage): DirectRoute | undefined {
    if (this.#isClosed || request.method !== 'POST') return undefined
    const route = this.#routes.get(request.url ?? '')
    if (route === undefined || !isPlain(request.rawHeaders)) return undefined
    return route
  }

  #answer(route: DirectRoute, body: Buffer, exchange: Exchange): void {
    const { request, response } = exchange
    let answer: ReturnType<DirectRoute['answer']>
    try {
      answer = route.answer(body, { address: this.#options.addressOf(request), response })
    } catch {
      // The route finds the same, and knows how to say and to log it.
    }
    if (typeof answer === 'string') this.#send(exchange, answer)
    else if (answer === undefined) leave(exchange, body)
    else {
      answer.then(
        (text) => {
          if (text === undefined) leave(exchange, body)
          else this.#send(exchange, text)
        },
        (cause: unknown) => leave(exchange, new ReadAheadFailure(cause)),
      )
    }
  }

  #send({ request, response, beginMs }: Exchange, text: string): void {
    const observer = this.#observer
    if (observer !== undefined) {
      response.once('finish', () => observer(request.url ?? '', performance.now() - beginMs))
    }
    response.writeHead(200, this.#options.toHeaders(Buffer.byteLength(text)))
    response.end(text)
  }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly router: RequestListener
  /** When it arrived, if anybody observes that. */
  readonly beginMs: number
}

const EMPTY = Buffer.alloc(0)

class ReadAheadFailure {
  readonly cause: unknown

  constructor(cause: unknown) {
    this.cause = cause
  }
}

const readAhead = new WeakMap<IncomingMessage, Buffer | ReadAheadFailure>()

function leave({ request, response, router }: Exchange, left: Buffer | ReadAheadFailure): void {
  readAhead.set(request, left)
  router(request, response)
}

/**
 * The body of a request that a direct route left to its route; undefined when it has not been read.
 *
 * @throws what the direct route failed with
 */
export function findBodyReadAhead(request: IncomingMessage): Buffer | undefined {
  const left = readAhead.get(request)
  if (left instanceof ReadAheadFailure) throw left.cause
  return left
}

/** Whether a request has a small body as it is, and nothing that only the router reads. */
function isPlain(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  let bodyBytes = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (!READ_LENGTHS.has(name.length)) continue
    switch (name.toLowerCase()) {
      case 'host':
        hosts += 1
        break
      case 'content-length':
        bodyBytes = Number(rawHeaders[index + 1])
        break
      case 'authorization':
      case 'content-encoding':
      case 'transfer-encoding':
        return false
    }
  }
  return hosts === 1 && bodyBytes > 0 && bodyBytes <= BODY_BYTES_MAX
}

/** How long the names are that {@link isPlain} reads: of the others not even the case is looked at. */
const READ_LENGTHS: ReadonlySet<number> = new Set(
  ['host', 'content-length', 'authorization', 'content-encoding', 'transfer-encoding'].map(
    ({ length }) => length,
  ),
)

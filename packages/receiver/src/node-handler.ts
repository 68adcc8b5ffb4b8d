import { emitWarning } from 'node:process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PushHandler } from './push-handler.ts'

/** A handler for `http.createServer`, or for a route of a framework that has not read the body. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/** How long a sender may go on sending after its answer, before the connection is closed. */
const DRAIN_MS = 1_000

const BODY_WAS_READ =
  'the body of a push was read before toNodeHandler could: mount it before any body parser'

const ORIGIN = 'http://receiver.invalid'

/** Methods that a `Request` cannot have. */
const UNREPRESENTABLE_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

/**
 * Adapts a fetch-style handler to the HTTP server of Node.js. The body is streamed, so the handler's
 * own limit holds; a handler that rejects answers 500 with an empty body. Methods that no `Request`
 * can have are answered with 405. Where something else has read the body, the answer is 500, so that the
 * SET comes again. A warning of the process says once of each what was behind such a 500.
 */
export function toNodeHandler(handler: PushHandler): NodeHandler {
  const warned = new Set<string>()
  function warnOnce(kind: string, text: string): void {
    if (!warned.has(kind)) emitWarning(text)
    warned.add(kind)
  }
  return (incoming, outgoing) => {
    if (incoming.readableDidRead) {
      warnOnce('body', BODY_WAS_READ)
      outgoing.writeHead(500).end()
      return
    }
    handleNodeRequest(handler, incoming, outgoing).catch((error: unknown) => {
      if (!outgoing.headersSent) outgoing.writeHead(500)
      outgoing.end()
      warnOnce('handler', `a push could not be handled: ${toText(error)}`)
    })
  }
}

/** Some values cannot be made a text, such as an object without a prototype. */
function toText(error: unknown): string {
  try {
    return String(error)
  } catch {
    return 'what was thrown has no text'
  }
}

async function handleNodeRequest(
  handler: PushHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const response = UNREPRESENTABLE_METHODS.has(incoming.method ?? 'GET')
    ? new Response(null, { status: 405, headers: { allow: 'POST', 'cache-control': 'no-store' } })
    : await handler(toRequest(incoming))
  const body = new Uint8Array(await response.arrayBuffer())
  const headers: Record<string, string | number> = { 'content-length': body.byteLength }
  response.headers.forEach((value, name) => (headers[name] = value))
  if (!incoming.complete) {
    headers['connection'] = 'close'
    discardRest(incoming)
  }
  outgoing.writeHead(response.status, headers)
  outgoing.end(body)
}

/** Lets the sender read the answer before the connection goes, and does not wait for ever. */
function discardRest(incoming: IncomingMessage): void {
  incoming.resume()
  const timer = setTimeout(() => incoming.destroy(), DRAIN_MS)
  timer.unref()
  incoming.once('close', () => clearTimeout(timer))
}

function toRequest(incoming: IncomingMessage): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const entry of Array.isArray(value) ? value : [value ?? '']) headers.append(name, entry)
  }
  const method = incoming.method ?? 'GET'
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(new URL(toPath(incoming.url), ORIGIN), {
    method,
    headers,
    ...(hasBody ? { body: toStream(incoming), duplex: 'half' } : {}),
  })
}

/** Only the path matters to a handler; whatever cannot be one, or would name a host, is the root. */
function toPath(url = ''): string {
  return /^\/(?![/\\])/.test(url) && URL.canParse(url, ORIGIN) ? url : '/'
}

/** Leaves the connection alone when the reader stops early: the answer still has to go out. */
function toStream(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await chunks.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      await chunks.return?.()
    },
  })
}

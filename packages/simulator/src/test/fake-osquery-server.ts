/** A server with osquery's agent routes that answers what a test wants, however wrong. */
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { DEFAULT_PATHS } from '../osquery-client/node-options.ts'
import type { NodePaths } from '../osquery-client/node-options.ts'

type Route = keyof NodePaths

interface RecordedRequest {
  readonly route: Route
  readonly path: string
  readonly method: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
}

/** What to answer; `text` is sent as it is, `json` is serialised, `hangs` answers nothing. */
export interface Answer {
  readonly status?: number
  readonly text?: string
  readonly json?: unknown
  readonly headers?: Record<string, string>
  readonly hangs?: boolean
}

type Responder = (request: RecordedRequest) => Answer

export interface FakeOsqueryServer {
  readonly baseUrl: string
  readonly requests: readonly RecordedRequest[]
  readonly sockets: ReadonlySet<Socket>
  /** The requests of one route, oldest first. */
  to(route: Route): RecordedRequest[]
  /** Answers a route from now on. */
  respond(route: Route, responder: Responder | Answer): void
  /** Answers the next requests of a route one by one, then as before. */
  respondOnce(route: Route, ...answers: Answer[]): void
  readonly handle: RequestListener
  close(): Promise<void>
}

const ROUTES = new Map(Object.entries(DEFAULT_PATHS).map(([route, path]) => [path, route as Route]))

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
  return JSON.parse(text.toString('utf8')) as Record<string, unknown>
}

function send(response: ServerResponse, answer: Answer): void {
  if (answer.hangs === true) return
  response.writeHead(answer.status ?? 200, answer.headers)
  response.end(answer.text ?? JSON.stringify(answer.json ?? {}))
}

/** Starts the server on a free port of the loopback interface. Enrollment gives keys `key-1`, `key-2`… */
export async function startFakeOsqueryServer(): Promise<FakeOsqueryServer> {
  const requests: RecordedRequest[] = []
  const sockets = new Set<Socket>()
  let enrollments = 0
  const responders: Record<Route, Responder> = {
    enroll: () => ({ json: { node_key: `key-${++enrollments}` } }),
    config: () => ({ json: { schedule: {} } }),
    log: () => ({ json: {} }),
    distributedRead: () => ({ json: { queries: {} } }),
    distributedWrite: () => ({ json: {} }),
  }
  const once = new Map<Route, Answer[]>()

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const route = ROUTES.get(path) ?? 'config'
    const recorded = {
      route,
      path,
      method: request.method ?? '',
      headers: request.headers,
      body: await readBody(request),
    }
    requests.push(recorded)
    send(response, once.get(route)?.shift() ?? responders[route](recorded))
  }

  const handle: RequestListener = (request, response) => void answer(request, response)
  const server: Server = createServer(handle)
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    sockets,
    to: (route) => requests.filter((request) => request.route === route),
    respond(route, responder) {
      responders[route] = typeof responder === 'function' ? responder : () => responder
    },
    respondOnce: (route, ...answers) => once.set(route, answers),
    handle,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

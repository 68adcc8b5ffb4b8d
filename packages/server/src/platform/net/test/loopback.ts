/** Receivers on loopback and clients that reach nothing else; for the tests of the guarded client. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import {
  createGuardedClient,
  type GuardedClient,
  type GuardedClientOptions,
  type OutboundRequest,
} from '../guarded-client.ts'
import type { AddressConnector } from '../guarded-connector.ts'
import type { OutboundFailed, OutboundResponse } from '../outbound-result.ts'
import { parseAllowedTargets, type TargetPolicy } from '../target-policy.ts'

export const PUBLIC_ADDRESS = '8.8.8.8'
const cleanups: (() => Promise<unknown>)[] = []

/** Ends what the last test started, newest first. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

/** A loopback port at which nothing listens. */
export async function unusedPort(): Promise<number> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

export function policyOf(text: string): TargetPolicy {
  const allowed = parseAllowedTargets(text)
  if (!allowed.ok) throw new Error(allowed.reason)
  return allowed.policy
}

export function clientWith(options: Partial<GuardedClientOptions> = {}): GuardedClient {
  const client = createGuardedClient({
    policy: policyOf('127.0.0.1'),
    userAgent: 'Heliograph/test',
    resolver: () => Promise.reject(new Error('unexpected look-up')),
    ...options,
  })
  cleanups.push(() => client.close(0))
  return client
}

export async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve)
        if ('closeAllConnections' in server) server.closeAllConnections()
      }),
  )
  return (server.address() as AddressInfo).port
}

export const serve = (handler: RequestListener): Promise<number> => listen(createServer(handler))

/** A receiver on bare TCP, for answers that no HTTP library would give. */
export async function serveRaw(handler: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    handler(socket)
  })
  const port = await listen(server)
  cleanups.push(async () => sockets.forEach((socket) => socket.destroy()))
  return port
}

export async function failed(
  client: GuardedClient,
  request: OutboundRequest,
): Promise<OutboundFailed> {
  const result = await client.request(request)
  if (result.kind !== 'failed') throw new Error(`expected a failure, got status ${result.status}`)
  return result
}

export async function answered(
  client: GuardedClient,
  request: OutboundRequest,
): Promise<OutboundResponse> {
  const result = await client.request(request)
  if (result.kind !== 'response') throw new Error(`expected an answer, got: ${result.message}`)
  return result
}

export const get = (url: string): OutboundRequest => ({ url, method: 'GET' })
export const post = (port: number, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url: `http://127.0.0.1:${port}/hook?a=1`,
  method: 'POST',
  body: '{"a":1}',
  ...more,
})

/** Records where connections go, and sends all of them to a loopback port instead. */
export function spyConnector(port: number): { connector: AddressConnector; endpoints: string[] } {
  const endpoints: string[] = []
  const connector: AddressConnector = (endpoint) => {
    endpoints.push(`${endpoint.host} ${endpoint.port} ${endpoint.family}`)
    return connect({ host: '127.0.0.1', port })
  }
  return { connector, endpoints }
}

export const forbiddenConnector: AddressConnector = () => {
  throw new Error('nothing may be connected to')
}

/** A connection is free again one turn of the event loop after its answer. */
export const connectionIsFree = (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, 5))

export async function readBody(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

/*
 * The servers on the ports of the live proof. Owns how many connections they take and for how long; which of them
 * count is decided by who is asked for each request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { SECOND_MS } from '../../platform/clock.ts'
import type { TlsMaterial } from '../../platform/tls/tls-material.ts'
import type { SeenConnection } from './judge-sockets.ts'
import { ProbePlaces } from './probe-places.ts'
import { normaliseAddress } from './socket-question.ts'

/** What a port is for. */
export interface ProbeHandler {
  /** Answers a request. */
  readonly answer: (
    request: IncomingMessage,
    response: ServerResponse,
    opened: OpenedConnection,
  ) => void
  /** A connection is there that has brought no request for a while; it may be told of again. */
  readonly noteIdle: (opened: OpenedConnection) => void
  /** A connection has ended that brought no request. */
  readonly noteEnded: (opened: OpenedConnection) => void
}

/** A connection to a port: one object for as long as it is there. */
export interface OpenedConnection {
  readonly seen: SeenConnection
  /** On the steady clock of the process. */
  readonly openedMs: number
}

/** Where to listen, and with what. */
export interface ProbeListenerOptions {
  readonly host: string
  readonly ports: readonly number[]
  /** Undefined for plain HTTP. */
  readonly tls: TlsMaterial | undefined
}

export interface ProbeListeners {
  /** @throws the error of a port that is taken */
  readonly listen: () => Promise<void>
  /** Presents another certificate from now on. */
  readonly setTls: (material: TlsMaterial) => void
  /** Connections to a port that were there before its lease, and bring no request, are noted too. */
  readonly noteEarlier: (port: number) => void
  readonly close: () => Promise<void>
}

/** After how long a connection is told of that brings no request: browsers send it as soon as they are connected. */
export const IDLE_NOTED_MS = 400
const IDLE_CLOSED_MS = 3 * SECOND_MS
const HEADER_BYTES_MAX = 16_384

/** Makes the servers; they do not listen yet. */
export function createProbeListeners(
  { host, ports, tls }: ProbeListenerOptions,
  handler: ProbeHandler,
): ProbeListeners {
  const connections = new ProbeConnections(handler)
  const createOne = () => createProbeServer(tls, connections, handler)
  const servers = new Map(ports.map((port) => [port, createOne()]))
  return {
    listen: async () => {
      for (const [port, server] of servers) await listen(server, host, port)
    },
    setTls: (material) => {
      for (const server of servers.values()) {
        if ('setSecureContext' in server) (server as SecureServer).setSecureContext(material)
      }
    },
    noteEarlier: (port) => connections.noteAt(port),
    close: async () => {
      connections.closeAll()
      await Promise.all([...servers.values()].map(close))
    },
  }
}

interface SecureServer extends Server {
  setSecureContext(material: TlsMaterial): void
}

function createProbeServer(
  tls: TlsMaterial | undefined,
  connections: ProbeConnections,
  handler: ProbeHandler,
): Server {
  const limits = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: IDLE_CLOSED_MS,
    requestTimeout: IDLE_CLOSED_MS,
    connectionsCheckingInterval: SECOND_MS,
  }
  const server =
    tls === undefined
      ? createServer(limits)
      : createSecureServer({
          ...limits,
          ...tls,
          handshakeTimeout: IDLE_CLOSED_MS,
          minVersion: 'TLSv1.2',
        })
  server.maxRequestsPerSocket = 1
  server.on('connection', (socket: Socket) => connections.add(socket))
  server.on('clientError', (_error, socket) => socket.destroy())
  server.on('request', (request, response) => {
    const opened = connections.takeRequest(request.socket)
    if (opened === undefined) response.destroy()
    else handler.answer(request, response, opened)
  })
  return server
}

interface OpenConnection extends OpenedConnection {
  readonly socket: Socket
  /** Run until a request comes. */
  readonly timers: Set<NodeJS.Timeout>
  hasRequest: boolean
  isEnded: boolean
}

/** The connections to all ports. */
class ProbeConnections {
  readonly #handler: ProbeHandler
  readonly #open = new Map<string, OpenConnection>()
  /** At all ports of a process. */
  readonly #places = new ProbePlaces()
  #isClosed = false

  constructor(handler: ProbeHandler) {
    this.#handler = handler
  }

  /** Takes a connection, or closes it when there are too many. */
  add(socket: Socket): void {
    socket.on('error', () => socket.destroy())
    const seen = toSeen(socket)
    const openedMs = performance.now()
    const leave = seen && this.#places.take(seen.clientAddress)
    if (seen === undefined || leave === undefined) {
      socket.destroy()
      if (seen !== undefined) this.#handler.noteEnded({ seen, openedMs })
      return
    }
    const key = toKey(seen)
    const timers = new Set([setTimeout(() => socket.destroy(), IDLE_CLOSED_MS)])
    const open = { socket, seen, openedMs, timers, hasRequest: false, isEnded: false }
    this.#noteLater(open)
    this.#open.set(key, open)
    socket.once('close', () => {
      leave()
      this.#remove(key, open)
    })
  }

  /** The connection that a request came on. */
  takeRequest(socket: Socket): OpenedConnection | undefined {
    const seen = toSeen(socket)
    const open = seen && this.#open.get(toKey(seen))
    if (open === undefined) return undefined
    open.hasRequest = true
    for (const timer of open.timers) clearTimeout(timer)
    return open
  }

  noteAt(port: number): void {
    for (const open of this.#open.values()) {
      if (open.seen.port === port && !open.hasRequest) this.#noteLater(open)
    }
  }

  /** A request that came while this process was too busy to read it is read first; not one behind a TLS handshake. */
  #noteLater(open: OpenConnection): void {
    const note = () => {
      if (!open.hasRequest && !open.isEnded) this.#handler.noteIdle(open)
    }
    open.timers.add(setTimeout(() => setImmediate(note), IDLE_NOTED_MS))
  }

  closeAll(): void {
    this.#isClosed = true
    for (const { socket } of this.#open.values()) socket.destroy()
  }

  #remove(key: string, open: OpenConnection): void {
    const { timers, hasRequest } = open
    open.isEnded = true
    for (const timer of timers) clearTimeout(timer)
    this.#open.delete(key)
    // What is no request, such as that of another protocol, ends at once, and the device shows it until then.
    if (!hasRequest && !this.#isClosed) this.#handler.noteEnded(open)
  }
}

function toSeen(socket: Socket): SeenConnection | undefined {
  const { localPort, localAddress, remoteAddress, remotePort } = socket
  if (localPort === undefined || remotePort === undefined) return undefined
  if (localAddress === undefined || isIP(remoteAddress ?? '') === 0) return undefined
  return {
    port: localPort,
    clientAddress: normaliseAddress(remoteAddress ?? ''),
    clientPort: remotePort,
    serviceAddress: normaliseAddress(localAddress),
  }
}

function toKey({ port, clientAddress, clientPort, serviceAddress }: SeenConnection): string {
  return `${clientAddress} ${clientPort} ${serviceAddress} ${port}`
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

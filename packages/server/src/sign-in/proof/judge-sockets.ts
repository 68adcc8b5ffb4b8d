/*
 * Whether the connections that a device reports are those of the browser that signs in. Pure: what the service saw
 * and what the device answered go in, a verdict with its evidence comes out.
 */
import { findBrowser, isNamedProgram, type ProofPlatform } from './browser-programs.ts'
import type { DeviceSocket, SocketAnswer } from './socket-question.ts'

/** A request of the browser as the service saw it. */
export interface SeenConnection {
  readonly port: number
  /** Where it came from: the device itself, or what translates its addresses. */
  readonly clientAddress: string
  readonly clientPort: number
  /** The address of the service that it came to. */
  readonly serviceAddress: string
}

/** What the answer of a device is judged by. */
export interface ProofFacts {
  readonly platform: ProofPlatform
  /** One for each port of the proof. */
  readonly connections: readonly SeenConnection[]
  /** Addresses of the service, beside those that connections came to. */
  readonly serviceAddresses: readonly string[]
  /** How long before the answer the first of the connections was there, in seconds. */
  readonly firstSeenSecondsAgo: number
  readonly trustedLocalProxies: readonly { readonly name: string; readonly path: string }[]
}

/** The program that holds the connections. */
export interface ProvenBrowser {
  readonly verdict: 'proven'
  /** Its name, or the one that an admin gave a trusted local proxy. */
  readonly browser: string
  readonly isLocalProxy: boolean
  readonly pid: string
  readonly path: string
  readonly uid: string
  readonly userName: string
  /** By port of the proof. */
  readonly localPorts: Readonly<Record<string, number>>
  /** The service saw the very ports of the device: nothing between them translates addresses. */
  readonly isPortAgreed: boolean
}

/** Why a device is not the one. */
export type Mismatch =
  | 'no_connections'
  | 'other_address'
  | 'other_port'
  | 'several_processes'
  | 'not_a_browser'
  | 'started_later'

/** What the answer of a device means. */
export type SocketVerdict =
  | ProvenBrowser
  | { readonly verdict: 'no_match'; readonly reason: Mismatch; readonly path: string | null }

/** Clocks of processes are read in whole seconds, on Linux from the time of the start of the machine. */
const AGE_TOLERANCE_SECONDS = 3

/** Judges what a device answered. Every condition must hold; the first that does not is the reason. */
export function judgeSockets(answer: SocketAnswer, facts: ProofFacts): SocketVerdict {
  const { connections } = facts
  const ours = answer.sockets.filter(({ remotePort }) =>
    connections.some(({ port }) => port === remotePort),
  )
  if (ours.length === 0) return mismatch('no_connections')
  const addresses = new Set([
    ...facts.serviceAddresses,
    ...answer.serviceAddresses,
    ...connections.map(({ serviceAddress }) => serviceAddress),
  ])
  const toService = ours.filter(({ remoteAddress }) => addresses.has(remoteAddress))
  if (toService.length === 0) return mismatch('other_address', ours[0])
  const agreeing = toService.filter((socket) =>
    connections.some((connection) => canBe(socket, connection)),
  )
  if (agreeing.length === 0) return mismatch('other_port', toService[0])
  const held = findWholeSet(agreeing, connections)
  if (held === undefined) return mismatch('several_processes', agreeing[0])
  return judgeProgram(held, facts)
}

/** The connections of one tree of processes that holds all of them; undefined when none does. */
function findWholeSet(
  sockets: readonly DeviceSocket[],
  connections: readonly SeenConnection[],
): readonly HeldConnection[] | undefined {
  for (const root of new Set(sockets.map(({ rootPid }) => rootPid))) {
    const held = connections.flatMap((connection) => {
      const socket = sockets.find((each) => each.rootPid === root && canBe(each, connection))
      return socket === undefined ? [] : [{ socket, connection }]
    })
    if (held.length === connections.length) return held
  }
  return undefined
}

interface HeldConnection {
  readonly socket: DeviceSocket
  readonly connection: SeenConnection
}

/** Where both see the same address nothing translates it, so that the ports must be the same too. */
function canBe(socket: DeviceSocket, connection: SeenConnection): boolean {
  if (socket.remotePort !== connection.port) return false
  if (socket.localAddress !== connection.clientAddress) return true
  return socket.localPort === connection.clientPort
}

function judgeProgram(held: readonly HeldConnection[], facts: ProofFacts): SocketVerdict {
  const [first] = held
  if (first === undefined) return mismatch('no_connections')
  const { program, pid, uid, userName } = first.socket
  const isOneProgram = held.every(
    ({ socket }) => socket.program.path === program.path && socket.uid === uid,
  )
  if (!isOneProgram) return mismatch('several_processes', first.socket)
  const { platform, trustedLocalProxies, firstSeenSecondsAgo } = facts
  const browser = findBrowser(platform, program)
  const isLocalProxy =
    browser === undefined && isNamedProgram(platform, program, trustedLocalProxies)
  if (browser === undefined && !isLocalProxy) return mismatch('not_a_browser', first.socket)
  const isOlder = held.every(
    ({ socket: { ageSeconds } }) =>
      ageSeconds !== undefined && ageSeconds + AGE_TOLERANCE_SECONDS >= firstSeenSecondsAgo,
  )
  if (!isOlder) return mismatch('started_later', first.socket)
  const nameOfProxy = trustedLocalProxies.find(
    ({ path }) => path.toLowerCase() === program.path.toLowerCase(),
  )?.name
  return {
    verdict: 'proven',
    browser: browser ?? nameOfProxy ?? program.path,
    isLocalProxy,
    pid,
    path: program.path,
    uid,
    userName,
    localPorts: Object.fromEntries(
      held.map(({ socket }) => [String(socket.remotePort), socket.localPort]),
    ),
    isPortAgreed: held.every(
      ({ socket, connection }) => socket.localAddress === connection.clientAddress,
    ),
  }
}

function mismatch(reason: Mismatch, socket?: DeviceSocket): SocketVerdict {
  return { verdict: 'no_match', reason, path: socket?.program.path ?? null }
}

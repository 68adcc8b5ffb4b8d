/**
 * Opens the connections of the guarded client: resolves the name once, judges every answer, connects to
 * exactly a judged address, and speaks TLS for the name. Knows nothing of HTTP.
 */
import { connect as netConnect, isIP, type Socket } from 'node:net'
import { connect as tlsConnect, type SecureContext, type TLSSocket } from 'node:tls'
import { classifyAddress } from './address-ranges.ts'
import { ConnectionError, type ConnectionTimings } from './connection-error.ts'
import {
  describeConnectError,
  describeDnsError,
  describeTlsError,
  type CertificateDates,
} from './describe-failure.ts'
import type { FailureCode, FailureStage } from './outbound-result.ts'
import type { Resolver } from './resolver.ts'
import type { TargetPolicy } from './target-policy.ts'

/** Opens a TCP connection to an IP address; it must not look anything up. Tests put a spy here. */
export type AddressConnector = (endpoint: { host: string; port: number; family: 4 | 6 }) => Socket

/** Connects through `node:net`. */
export const systemConnector: AddressConnector = (endpoint) => netConnect(endpoint)

export interface ConnectorSettings {
  readonly policy: TargetPolicy
  readonly resolver: Resolver
  readonly connector: AddressConnector
  readonly secureContext: SecureContext
  readonly dnsTimeoutMs: number
  /** For TCP and TLS together, over all addresses. */
  readonly connectTimeoutMs: number
}

export interface ConnectionTarget {
  /** A name, or an IP address without brackets. */
  readonly hostname: string
  readonly port: number
  readonly isTls: boolean
}

/** What one connection was opened to, filled in while it is opened. */
export interface ConnectionRecord extends ConnectionTimings {
  remoteAddress: string | undefined
}

const KEEP_ALIVE_PROBE_MS = 30_000

/**
 * Answers a connected socket, TLS verified. Rejects with `ConnectionError` only. Every address that the name
 * resolves to must be public or allow-listed, else nothing is connected; addresses are tried in turn, IPv6 and
 * IPv4 alternating (RFC 8305 section 4).
 */
export async function openConnection(
  settings: ConnectorSettings,
  target: ConnectionTarget,
  record: ConnectionRecord,
): Promise<Socket | TLSSocket> {
  const started = performance.now()
  const addresses = await resolveTarget(settings, target)
  if (isIP(target.hostname) === 0) record.dnsMs = performance.now() - started
  refuseForbiddenAddresses(settings.policy, target, addresses)

  const deadline = performance.now() + settings.connectTimeoutMs
  const tcpStarted = performance.now()
  const socket = await connectToAny(settings, target, interleaveFamilies(addresses), {
    deadline,
    record,
  })
  record.connectMs = performance.now() - tcpStarted
  socket.setNoDelay(true)
  socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS)
  if (!target.isTls) return socket

  const tlsStarted = performance.now()
  const secured = await secure(socket, target.hostname, settings.secureContext, deadline)
  record.tlsMs = performance.now() - tlsStarted
  return secured
}

async function resolveTarget(
  { resolver, dnsTimeoutMs }: ConnectorSettings,
  { hostname }: ConnectionTarget,
): Promise<readonly string[]> {
  if (isIP(hostname) !== 0) return [hostname]
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(
        fail(
          'dns',
          'dns_timeout',
          `The name ${hostname} was not resolved within ${inSeconds(dnsTimeoutMs)}`,
        ),
      )
    }, dnsTimeoutMs)
  })
  try {
    const addresses = await Promise.race([resolver(hostname), timeout])
    if (addresses.length === 0)
      throw fail('dns', 'name_not_found', `The name ${hostname} has no address`)
    return addresses
  } catch (error) {
    throw error instanceof ConnectionError
      ? error
      : new ConnectionError(describeDnsError(error, hostname), error)
  } finally {
    clearTimeout(timer)
  }
}

function refuseForbiddenAddresses(
  policy: TargetPolicy,
  { hostname, port }: ConnectionTarget,
  addresses: readonly string[],
): void {
  for (const address of addresses) {
    const kind = classifyAddress(address)
    const isAllowed =
      kind === 'public' ||
      (kind !== 'malformed' &&
        (policy.isHostAllowed(hostname, port) || policy.isAddressAllowed(address, port)))
    if (isAllowed) continue
    const owner = address === hostname ? '' : ` of ${hostname}`
    throw fail(
      'refused',
      'address_not_public',
      `The address ${address}${owner} is ${kind} and not allow-listed`,
    )
  }
}

/** Alternates the families, beginning with the family of the first address. */
function interleaveFamilies(addresses: readonly string[]): string[] {
  const firstFamily = isIP(addresses[0] ?? '')
  const first = addresses.filter((address) => isIP(address) === firstFamily)
  const second = addresses.filter((address) => isIP(address) !== firstFamily)
  return first
    .flatMap((address, index) => [address, ...second.slice(index, index + 1)])
    .concat(second.slice(first.length))
}

async function connectToAny(
  { connector, connectTimeoutMs }: ConnectorSettings,
  { port }: ConnectionTarget,
  addresses: readonly string[],
  attempt: { readonly deadline: number; readonly record: ConnectionRecord },
): Promise<Socket> {
  let lastError: unknown
  for (const [index, address] of addresses.entries()) {
    const remainingMs = attempt.deadline - performance.now()
    if (remainingMs <= 0) break
    attempt.record.remoteAddress = address
    const endpoint = {
      host: address,
      port,
      family: isIP(address) === 6 ? (6 as const) : (4 as const),
    }
    try {
      return await waitForSocket(
        connector(endpoint),
        'connect',
        remainingMs / (addresses.length - index),
      )
    } catch (error) {
      lastError = error
    }
  }
  const endpoint = `${attempt.record.remoteAddress ?? ''} port ${port}`
  if (lastError instanceof SocketTimeout) {
    throw fail(
      'connect',
      'connect_timeout',
      `${endpoint} did not accept a connection within ${inSeconds(connectTimeoutMs)}`,
    )
  }
  throw new ConnectionError(describeConnectError(lastError, endpoint), lastError)
}

async function secure(
  socket: Socket,
  hostname: string,
  secureContext: SecureContext,
  deadline: number,
): Promise<TLSSocket> {
  const secured = tlsConnect({
    socket,
    host: hostname,
    servername: isIP(hostname) === 0 ? hostname : '',
    secureContext,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  })
  let dates: CertificateDates | undefined
  // `secure` fires before the verification destroys the socket, when the certificate can still be read.
  secured.prependOnceListener('secure', () => {
    const certificate = secured.getPeerCertificate()
    dates = { validFrom: certificate.valid_from, validTo: certificate.valid_to }
  })
  try {
    return await waitForSocket(secured, 'secureConnect', Math.max(deadline - performance.now(), 1))
  } catch (error) {
    if (error instanceof SocketTimeout) {
      throw fail('tls', 'connect_timeout', `${hostname} did not finish the TLS handshake in time`)
    }
    throw new ConnectionError(describeTlsError(error, hostname, dates), error)
  }
}

class SocketTimeout extends Error {}

/** Answers the socket when `event` fires; destroys it and rejects on an error, an early end or a timeout. */
function waitForSocket<T extends Socket>(
  socket: T,
  event: 'connect' | 'secureConnect',
  timeoutMs: number,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = (error: Error): void => {
      clearTimeout(timer)
      socket.destroy()
      reject(error)
    }
    const closed = (): void => abandon(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    const timer = setTimeout(() => abandon(new SocketTimeout()), timeoutMs)
    // Stays attached: between this and the HTTP client's own listener an error would otherwise end the process.
    socket.on('error', abandon)
    socket.once('close', closed)
    socket.once(event, () => {
      clearTimeout(timer)
      socket.off('close', closed)
      resolve(socket)
    })
  })
}

function fail(stage: FailureStage, code: FailureCode, message: string): ConnectionError {
  return new ConnectionError({ stage, code, message, retryable: true })
}

function inSeconds(ms: number): string {
  return `${ms / 1_000} s`
}

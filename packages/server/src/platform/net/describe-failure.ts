/** Turns what Node and undici report into failures with a stable code and words that a person understands. */
import { errorCodeOf } from '../error-code-of.ts'
import { ConnectionError } from './connection-error.ts'
import type { FailureCode, FailureStage, OutboundFailure } from './outbound-result.ts'

/** What is known of the receiver's certificate when its verification fails. */
export interface CertificateDates {
  readonly validFrom: string
  readonly validTo: string
}

/** A failed look-up of `hostname`. */
export function describeDnsError(error: unknown, hostname: string): OutboundFailure {
  const code = errorCodeOf(error)
  return code === 'ENOTFOUND' || code === 'ENODATA'
    ? transient('dns', 'name_not_found', `The name ${hostname} has no address`)
    : transient('dns', 'dns_failed', `The name ${hostname} could not be looked up (${named(code)})`)
}

const CONNECT_MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'reset the connection',
  EHOSTUNREACH: 'cannot be reached: no route to the host',
  ENETUNREACH: 'cannot be reached: no route to its network',
  EADDRNOTAVAIL: 'cannot be reached: no local address or port is free',
  EACCES: 'cannot be reached: a local rule forbids the connection',
  EPERM: 'cannot be reached: a local rule forbids the connection',
  EMFILE: 'cannot be reached: the service has too many open files',
}

/** A TCP connection to `endpoint` (address and port) that failed. */
export function describeConnectError(error: unknown, endpoint: string): OutboundFailure {
  const code = errorCodeOf(error)
  return transient(
    'connect',
    code === 'ECONNREFUSED' ? 'connection_refused' : 'connection_failed',
    `${endpoint} ${CONNECT_MESSAGES[code] ?? `could not be connected to (${code})`}`,
  )
}

/** A TLS handshake with `hostname` that failed; the dates complete the words about a certificate out of time. */
export function describeTlsError(
  error: unknown,
  hostname: string,
  dates: CertificateDates | undefined,
): OutboundFailure {
  const code = errorCodeOf(error)
  const at = (date: string | undefined): string => (date === undefined ? '' : ` on ${date}`)
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return tlsFailure('certificate_expired', `The certificate expired${at(dates?.validTo)}`)
    case 'CERT_NOT_YET_VALID':
      return tlsFailure(
        'certificate_not_yet_valid',
        `The certificate becomes valid only${at(dates?.validFrom)}`,
      )
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return tlsFailure('certificate_name_mismatch', `The certificate is not for ${hostname}`)
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return tlsFailure(
        'certificate_self_signed',
        'The certificate is signed by itself or by an authority that is not trusted',
      )
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'CERT_UNTRUSTED':
      return tlsFailure(
        'certificate_untrusted',
        'The certificate comes from an authority that is not trusted, or an intermediate certificate is missing',
      )
    default:
      return describeHandshakeError(code, hostname)
  }
}

function describeHandshakeError(code: string, hostname: string): OutboundFailure {
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return tlsFailure('tls_failed', `${hostname} closed the connection during the TLS handshake`)
  }
  return tlsFailure('tls_failed', `The TLS handshake with ${hostname} failed (${named(code)})`)
}

/** A fault of an exchange on an open connection; `hasStatus` is true once the status and headers were read. */
export function describeExchangeError(error: unknown, hasStatus: boolean): OutboundFailure {
  if (error instanceof ConnectionError) return error.failure
  const stage = hasStatus ? 'body' : 'headers'
  const moment = hasStatus ? 'before its answer was complete' : 'before it answered'
  if (isParserError(error)) {
    return transient(stage, 'response_invalid', 'The answer is not valid HTTP')
  }
  const code = errorCodeOf(error)
  switch (code) {
    case 'UND_ERR_SOCKET':
      return transient(stage, 'connection_closed', `The receiver closed the connection ${moment}`)
    case 'ECONNRESET':
      return transient(stage, 'connection_reset', `The receiver reset the connection ${moment}`)
    case 'EPIPE':
      return transient(
        'send',
        'connection_closed',
        'The receiver closed the connection while the request was sent',
      )
    case 'UND_ERR_HEADERS_OVERFLOW':
      return transient(stage, 'headers_too_large', 'The headers of the answer are too large')
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return transient(stage, 'response_invalid', 'The answer is shorter or longer than it says')
    case 'UND_ERR_INVALID_ARG':
      return {
        ...transient('refused', 'request_invalid', 'The request cannot be sent as it is'),
        retryable: false,
      }
    case 'UND_ERR_CLOSED':
    case 'UND_ERR_DESTROYED':
      return transient('aborted', 'client_closed', 'The service is stopping')
    default:
      return /^ERR_(SSL|TLS)/.test(code)
        ? tlsFailure('tls_failed', `The receiver ended the TLS connection ${moment} (${code})`)
        : transient(stage, 'connection_closed', `The connection broke ${moment} (${named(code)})`)
  }
}

/** By its name: the library is loaded for the first request alone. */
function isParserError(error: unknown): boolean {
  return error instanceof Error && error.name === 'HTTPParserError'
}

function tlsFailure(code: FailureCode, message: string): OutboundFailure {
  return transient('tls', code, message)
}

/** A failure of the kind that the next attempt may not meet. */
function transient(stage: FailureStage, code: FailureCode, message: string): OutboundFailure {
  return { stage, code, message, retryable: true }
}

function named(code: string): string {
  return code === '' ? 'unknown fault' : code
}

/** What became of one outbound request. Shared by the guarded client and those who record deliveries. */
import type { IncomingHttpHeaders } from 'undici/types/header.js'

/**
 * Milliseconds per stage; `null` when the stage was not reached or, for the first three, when a connection
 * was reused. `firstByteMs` counts from the moment the request was written to the status line and headers.
 */
export interface OutboundTimings {
  readonly dnsMs: number | null
  readonly connectMs: number | null
  readonly tlsMs: number | null
  readonly firstByteMs: number | null
  readonly totalMs: number
  readonly reusedConnection: boolean
}

/**
 * Where a request failed. `refused`: nothing was looked up or sent, or the address was not allowed;
 * `authorization`: what it needs to be let in could not be had, and it was not sent.
 */
export type FailureStage =
  'refused' | 'authorization' | 'dns' | 'connect' | 'tls' | 'send' | 'headers' | 'body' | 'aborted'

/** The stable word for a failure, for metrics and for those who filter deliveries. */
export type FailureCode =
  | 'target_refused'
  | 'request_invalid'
  | 'authorization_failed'
  | 'address_not_public'
  | 'name_not_found'
  | 'dns_failed'
  | 'dns_timeout'
  | 'connection_refused'
  | 'connection_failed'
  | 'connect_timeout'
  | 'certificate_expired'
  | 'certificate_not_yet_valid'
  | 'certificate_self_signed'
  | 'certificate_untrusted'
  | 'certificate_name_mismatch'
  | 'tls_failed'
  | 'connection_closed'
  | 'connection_reset'
  | 'response_invalid'
  | 'headers_too_large'
  | 'headers_timeout'
  | 'body_timeout'
  | 'deadline_exceeded'
  | 'aborted'
  | 'client_closed'

/** One failure in words that a person understands; `message` is public. */
export interface OutboundFailure {
  readonly stage: FailureStage
  readonly code: FailureCode
  readonly message: string
  /** False when the same request can never succeed while URL, headers and settings stay as they are. */
  readonly retryable: boolean
}

export interface OutboundResponse {
  readonly kind: 'response'
  readonly status: number
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** The first bytes of the body, as sent: at most `bodyBytesMax` of the client's limits. */
  readonly body: Buffer
  readonly bodyTruncated: boolean
  /** The address that was checked and connected to. */
  readonly remoteAddress: string
  readonly timings: OutboundTimings
}

export interface OutboundFailed extends OutboundFailure {
  readonly kind: 'failed'
  /** The status, when the receiver sent its headers and the body then failed. */
  readonly status: number | undefined
  readonly remoteAddress: string | undefined
  readonly timings: OutboundTimings
}

export type OutboundResult = OutboundResponse | OutboundFailed

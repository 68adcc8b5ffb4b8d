import type { SetErrorCode } from '@heliograph/ssf'

/**
 * A SET that is refused; `err` and the message are what the transmitter is told. Throw it from
 * `onEvent` to refuse a SET for a reason of your own, such as an unexpected verification `state`
 * (`invalid_state`). RFC 8935 section 2.4.
 */
export class SetVerificationError extends Error {
  override readonly name = 'SetVerificationError'
  readonly err: SetErrorCode

  /** @param description Sent to the transmitter; must hold nothing secret. */
  constructor(err: SetErrorCode, description: string, options?: ErrorOptions) {
    super(description, options)
    this.err = err
  }
}

/**
 * The transmitter's keys cannot be had at the moment. It says nothing about the SET: push answers
 * 503 and poll leaves the SET unacknowledged, so that it comes again.
 */
export class KeysUnavailableError extends Error {
  override readonly name = 'KeysUnavailableError'
}

/**
 * A commit of a compliance store did not count, because another process has changed the store meanwhile; the store
 * knows by then what that has written. A `ComplianceStore` of your own throws it where several processes change it.
 */
export class StoreChangedError extends Error {
  override readonly name = 'StoreChangedError'
}

/**
 * What went wrong with a request to the transmitter:
 *
 * - `network`: there was no answer, and not because of time;
 * - `timeout`: no answer in time;
 * - `aborted`: the caller's signal ended the request;
 * - `unauthorized`: 401, the credential is missing, wrong or expired;
 * - `forbidden`: 403, the credential does not allow it;
 * - `not_found`: 404, there is no such stream, or it is another receiver's;
 * - `conflict`: 409, for example no second stream is allowed;
 * - `rate_limited`: 429, see `retryAfterMs`;
 * - `refused`: another 4xx, the request is wrong;
 * - `unavailable`: 5xx, the transmitter cannot answer now;
 * - `bad_response`: an answer that the specification does not allow.
 */
export type TransmitterErrorCode =
  | 'network'
  | 'timeout'
  | 'aborted'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'rate_limited'
  | 'refused'
  | 'unavailable'
  | 'bad_response'

/** What is known of a failed request. */
export interface TransmitterErrorDetails {
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
  readonly error?: string | undefined
  readonly description?: string | undefined
  readonly body?: string | undefined
  readonly cause?: unknown
}

/** A request to the transmitter, or to its authorization server, that failed. */
export class TransmitterError extends Error {
  override readonly name = 'TransmitterError'
  readonly code: TransmitterErrorCode
  /** The HTTP status, when there was an answer. */
  readonly status: number | undefined
  /** How long the transmitter asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** The error word of the answer, such as `insufficient_scope`; as the transmitter sent it. */
  readonly error: string | undefined
  /** What the answer says to people, at most 1024 characters; as the transmitter sent it. */
  readonly description: string | undefined
  /** The beginning of the answer's body as text, at most 4096 bytes; as the transmitter sent it. */
  readonly body: string | undefined

  constructor(code: TransmitterErrorCode, message: string, details: TransmitterErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
    this.error = details.error
    this.description = details.description
    this.body = details.body
  }
}

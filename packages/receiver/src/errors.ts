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

/** What went wrong with a request to the transmitter. */
export type TransmitterErrorCode =
  | 'network'
  | 'timeout'
  | 'unauthorized'
  | 'rate_limited'
  | 'refused'
  | 'unavailable'
  | 'bad_response'

/** A request to the transmitter that failed. */
export class TransmitterError extends Error {
  override readonly name = 'TransmitterError'
  readonly code: TransmitterErrorCode
  /** The HTTP status, when there was an answer. */
  readonly status: number | undefined
  /** How long the transmitter asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: TransmitterErrorCode,
    message: string,
    details: { status?: number; retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
  }
}

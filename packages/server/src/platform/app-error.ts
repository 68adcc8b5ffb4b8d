import type { ErrorCode } from './error-codes.ts'

/** What kind of refusal an error is; each surface maps the kind to its own status once. */
export type ErrorKind =
  | 'malformed'
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'gone'
  | 'conflict'
  | 'too_large'
  | 'rate_limited'
  | 'unavailable'

/** One invalid place of the input: `path` in dotted form (`ssf_stream.aud`), `message` says what is allowed. */
export interface ErrorDetail {
  readonly path: string
  readonly message: string
}

export interface AppErrorOptions {
  readonly details?: readonly ErrorDetail[]
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
}

/**
 * An expected refusal. `message` is public: it reaches the client as it is; `cause` never leaves the
 * log. Everything that is thrown and is not an `AppError` is a bug and answers 500 without a text.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly kind: ErrorKind
  readonly details: readonly ErrorDetail[] | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(kind: ErrorKind, code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.kind = kind
    this.code = code
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** The refusal for a record that does not exist. */
export function notFound(what: string, id: string): AppError {
  return new AppError('not_found', 'not_found', `There is no ${what} ${id}.`)
}

/** The refusal of a cursor. */
export function invalidCursor(reason: string): AppError {
  return new AppError(
    'malformed',
    'invalid_cursor',
    `${reason} Start from the first page, or send the cursor that the answer before gave.`,
  )
}

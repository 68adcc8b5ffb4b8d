import { KIND_OF_CODE, type ErrorKind, type RefusalCode } from './error-codes.ts'

/**
 * One invalid place of the input: `path` in dotted form (`ssf_stream.aud`), `message` says what is allowed; a refusal
 * makes a sentence of it.
 */
export interface ErrorDetail {
  readonly path: string
  readonly message: string
}

export interface AppErrorOptions {
  readonly details?: readonly ErrorDetail[]
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
  /** What the `WWW-Authenticate` header says of the credential that was sent; RFC 6750 section 3.1. */
  readonly bearerError?: 'invalid_token' | 'insufficient_scope'
  /** Where a specification takes the refusal for another kind than its code does. */
  readonly kind?: ErrorKind
}

/**
 * An expected refusal. `message` is public: it reaches the client as it is; `cause` never leaves the
 * log. Everything that is thrown and is not an `AppError` is a bug and answers 500 without a text.
 */
export class AppError extends Error {
  readonly code: RefusalCode
  readonly kind: ErrorKind
  readonly details: readonly ErrorDetail[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly bearerError: AppErrorOptions['bearerError']

  constructor(code: RefusalCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.kind = options.kind ?? KIND_OF_CODE[code]
    this.code = code
    this.details = options.details?.map(({ path, message }) => ({
      path,
      message: toSentence(message),
    }))
    this.retryAfterSeconds = options.retryAfterSeconds
    this.bearerError = options.bearerError
  }
}

/** The refusal for a record that does not exist. */
export function notFound(what: string, id: string): AppError {
  return new AppError('not_found', `There is no ${what} ${id}.`)
}

/** The refusal of what the present state of things does not allow. */
export function conflict(message: string): AppError {
  return new AppError('conflict', message)
}

/** What a check says of a value, such as `must be a string`, as a sentence. */
export function toSentence(message: string): string {
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}`
  return text.endsWith('.') ? text : `${text}.`
}

/** The refusal of a body for these places of it; its text names the first `namedMax`, a sentence for each. */
export function invalidBody(details: readonly ErrorDetail[], namedMax = details.length): AppError {
  const summary = details
    .slice(0, namedMax)
    .map(({ path, message }) => `${path === '' ? '' : `${path}: `}${toSentence(message)}`)
    .join(' ')
  return new AppError('invalid_body', `The body is not valid. ${summary}`, { details })
}

/** The refusal of a cursor. */
export function invalidCursor(reason: string): AppError {
  return new AppError(
    'invalid_cursor',
    `${reason} Start from the first page, or send the cursor that the answer before gave.`,
  )
}

import { isConnectionFailure } from '@heliograph/embedded-postgres'
import { AppError } from '../app-error.ts'
import { errorCodeOf } from '../error-code-of.ts'

const RETRY_AFTER_SECONDS = 2
const BUSY_RETRY_AFTER_SECONDS = 10

/**
 * The refusal to answer with when `error` says that the database cannot be used at the moment, for
 * example while it restarts; undefined for every other error, which is then a bug or its own refusal.
 */
export function toUnavailable(error: unknown): AppError | undefined {
  if (!isConnectionFailure(error)) return undefined
  const message = isBusyPool(error)
    ? 'The service is busy: no connection to the database became free in time.'
    : 'The database cannot be reached at the moment.'
  return new AppError('unavailable', message, {
    retryAfterSeconds: isBusyPool(error) ? BUSY_RETRY_AFTER_SECONDS : RETRY_AFTER_SECONDS,
    cause: error,
  })
}

/** The pool tells by its text alone that all its connections stayed in use; a server that is away has another. */
function isBusyPool(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

/**
 * Whether the server let the role of DATABASE_URL not in: a wrong password or no entry in `pg_hba.conf`
 * (28), no such database (3D), or no privilege (42501). Only an operator can mend it.
 */
export function isAccessRefusal(error: unknown): error is Error {
  const code = errorCodeOf(error)
  return error instanceof Error && (/^(28|3D)[0-9A-Z]{3}$/.test(code) || code === '42501')
}

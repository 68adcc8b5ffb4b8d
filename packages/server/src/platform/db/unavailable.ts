import { isConnectionFailure } from '@heliograph/embedded-postgres'
import { AppError } from '../app-error.ts'
import { errorCodeOf } from '../error-code-of.ts'

const RETRY_AFTER_SECONDS = 2

/**
 * The refusal to answer with when `error` says that the database cannot be used at the moment, for
 * example while it restarts; undefined for every other error, which is then a bug or its own refusal.
 */
export function toUnavailable(error: unknown): AppError | undefined {
  if (!isConnectionFailure(error)) return undefined
  return new AppError('unavailable', 'The database cannot be reached at the moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: error,
  })
}

/**
 * Whether the server let the role of DATABASE_URL not in: a wrong password or no entry in `pg_hba.conf`
 * (28), no such database (3D), or no privilege (42501). Only an operator can mend it.
 */
export function isAccessRefusal(error: unknown): error is Error {
  const code = errorCodeOf(error)
  return error instanceof Error && (/^(28|3D)[0-9A-Z]{3}$/.test(code) || code === '42501')
}

import { AppError } from '../app-error.ts'
import { errorCodeOf } from '../error-code-of.ts'
import { findDatabaseFault, isLoginRefusal, isRefusedByStorage } from './database-fault.ts'

/**
 * The refusal to answer with when `error` says that the database cannot be used at the moment, for
 * example while it restarts; undefined for every other error, which is then a bug or its own refusal.
 */
export function toUnavailable(error: unknown): AppError | undefined {
  const fault = findDatabaseFault(error)
  if (fault === undefined) return undefined
  const { message, retryAfterSeconds } = fault
  return new AppError('unavailable', message, { retryAfterSeconds, cause: error })
}

/**
 * Whether the server let the role of DATABASE_URL not in, or gives it no privilege (42501). Only an operator can mend
 * it.
 */
export function isAccessRefusal(error: unknown): error is Error {
  if (!(error instanceof Error) || isRefusedByStorage(error)) return false
  return isLoginRefusal(error) || errorCodeOf(error) === '42501'
}

import { AppError } from '../app-error.ts'
import { errorCodeOf } from '../error-code-of.ts'
import { findDatabaseFault, isRefusedByStorage } from './database-fault.ts'

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

/** What node-postgres says where a password is missing, or a server does not know it. */
const SCRAM_FAILURE = /^SASL: /

/**
 * Whether the server let the role of DATABASE_URL not in: a wrong password, none, or no entry in `pg_hba.conf`
 * (28), no such database (3D), or no privilege (42501). Only an operator can mend it.
 */
export function isAccessRefusal(error: unknown): error is Error {
  const code = errorCodeOf(error)
  if (!(error instanceof Error) || isRefusedByStorage(error)) return false
  if (code === '') return SCRAM_FAILURE.test(error.message)
  return /^(28|3D)[0-9A-Z]{3}$/.test(code) || code === '42501'
}

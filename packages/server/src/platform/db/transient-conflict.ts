import { errorCodeOf } from '../error-code-of.ts'
import { isForgottenStatement, isOutdatedStatement } from './prepared-statements.ts'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'

/** Whether PostgreSQL gave up a transaction that may succeed when it is run again from its start. */
export function isTransientConflict(error: unknown): boolean {
  const code = errorCodeOf(error)
  if (code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED) return true
  return isOutdatedStatement(error) || isForgottenStatement(error)
}

import { isOutdatedStatement } from './prepared-statements.ts'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'

/** Whether PostgreSQL gave up a transaction that may succeed when it is run again from its start. */
export function isTransientConflict(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false
  if (isOutdatedStatement(error)) return true
  return error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK_DETECTED
}

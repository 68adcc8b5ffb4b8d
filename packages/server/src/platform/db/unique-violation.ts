import { errorCodeOf } from '../error-code-of.ts'

const UNIQUE_VIOLATION = '23505'

/** Whether PostgreSQL refused a row because another has the same key; the transaction cannot go on. */
export function isUniqueViolation(error: unknown): boolean {
  return errorCodeOf(error) === UNIQUE_VIOLATION
}

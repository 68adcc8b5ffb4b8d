const UNIQUE_VIOLATION = '23505'

/** Whether PostgreSQL refused a row because another has the same key; the transaction cannot go on. */
export function isUniqueViolation(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === UNIQUE_VIOLATION
  )
}

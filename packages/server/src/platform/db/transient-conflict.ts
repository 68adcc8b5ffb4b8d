import { AppError } from '../app-error.ts'
import { errorCodeOf } from '../error-code-of.ts'
import { isForgottenStatement, isOutdatedStatement } from './prepared-statements.ts'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'

const RETRY_AFTER_SECONDS = 1

/** What a transaction had read is no longer so, and it cannot take up the rest without breaking the order of locks. */
export class ChangedMeanwhileError extends AppError {
  constructor() {
    const message = 'What this is about keeps changing; send this again later.'
    super('unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
  }
}

/** Whether a transaction was given up that may succeed when it is run again from its start. */
export function isTransientConflict(error: unknown): boolean {
  if (error instanceof ChangedMeanwhileError) return true
  const code = errorCodeOf(error)
  if (code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED) return true
  return isOutdatedStatement(error) || isForgottenStatement(error)
}

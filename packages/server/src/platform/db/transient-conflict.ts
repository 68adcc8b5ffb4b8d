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

const ATTEMPTS_MAX = 5

/** Runs `work`, which is a transaction, again from its start when it was given up for a conflict with another one. */
export async function repeatAfterConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !isTransientConflict(error)) throw error
    }
  }
}

/** Whether a transaction was given up that may succeed when it is run again from its start. */
export function isTransientConflict(error: unknown): boolean {
  if (error instanceof ChangedMeanwhileError) return true
  const code = errorCodeOf(error)
  if (code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED) return true
  return isOutdatedStatement(error) || isForgottenStatement(error)
}

import { AppError } from '../platform/app-error.ts'
import { findDatabaseFault } from '../platform/db/database-fault.ts'

/**
 * Runs `work` and tells failures of the system (a file that is not there, an address in use) as what
 * they are, without a stack.
 *
 * @throws AppError `unavailable` in the place of a system error
 */
export async function explainSystemErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error
    // Those of the database have words of their own.
    if (findDatabaseFault(error) !== undefined) throw error
    throw new AppError('unavailable', `${error.message}.`, { cause: error })
  }
}

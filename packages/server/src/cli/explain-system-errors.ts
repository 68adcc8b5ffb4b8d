import { AppError } from '../platform/app-error.ts'

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
    throw new AppError('unavailable', `${error.message}.`, { cause: error })
  }
}

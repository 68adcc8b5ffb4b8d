import { AppError } from '../app-error.ts'

/**
 * Begins to listen where settings say; `where` names them.
 *
 * @throws AppError `unavailable` naming the settings, for an address or port that cannot be listened on
 */
export async function explainListening<Result>(
  where: string,
  listen: () => Promise<Result>,
): Promise<Result> {
  try {
    return await listen()
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error
    const message = `${where} that the service cannot listen on: ${error.message}.`
    throw new AppError('unavailable', message, { cause: error })
  }
}

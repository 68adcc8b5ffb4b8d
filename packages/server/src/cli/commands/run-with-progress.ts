import { AppError } from '../../platform/app-error.ts'
import { createProgress, type CommandIo } from '../command-io.ts'
import { explainSystemErrors } from '../explain-system-errors.ts'

/** What long work tells, and by what it is told to stop. */
export interface ProgressTask {
  readonly onProgress: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Runs long work with a line of progress, until it is done or the command is stopped.
 *
 * @throws AppError `unavailable` for a command that was stopped, or a failure of the system
 */
export async function runWithProgress<Result>(
  io: CommandIo,
  work: (task: ProgressTask) => Promise<Result>,
): Promise<Result> {
  const progress = createProgress(io)
  try {
    return await explainSystemErrors(() =>
      work({ onProgress: (text) => progress.update(text), signal: io.signal }),
    )
  } catch (error) {
    if (!io.signal.aborted) throw error
    throw new AppError('unavailable', 'Stopped. Nothing was kept.', { cause: error })
  } finally {
    progress.end()
  }
}

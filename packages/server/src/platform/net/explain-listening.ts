import { AppError } from '../app-error.ts'

/** What a process listens on, as its settings say it. */
export const LISTENING = {
  service: 'HELIOGRAPH_HOST and HELIOGRAPH_PORT say an address',
  browsers: 'HELIOGRAPH_HOST and HELIOGRAPH_PROBE_PORTS say an address',
  metrics: 'HELIOGRAPH_ADMIN_PORT says a port',
} as const

/**
 * Begins to listen where settings say; `where` names them.
 *
 * @throws AppError `unavailable` naming the settings, for an address or port that cannot be listened on
 */
export async function explainListening<Result>(
  where: (typeof LISTENING)[keyof typeof LISTENING],
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

import { toTimerMs } from './request-limit.ts'

/** How long to pause after failures. */
export interface BackOffOptions {
  readonly backOffMs?: number
  readonly backOffMaxMs?: number
  readonly retryAfterMaxMs?: number
  readonly random?: () => number
}

/**
 * The pause after another failure, in milliseconds: doubling from the first to the longest, less up
 * to half of it by chance, and never shorter than the transmitter asked for.
 *
 * @param failures How many failures came before this one.
 */
export function nextDelayMs(options: BackOffOptions, failures: number, retryAfterMs = 0): number {
  const random = options.random ?? Math.random
  const longest = options.backOffMaxMs ?? 60_000
  const full = Math.min(longest, (options.backOffMs ?? 1_000) * 2 ** Math.min(failures, 30))
  const asked = Math.min(retryAfterMs, options.retryAfterMaxMs ?? 60 * 60_000)
  return Math.max(asked, full * (1 - random() / 2))
}

/**
 * Waits, if only until timers that are due have run; returns early, without an error, when the signal is aborted.
 */
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, toTimerMs(Math.max(0, delayMs)))
    signal.addEventListener('abort', wake)
  })
}

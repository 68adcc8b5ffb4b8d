import { TransmitterError } from './errors.ts'
import { toTimerMs } from './request-limit.ts'

/**
 * Waits for a promise that others wait for too: a signal, or a time in milliseconds, ends the
 * waiting, not the work.
 *
 * @throws TransmitterError `aborted` or `timeout`.
 * @throws TypeError when the time is none.
 */
export async function untilAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
  timeoutMs?: number,
): Promise<Value> {
  if (signal === undefined && timeoutMs === undefined) return promise
  return new Promise((resolve, reject) => {
    // First of all, so that it is heard also where the time is none.
    promise.then(resolve, reject)
    const timerMs = timeoutMs === undefined ? undefined : toTimerMs(timeoutMs)
    const abort = () => {
      const cause: unknown = signal?.reason
      reject(new TransmitterError('aborted', 'the request was aborted', { cause }))
    }
    const giveUp = () => {
      reject(new TransmitterError('timeout', `no answer within ${timeoutMs} ms`))
    }
    if (signal?.aborted === true) abort()
    signal?.addEventListener('abort', abort, { once: true })
    const timer = timerMs === undefined ? undefined : setTimeout(giveUp, timerMs)
    const release = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    promise.then(release, release)
  })
}

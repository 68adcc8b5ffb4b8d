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
  const timerMs = timeoutMs === undefined ? undefined : toTimerMs(timeoutMs)
  return new Promise((resolve, reject) => {
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
    void promise.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    })
  })
}

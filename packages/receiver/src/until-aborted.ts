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
    // First of all, so that a failure is heard also where the time is none.
    promise.then(resolve, reject)
    let timer: ReturnType<typeof setTimeout> | undefined
    const release = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    // The work may never end, and would keep the timer and the listener.
    const giveUp = (error: TransmitterError) => {
      release()
      reject(error)
    }
    const abort = () => {
      const cause: unknown = signal?.reason
      giveUp(new TransmitterError('aborted', 'the request was aborted', { cause }))
    }
    if (timeoutMs !== undefined) {
      const message = `no answer within ${timeoutMs} ms`
      timer = setTimeout(
        () => giveUp(new TransmitterError('timeout', message)),
        toTimerMs(timeoutMs),
      )
    }
    signal?.addEventListener('abort', abort)
    if (signal?.aborted === true) abort()
    promise.then(release, release)
  })
}

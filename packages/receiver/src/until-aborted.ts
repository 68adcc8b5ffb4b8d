import { TransmitterError } from './errors.ts'

/**
 * Waits for a promise that others wait for too: a signal ends the waiting, not the work.
 *
 * @throws TransmitterError `aborted`.
 */
export function untilAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const abort = () => {
      const cause: unknown = signal.reason
      reject(new TransmitterError('aborted', 'the request was aborted', { cause }))
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

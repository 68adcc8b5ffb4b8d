/** What ends a request: a time, or whoever sent it. */
export interface RequestLimit {
  /** Aborted by the time or by the caller's signal. */
  readonly signal: AbortSignal
  /** Whether the time has ended it. */
  hasTimedOut(): boolean
  /** Lets go of the time and of the caller's signal; to be called when the request is done. */
  release(): void
}

/** The longest time that a timer of the runtime takes, in milliseconds. */
const TIMER_MS_MAX = 2 ** 31 - 1

/**
 * What a timer of the runtime takes for a time: it takes one that it cannot hold for a millisecond.
 *
 * @throws TypeError when it is no time.
 */
export function toTimerMs(timeMs: number): number {
  if (timeMs >= 0) return Math.min(timeMs, TIMER_MS_MAX)
  throw new TypeError(`a time must be 0 milliseconds or more, or Infinity, and not ${timeMs}`)
}

/**
 * Begins to limit a request. The caller's signal may live as long as the process: `AbortSignal.any` would leave
 * something in it for every request.
 *
 * @throws TypeError when the time is none.
 */
export function limitRequest(timeoutMs: number, caller: AbortSignal | undefined): RequestLimit {
  const controller = new AbortController()
  let hasTimedOut = false
  const abort = () => controller.abort(caller?.reason)
  const timer = setTimeout(() => {
    hasTimedOut = true
    controller.abort(new DOMException('the time is over', 'TimeoutError'))
  }, toTimerMs(timeoutMs))
  if (caller?.aborted === true) abort()
  caller?.addEventListener('abort', abort)
  return {
    signal: controller.signal,
    hasTimedOut: () => hasTimedOut,
    release() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', abort)
    },
  }
}

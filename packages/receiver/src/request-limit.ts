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
 * Begins to limit a request. The caller's signal may live as long as the process: `AbortSignal.any` would leave
 * something in it for every request.
 */
export function limitRequest(timeoutMs: number, caller: AbortSignal | undefined): RequestLimit {
  const controller = new AbortController()
  let hasTimedOut = false
  const abort = () => controller.abort(caller?.reason)
  const timer = setTimeout(
    () => {
      hasTimedOut = true
      controller.abort(new DOMException('the time is over', 'TimeoutError'))
    },
    Math.min(timeoutMs, TIMER_MS_MAX),
  )
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

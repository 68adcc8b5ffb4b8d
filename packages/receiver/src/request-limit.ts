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

/** Something of one call that may end, at the latest when the caller's signal is aborted. */
export interface FollowedSignal {
  readonly controller: AbortController
  /** Lets go of the caller's signal; to be called when the call is done. */
  readonly release: () => void
}

/**
 * Follows the signal of a caller. It may live as long as the process: `AbortSignal.any` would leave something in it
 * for every call.
 */
export function followSignal(caller: AbortSignal | undefined): FollowedSignal {
  const controller = new AbortController()
  const abort = () => controller.abort(caller?.reason)
  if (caller?.aborted === true) abort()
  caller?.addEventListener('abort', abort)
  return { controller, release: () => caller?.removeEventListener('abort', abort) }
}

/**
 * Begins to limit a request.
 *
 * @throws TypeError when the time is none.
 */
export function limitRequest(timeoutMs: number, caller: AbortSignal | undefined): RequestLimit {
  const timerMs = toTimerMs(timeoutMs)
  const { controller, release } = followSignal(caller)
  let hasTimedOut = false
  const timer = setTimeout(() => {
    hasTimedOut = true
    controller.abort(new DOMException('the time is over', 'TimeoutError'))
  }, timerMs)
  return {
    signal: controller.signal,
    hasTimedOut: () => hasTimedOut,
    release() {
      clearTimeout(timer)
      release()
    },
  }
}

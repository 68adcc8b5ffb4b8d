import { VERIFICATION } from '@heliograph/ssf'
import { SetVerificationError, TransmitterError } from '../errors.ts'
import type { EventHandler } from '../event-intake.ts'
import { toTimerMs } from '../request-limit.ts'
import type { VerifiedSet } from '../verify-set.ts'

/** Tells those who asked for a verification event that it has come. */
export interface VerificationWaiter {
  /**
   * Wraps an event handler: use the result as `onEvent` of the push handler or the poll client. A
   * wait ends after the wrapped handler has returned.
   */
  watch(onEvent?: EventHandler): EventHandler
  /**
   * Waits for the verification event with this state.
   *
   * @throws TransmitterError `timeout` or `aborted`.
   */
  wait(
    state: string,
    limits: { readonly waitMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<VerifiedSet>
}

/**
 * Creates a waiter for the verification events of one process.
 *
 * @param options.refusesUnknownState Refuses verification events whose state nobody waits for, with
 *   `invalid_state`; for receivers where this process alone asks. Default false. SSF 1.0
 *   section 8.1.4.1.
 */
export function createVerificationWaiter(
  options: { readonly refusesUnknownState?: boolean } = {},
): VerificationWaiter {
  const waiting = new Map<string, (set: VerifiedSet) => void>()
  return {
    watch: (onEvent) => async (set) => {
      const state = stateOf(set)
      const arrive = state === undefined ? undefined : waiting.get(state)
      if (state !== undefined && arrive === undefined && options.refusesUnknownState === true) {
        throw new SetVerificationError('invalid_state', 'nobody asked for this state')
      }
      await onEvent?.(set)
      arrive?.(set)
    },
    wait(state, { waitMs, signal }) {
      return new Promise((resolve, reject) => {
        const end = (finish: () => void) => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', abort)
          waiting.delete(state)
          finish()
        }
        const abort = () => {
          const cause: unknown = signal?.reason
          end(() => reject(new TransmitterError('aborted', 'the wait was aborted', { cause })))
        }
        const timer = setTimeout(() => {
          const message = `no verification event within ${waitMs} ms`
          end(() => reject(new TransmitterError('timeout', message)))
        }, toTimerMs(waitMs))
        waiting.set(state, (set) => end(() => resolve(set)))
        signal?.addEventListener('abort', abort)
        if (signal?.aborted === true) abort()
      })
    },
  }
}

function stateOf({ event }: VerifiedSet): string | undefined {
  return event.isKnown && event.type === VERIFICATION ? event.payload.state : undefined
}

// What happens to one token, whichever way it came: verified, checked against the SETs already
// handled, given to the application, and only then remembered as handled.
import { KeysUnavailableError, SetVerificationError } from './errors.ts'
import { toSeenKey, type JtiStore } from './jti-store.ts'
import type { SetVerifier, VerifiedSet } from './verify-set.ts'

/**
 * The application's part; a promise is waited for without a limit, so bound what it waits for itself; what it answers
 * is ignored. When it returns, the SET counts as handled; when it throws, the SET comes again, unless it throws a
 * SetVerificationError, which refuses the SET for good.
 */
export type EventHandler = (set: VerifiedSet) => unknown

/** What an intake works with. */
export interface EventIntakeOptions {
  readonly verifier: SetVerifier
  readonly onEvent: EventHandler
  /** Keeps SETs from being handled twice. Without it every repeat reaches `onEvent`. */
  readonly seen?: JtiStore | undefined
}

/** What became of a token. */
export type IntakeOutcome =
  | { readonly kind: 'handled'; readonly set: VerifiedSet }
  | { readonly kind: 'duplicate'; readonly set: VerifiedSet }
  | { readonly kind: 'refused'; readonly error: SetVerificationError }
  | { readonly kind: 'keys_unavailable'; readonly error: KeysUnavailableError }
  | { readonly kind: 'handler_failed'; readonly error: unknown }

/** Takes in tokens; never rejects. */
export type EventIntake = (token: string) => Promise<IntakeOutcome>

/** Creates an intake. Two copies of one SET at the same time are handled once. */
export function createEventIntake({ verifier, onEvent, seen }: EventIntakeOptions): EventIntake {
  const inProgress = new Map<string, Promise<IntakeOutcome>>()

  async function handle(set: VerifiedSet): Promise<IntakeOutcome> {
    try {
      if ((await seen?.isSeen(set.jti, set.iss)) === true) return { kind: 'duplicate', set }
      await onEvent(set)
      await seen?.markSeen(set.jti, set.iss)
      return { kind: 'handled', set }
    } catch (error) {
      return toOutcome(error)
    }
  }

  return async (token) => {
    let set: VerifiedSet
    try {
      set = await verifier.verify(token)
    } catch (error) {
      return toOutcome(error)
    }
    if (seen === undefined) return handle(set)
    const key = toSeenKey(set.jti, set.iss)
    const earlier = inProgress.get(key)
    if (earlier !== undefined) return earlier
    const outcome = handle(set).finally(() => inProgress.delete(key))
    inProgress.set(key, outcome)
    return outcome
  }
}

function toOutcome(error: unknown): IntakeOutcome {
  if (error instanceof SetVerificationError) return { kind: 'refused', error }
  if (error instanceof KeysUnavailableError) return { kind: 'keys_unavailable', error }
  return { kind: 'handler_failed', error }
}

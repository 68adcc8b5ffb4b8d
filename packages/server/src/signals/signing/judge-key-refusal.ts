import { DAY_MS } from '../../platform/clock.ts'
import { findPreviousKey, type SigningKeyLife } from './signing-key.ts'

/**
 * Whether a receiver's error is about the key that signed the SET: `invalid_key`, or
 * `authentication_failed` with words about a key or signature. RFC 8935 section 2.4.
 */
export function isKeyRefusal(errorCode: string, words: string): boolean {
  if (errorCode === 'invalid_key') return true
  return (
    errorCode === 'authentication_failed' &&
    /\b(?:keys?|kid|jwks?|signatures?|signed)\b/i.test(words)
  )
}

/** What becomes of a SET whose receiver refused the key that signed it. */
export type KeyRefusal =
  /** The receiver will not change its mind. */
  | { readonly kind: 'final' }
  /** The receiver may learn the key with its next fetch of the published ones. */
  | { readonly kind: 'later' }
  /** Another key signs it, at once; with `isRollback` the stream goes back to that key. */
  | { readonly kind: 'resign'; readonly kid: string; readonly isRollback: boolean }

export interface RefusedKey {
  readonly keys: readonly SigningKeyLife[]
  /** The key that was refused. */
  readonly kid: string
  readonly now: Date
  /** The key that signs for the stream now. */
  readonly activeKid: string
  /** Whether the stream has gone back to an earlier key already. */
  readonly isRolledBack: boolean
  /** When the receiver first took a SET that the key signed. */
  readonly firstAcceptedAt: Date | undefined
}

/** Not every node of a receiver fetches the published keys at the same time. */
const PROOF_SETTLES_MS = DAY_MS
/** For so long after its publication a receiver with an old copy of the key set may not know a key. */
const UNKNOWN_MAX_MS = DAY_MS

/**
 * Judges a refused key. A key that the stream does not use any more gives way to the one that it uses. A
 * new key gives way to the one before, unless the receiver has used the new one for a day. After a
 * revocation there is none before, and the receiver is given the time to learn. Each SET is signed
 * again twice at most: a stream that has gone back does not go further.
 */
export function judgeKeyRefusal(refused: RefusedKey): KeyRefusal {
  const { keys, kid, now, activeKid, isRolledBack, firstAcceptedAt } = refused
  if (kid !== activeKid) return { kind: 'resign', kid: activeKid, isRollback: false }
  const isProven =
    firstAcceptedAt !== undefined && now.getTime() - firstAcceptedAt.getTime() > PROOF_SETTLES_MS
  if (isRolledBack || isProven) return { kind: 'final' }
  const previous = findPreviousKey(keys, kid, now)
  if (previous !== undefined) return { kind: 'resign', kid: previous.kid, isRollback: true }
  const createdAt = keys.find((key) => key.kid === kid)?.createdAt ?? now
  const isYoung = now.getTime() - createdAt.getTime() < UNKNOWN_MAX_MS
  return isYoung ? { kind: 'later' } : { kind: 'final' }
}

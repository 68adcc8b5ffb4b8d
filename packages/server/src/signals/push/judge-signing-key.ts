import type { SentDelivery, Verdict } from '../dispatch/delivery-channel.ts'
import type { OutboundResult } from '../../platform/net/outbound-result.ts'
import { isKeyRefusal } from '../signing/is-key-refusal.ts'
import type { KeyRing } from '../signing/key-ring.ts'
import type { RefusedKeys } from '../signing/refused-keys.ts'
import { kidOfToken } from '../signing/token-kid.ts'

export interface SigningKeyJudges {
  readonly keyRing: Pick<KeyRing, 'proofs'>
  readonly refusedKeys: RefusedKeys
}

/**
 * What the answer to a push means once the key that signed it is considered: an accepted SET proves
 * the key, and one that is refused because of its key is signed with another one or tried again, as
 * long as that can help. Every other verdict stays as it is.
 */
export function judgeSigningKey(
  verdict: Verdict,
  result: OutboundResult,
  { delivery, token }: SentDelivery,
  { keyRing, refusedKeys }: SigningKeyJudges,
): Verdict {
  const kid = token === null ? null : kidOfToken(token)
  if (kid === null) return verdict
  const { destinationId } = delivery
  if (verdict.kind === 'accepted') {
    keyRing.proofs.noteAcceptance(destinationId, kid, result.remoteAddress ?? null)
    return verdict
  }
  const { errorCode, error } = verdict
  if (!isKeyRefusal(errorCode, error)) return verdict
  const judgement = refusedKeys.onRefused({ destinationId, kid, refusal: error })
  switch (judgement.kind) {
    case 'final':
      return verdict
    case 'later':
      return { kind: 'retry', errorCode, error, isOverloaded: false }
    case 'resign':
      return { kind: 'retry', errorCode, error, isOverloaded: false, resignKid: judgement.kid }
  }
}

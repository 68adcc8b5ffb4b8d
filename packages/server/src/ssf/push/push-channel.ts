/*
 * Push delivery of SETs as the delivery engine sees it: signing, the request of RFC 8935 and the
 * meaning of its answers. Owns nothing of when and in which order they are sent.
 */
import type { Kysely } from 'kysely'
import type { ClaimedDelivery, DeliveryChannel } from '../../delivery/delivery-channel.ts'
import { RETRY_DELAYS_MS } from '../../delivery/retry-schedule.ts'
import type { Schema } from '../../platform/db/schema.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { withSequences } from '../history/number-sets.ts'
import type { KeyRing } from '../signing/key-ring.ts'
import type { RefusedKeys } from '../signing/refused-keys.ts'
import { signDeliveries } from '../signing/sign-deliveries.ts'
import { classifyPush } from './classify-push.ts'
import { judgeSigningKey } from './judge-signing-key.ts'
import { pushHeaders, toPushRequest } from './push-request.ts'
import { findPushTarget } from './push-target-store.ts'

export interface PushChannelDependencies {
  readonly db: Kysely<Schema>
  readonly sealer: Sealer
  readonly keyRing: KeyRing
  /** Told of keys that receivers refuse; without it every refusal is final. */
  readonly refusedKeys?: RefusedKeys
}

/** Creates the channel for destinations of the kind `ssf_push`. */
export function createPushChannel({
  db,
  sealer,
  keyRing,
  refusedKeys,
}: PushChannelDependencies): DeliveryChannel {
  return {
    kind: 'ssf_push',
    logEvent: 'set.delivery_attempted',
    retryDelaysMs: RETRY_DELAYS_MS,
    claimKid: (destinationId) => keyRing.activeKid(destinationId),
    async prepare(destinationId: string, deliveries: readonly ClaimedDelivery[]) {
      const target = await findPushTarget(db, destinationId)
      if (target === undefined) return undefined
      const headers = pushHeaders(target, sealer)
      const tokens = await signDeliveries(
        keyRing,
        await withSequences(db, target.numbered, deliveries),
      )
      return tokens.map((token) => ({ token, request: toPushRequest(target, headers, token) }))
    },
    classify: (result, sent) => {
      const verdict = classifyPush(result)
      if (refusedKeys === undefined) return verdict
      return judgeSigningKey(verdict, result, sent, { keyRing, refusedKeys })
    },
  }
}

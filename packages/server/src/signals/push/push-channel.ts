/*
 * Push delivery of SETs as the delivery engine sees it: signing, the request of RFC 8935 and the
 * meaning of its answers. Owns nothing of when and in which order they are sent.
 */
import type { Kysely } from 'kysely'
import type { DeliveryChannel } from '../dispatch/delivery-channel.ts'
import { RETRY_DELAYS_MS } from '../dispatch/retry-schedule.ts'
import type { Schema } from '../../schema/schema.ts'
import { withSequences } from '../history/number-sets.ts'
import type { KeyRing } from '../signing/key-ring.ts'
import type { RefusedKeys } from '../signing/refused-keys.ts'
import { findStreamOfDestination } from '../streams/stream-store.ts'
import { classifyPush, judgeSigningKey } from './classify-push.ts'
import { beginFallback } from './poll-fallback.ts'
import type { OpenPushConnection } from './push-connection.ts'
import { findPushTarget } from './push-target-store.ts'

export interface PushChannelDependencies {
  readonly db: Kysely<Schema>
  readonly keyRing: KeyRing
  /** Opens what streams authenticate with. */
  readonly openConnection: OpenPushConnection
  /** What the world calls the service: where streams are polled whose events run out of attempts. */
  readonly baseUrl: string
  /** Reacts to keys that receivers refuse. */
  readonly refusedKeys: RefusedKeys
}

/** Creates the channel for destinations of the kind `ssf_push`. */
export function createPushChannel({
  db,
  keyRing,
  openConnection,
  baseUrl,
  refusedKeys,
}: PushChannelDependencies): DeliveryChannel {
  return {
    kind: 'ssf_push',
    logEvent: 'set.delivery_attempted',
    retryDelaysMs: RETRY_DELAYS_MS,
    claimKid: (destinationId) => keyRing.activeKid(destinationId),
    async prepare(destinationId, deliveries, options) {
      const target = await findPushTarget(db, destinationId)
      if (target === undefined) return undefined
      const connection = await openConnection(target, options)
      const { fallsBackToPoll: isKeptWhenExhausted } = target
      const numbered = await withSequences(db, target.numbered, deliveries)
      const tokens = await keyRing.signDeliveries(numbered)
      return tokens.map((token) => {
        const request = connection.toRequest(token)
        return { token, request, send: connection.send, isKeptWhenExhausted }
      })
    },
    async onNotice(change, { destinationId, kind, error }) {
      if (kind !== 'exhausted') return
      const stream = await findStreamOfDestination(change.tx, destinationId, { isLocked: true })
      if (stream?.deliveryMethod !== 'push') return
      await beginFallback(change, stream, `An event could not be pushed: ${error}.`, baseUrl)
    },
    classify: classifyPush,
    reviseVerdict: (verdict, result, sent) =>
      judgeSigningKey(verdict, result, sent, { keyRing, refusedKeys }),
  }
}

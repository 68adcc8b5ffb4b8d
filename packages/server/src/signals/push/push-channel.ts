/*
 * Push delivery of SETs as the delivery engine sees it: signing, the request of RFC 8935 and the
 * meaning of its answers. Owns nothing of when and in which order they are sent.
 */
import type { Kysely } from 'kysely'
import type { ClaimedDelivery, DeliveryChannel } from '../dispatch/delivery-channel.ts'
import { RETRY_DELAYS_MS } from '../dispatch/retry-schedule.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { withSequences } from '../history/number-sets.ts'
import type { KeyRing } from '../signing/key-ring.ts'
import type { RefusedKeys } from '../signing/refused-keys.ts'
import { signDeliveries } from '../signing/sign-deliveries.ts'
import { findStreamOfDestination } from '../streams/stream-store.ts'
import { classifyPush } from './classify-push.ts'
import { beginFallback, type PollFallbackDependencies } from './poll-fallback.ts'
import { judgeSigningKey } from './judge-signing-key.ts'
import type { OpenPushConnection, PushConnection } from './push-connection.ts'
import { pushHeaders, toPushRequest } from './push-request.ts'
import { findPushTarget, type PushTarget } from './push-target-store.ts'

export interface PushChannelDependencies {
  readonly db: Kysely<Schema>
  readonly sealer: Sealer
  readonly keyRing: KeyRing
  /** Opens what streams authenticate with beside a header; without it, they cannot be pushed to. */
  readonly openConnection?: OpenPushConnection
  /** Without it, events that run out of attempts are kept and nothing is told of it. */
  readonly fallback?: PollFallbackDependencies
  /** Told of keys that receivers refuse; without it every refusal is final. */
  readonly refusedKeys?: RefusedKeys
}

/** Creates the channel for destinations of the kind `ssf_push`. */
export function createPushChannel({
  db,
  sealer,
  keyRing,
  openConnection,
  fallback,
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
      const connection = await connect(target, sealer, openConnection)
      const { fallsBackToPoll: isKeptWhenExhausted } = target
      const tokens = await signDeliveries(
        keyRing,
        await withSequences(db, target.numbered, deliveries),
      )
      return tokens.map((token) => {
        const request = connection.toRequest(token)
        return { token, request, send: connection.send, isKeptWhenExhausted }
      })
    },
    async onNotice(change, { destinationId, kind, error }) {
      if (kind !== 'exhausted' || fallback === undefined) return
      const stream = await findStreamOfDestination(change.tx, destinationId, { isLocked: true })
      if (stream?.deliveryMethod !== 'push') return
      await beginFallback(change, stream, `An event could not be pushed: ${error}.`, fallback)
    },
    classify: (result, sent) => {
      const verdict = classifyPush(result)
      if (refusedKeys === undefined) return verdict
      return judgeSigningKey(verdict, result, sent, { keyRing, refusedKeys })
    },
  }
}

/** What most streams need, a header at most, is had without asking the database again. */
async function connect(
  target: PushTarget,
  sealer: Sealer,
  openConnection: OpenPushConnection | undefined,
): Promise<Pick<PushConnection, 'toRequest' | 'send'>> {
  if (target.authentication !== null) {
    if (openConnection === undefined) throw new Error('push connections cannot be opened here')
    return openConnection(target)
  }
  const headers = pushHeaders(target, sealer)
  return { toRequest: (token) => toPushRequest(target, headers, token), send: undefined }
}

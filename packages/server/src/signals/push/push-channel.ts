/*
 * Push delivery of SETs as the delivery engine sees it: signing, the request of RFC 8935 and the
 * meaning of its answers. Owns nothing of when and in which order they are sent.
 */
import { isPushAccepted, parsePushError, type PushError } from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import type {
  ClaimedDelivery,
  DeliveryChannel,
  PreparedRequest,
  PrepareOptions,
  SentDelivery,
  Verdict,
} from '../dispatch/delivery-channel.ts'
import { singleHeader } from '../dispatch/delivery-outcome.ts'
import { RETRY_DELAYS_MS } from '../dispatch/retry-schedule.ts'
import type { TopicSink } from '../../platform/live/topic-notifier.ts'
import type { OutboundResponse, OutboundResult } from '../../platform/net/outbound-result.ts'
import type { LiveTopic } from '../../schema/live-topics.ts'
import type { Schema } from '../../schema/schema.ts'
import { withSequences } from '../history/number-sets.ts'
import { isKeyRefusal } from '../signing/judge-key-refusal.ts'
import type { KeyRing } from '../signing/key-ring.ts'
import type { RefusedKeys } from '../signing/refused-keys.ts'
import { kidOfToken } from '../signing/token-kid.ts'
import { findStreamOfDestination } from '../streams/stream-store.ts'
import { discardClaimed, isRequested } from '../streams/unrequested-event-store.ts'
import { beginFallback } from './poll-fallback.ts'
import type { OpenPushConnection } from './push-connection.ts'
import { findPushTarget, type PushTarget } from './push-target-store.ts'

export interface PushChannelDependencies {
  readonly db: Kysely<Schema>
  readonly keyRing: KeyRing
  /** Opens what streams authenticate with. */
  readonly openConnection: OpenPushConnection
  /** What the world calls the service: where streams are polled whose events run out of attempts. */
  readonly baseUrl: string
  /** Reacts to keys that receivers refuse. */
  readonly refusedKeys: RefusedKeys
  /** Told which deliveries are given up before they are sent. */
  readonly topics: TopicSink
}

/** Creates the channel for destinations of the kind `ssf_push`. */
export function createPushChannel({
  db,
  keyRing,
  openConnection,
  baseUrl,
  refusedKeys,
  topics,
}: PushChannelDependencies): DeliveryChannel {
  async function toRequests(
    target: PushTarget,
    deliveries: readonly ClaimedDelivery[],
    options: PrepareOptions | undefined,
  ): Promise<PreparedRequest[]> {
    const connection = await openConnection(target, options)
    const { fallsBackToPoll: isKeptWhenExhausted } = target
    const numbered = await withSequences(db, target.numbered, deliveries)
    const tokens = await keyRing.signDeliveries(numbered)
    return tokens.map((token) => {
      const request = connection.toRequest(token)
      return { token, request, send: connection.send, isKeptWhenExhausted }
    })
  }
  return {
    kind: 'ssf_push',
    logEvent: 'set.delivery_attempted',
    retryDelaysMs: RETRY_DELAYS_MS,
    claimKid: (destinationId) => keyRing.activeKid(destinationId),
    async prepare(destinationId, deliveries, options) {
      const target = await findPushTarget(db, destinationId)
      if (target === undefined) return undefined
      const requested = deliveries.filter(({ eventType }) => isRequested(target, eventType))
      if (requested.length === deliveries.length) return toRequests(target, deliveries, options)
      // First, so that what has no number yet gets none.
      const unrequested = deliveries.filter((delivery) => !requested.includes(delivery))
      await discardClaimed(db, unrequested)
      topics.tell(unrequested.map(({ id }): LiveTopic => `deliveries:${id}`))
      const requests = requested.length > 0 ? await toRequests(target, requested, options) : []
      return deliveries.map((delivery) => {
        const index = requested.indexOf(delivery)
        return index === -1 ? 'ended' : requests[index]
      })
    },
    async onNotice(change, { destinationId, kind, error }) {
      if (kind !== 'exhausted') return
      const stream = await findStreamOfDestination(change.tx, destinationId, { isLocked: true })
      if (stream?.deliveryMethod !== 'push') return
      await beginFallback(change, stream, `An event could not be pushed: ${error}.`, baseUrl)
    },
    async lockOwner(tx, destinationId) {
      await findStreamOfDestination(tx, destinationId, { isLocked: true })
    },
    classify: classifyPush,
    reviseVerdict: (verdict, result, sent) =>
      judgeSigningKey(verdict, result, sent, { keyRing, refusedKeys }),
  }
}

/** Statuses that promise a better answer another time. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429])

/** Statuses that mean a refused credential: the receiver's or the stream's operator may mend it. */
const CREDENTIAL_STATUSES: ReadonlySet<number> = new Set([401, 403, 407])

/** Registered errors that name a credential. RFC 8935 section 2.4. */
const CREDENTIAL_ERRORS: ReadonlySet<string> = new Set(['authentication_failed', 'access_denied'])

/**
 * What the answer to a pushed SET means (RFC 8935 sections 2.2 to 2.4). Any 2xx is success, also without the end
 * of its body. A fault of
 * the network, of the server or of a credential is tried again; a redirect is a fault, because it is
 * not followed and may go away; every other refusal is final.
 */
export function classifyPush(result: OutboundResult): Verdict {
  const { status } = result
  if (status !== undefined && isPushAccepted(status)) return { kind: 'accepted' }
  if (result.kind === 'failed') {
    const { code, message, retryable } = result
    if (!retryable) return { kind: 'rejected', errorCode: code, error: message }
    return { kind: 'retry', errorCode: code, error: message, isOverloaded: false }
  }
  return classifyRefusal(result)
}

function classifyRefusal(response: OutboundResponse): Verdict {
  const { status, headers, body } = response
  const contentType = singleHeader(headers['content-type'])
  const refusal = parsePushError(status, contentType, body.toString('utf8'))
  const errorCode = refusal.code ?? refusal.err ?? `http_${status}`
  const error = toSentence(refusal)
  if (!isRetried(status, refusal)) return { kind: 'rejected', errorCode, error }
  return { kind: 'retry', errorCode, error, isOverloaded: status === 429 || status === 503 }
}

function isRetried(status: number, { code }: PushError): boolean {
  if (code !== undefined && status === 400) return CREDENTIAL_ERRORS.has(code)
  if (status >= 500 || status < 400) return true
  return TRANSIENT_STATUSES.has(status) || CREDENTIAL_STATUSES.has(status)
}

function toSentence({ status, err, description }: PushError): string {
  const words = [err, description].filter((part) => part !== undefined).join(': ')
  const said = words === '' ? '' : ` (${words})`
  if (status >= 300 && status < 400) {
    return `The receiver answered ${status}; redirects are not followed${said}`
  }
  return `The receiver answered ${status}${said}`
}

/**
 * What the answer to a push means once the key that signed it is considered: an accepted SET proves
 * the key, and one that is refused because of its key is signed with another one or tried again, as
 * long as that can help. Every other verdict stays as it is.
 */
function judgeSigningKey(
  verdict: Verdict,
  result: OutboundResult,
  { delivery, token }: SentDelivery,
  { keyRing, refusedKeys }: Pick<PushChannelDependencies, 'keyRing' | 'refusedKeys'>,
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

/*
 * Webhooks as the delivery engine sees them: the request of an event and the meaning of its answers.
 * Owns nothing of when they are sent, but the pace of a webhook.
 */
import type { Kysely } from 'kysely'
import type { ClaimedDelivery, DeliveryChannel, Verdict } from '../dispatch/delivery-channel.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import type { OutboundResult } from '../../platform/net/outbound-result.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { disableWebhookOf } from './disable-webhook.ts'
import { giveUpWithoutPayload } from './webhook-retention-store.ts'
import { giveBackTokens, takeTokens } from './webhook-pace-store.ts'
import { findWebhookOfDestination, findWebhookSending } from './webhook-store.ts'
import { createTargetOpener, toWebhookRequest } from './webhook-target.ts'

/** Ten attempts over 75 hours, as Standard Webhooks proposes: at once, then after these delays. */
export const WEBHOOK_RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]

export interface WebhookChannelDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly sealer: Sealer
}

/** Creates the channel for destinations of the kind `webhook`. */
export function createWebhookChannel(dependencies: WebhookChannelDependencies): DeliveryChannel {
  const { db, clock, sealer } = dependencies
  const openTarget = createTargetOpener(sealer)
  return {
    kind: 'webhook',
    logEvent: 'webhook.delivery_attempted',
    retryDelaysMs: WEBHOOK_RETRY_DELAYS_MS,
    busyRetryDelayMinMs: MINUTE_MS,
    claimKid: () => null,
    pace: {
      take: (destinationId, wanted) => takeTokens(db, destinationId, wanted),
      giveBack: (destinationId, count) => giveBackTokens(db, destinationId, count),
    },
    async prepare(destinationId: DestinationId, deliveries: readonly ClaimedDelivery[]) {
      const now = clock.now()
      const eventIds = deliveries.map(({ eventId }) => eventId)
      const sending = await findWebhookSending(db, destinationId, eventIds, now)
      if (sending === undefined) return undefined
      const target = openTarget(sending)
      const { bodies } = sending
      const emptied = eventIds.filter((eventId) => !bodies.has(eventId))
      if (emptied.length > 0) await giveUpWithoutPayload(db, emptied, now)
      return deliveries.map(({ eventId }) => {
        const body = bodies.get(eventId)
        if (body === undefined) return 'ended'
        return { token: null, request: toWebhookRequest(target, { eventId, body }, now) }
      })
    },
    classify: classifyWebhook,
    onNotice: async (change, { kind, destinationId, error }) => {
      if (kind === 'gone') await disableWebhookOf(change, destinationId, { reason: 'gone', error })
    },
    lockOwner: async (tx, destinationId) => {
      await findWebhookOfDestination(tx, destinationId, { isLocked: true })
    },
  }
}

/** The receiver, or what stands before it, has too much to do. */
const OVERLOAD_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504])

/**
 * What the answer to a webhook means, in the words of Standard Webhooks: 2xx alone is success, and 410 ends the
 * webhook, whatever the body, also without its end; everything else is tried again, because the receiver or its
 * operator may mend it.
 */
export function classifyWebhook(result: OutboundResult): Verdict {
  const { status } = result
  if (status !== undefined && status >= 200 && status < 300) return { kind: 'accepted' }
  if (status === 410) {
    const error = 'The receiver answered 410: it wants no more events'
    return { kind: 'gone', errorCode: 'http_410', error }
  }
  if (result.kind === 'failed') {
    const { code, message } = result
    return { kind: 'retry', errorCode: code, error: message, isOverloaded: false }
  }
  const errorCode = `http_${result.status}`
  const isOverloaded = OVERLOAD_STATUSES.has(result.status)
  return { kind: 'retry', errorCode, error: toSentence(result.status), isOverloaded }
}

function toSentence(status: number): string {
  if (status >= 300 && status < 400) {
    return `The receiver answered ${status}; redirects are not followed: give the webhook the final address`
  }
  return `The receiver answered ${status}`
}

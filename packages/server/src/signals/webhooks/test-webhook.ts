/*
 * The test of a webhook: one event, and its outcome as the answer. It is sent at once by the sender of the
 * delivery engine, and its attempt is stored like every other.
 */
import type { Change, ChangeOrigin, RunChange } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { newUlid } from '../../platform/ids.ts'
import { errorOf } from '../dispatch/delivery-outcome.ts'
import type { DeliverySender, ReservedDelivery } from '../dispatch/delivery-sender.ts'
import { toNewEvent } from './webhook-publisher.ts'
import { insertEvent } from './webhook-event-store.ts'
import { TEST_EVENT } from './webhook-event-types.ts'
import { webhookTarget } from './webhook-json.ts'
import { getWebhook } from './webhook-store.ts'

export interface TestWebhookDependencies {
  readonly runChange: RunChange
  readonly sender: DeliverySender
}

/** What became of a test. */
export interface WebhookTestResult {
  readonly isSuccess: boolean
  /** The receiver's status; 0 when it could not be reached. */
  readonly statusCode: number
  readonly eventId: string
  readonly deliveryId: string
  readonly durationMs: number
  /** What went wrong, in words. */
  readonly reason: string | null
}

const TEST_MESSAGE = 'This is a test of the webhook.'

/**
 * Sends a test event to a webhook, also to one that is switched off: at once, and once only. Leaves an
 * audit entry.
 *
 * @throws AppError `not_found`; `conflict` when it is deleted meanwhile
 */
export async function testWebhook(
  origin: ChangeOrigin,
  id: string,
  { runChange, sender }: TestWebhookDependencies,
): Promise<WebhookTestResult> {
  const reserved = await runChange(origin, (change) => queueTest(change, id, sender))
  const outcome = await sender.sendNow(reserved)
  if (outcome === undefined) {
    throw new AppError('conflict', 'The webhook was deleted while it was tested.')
  }
  return {
    isSuccess: outcome.verdict.kind === 'accepted',
    statusCode: outcome.statusCode ?? 0,
    eventId: reserved.delivery.eventId,
    deliveryId: reserved.delivery.id,
    durationMs: outcome.timings.total,
    reason: errorOf(outcome.verdict).error,
  }
}

async function queueTest(
  change: Change,
  id: string,
  sender: DeliverySender,
): Promise<ReservedDelivery> {
  const { tx, at } = change
  const webhook = await getWebhook(tx, id)
  const event = toNewEvent(
    {
      type: TEST_EVENT,
      object: { type: 'webhook', id: webhook.id },
      occurredAt: at,
      data: { message: TEST_MESSAGE },
    },
    newUlid(at),
  )
  await insertEvent(tx, event, change)
  change.recordAudit({
    action: 'webhook.tested',
    target: webhookTarget(webhook),
    description: `sent a test event to the webhook ${webhook.name}`,
    after: { event_id: event.eventId },
  })
  return sender.reserve(change, 'webhook', {
    destinationId: webhook.destinationId,
    eventId: event.eventId,
    eventType: TEST_EVENT,
    subjectKey: null,
    body: '',
  })
}

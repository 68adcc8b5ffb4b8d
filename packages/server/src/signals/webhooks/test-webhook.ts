/*
 * The test of a webhook: one event whose fate the caller is told. Sent at once, outside any
 * transaction; its attempt is stored like every other.
 */
import type { Kysely } from 'kysely'
import type { Change, ChangeOrigin, RunChange } from '../../changes/change.ts'
import type { ClaimedDelivery } from '../dispatch/delivery-channel.ts'
import { errorOf, toDeliveryOutcome } from '../dispatch/delivery-outcome.ts'
import { recordOutcomes } from '../dispatch/outcome-store.ts'
import { AppError } from '../../platform/app-error.ts'
import { MINUTE_MS, SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { newUlid, newUuid } from '../../platform/ids.ts'
import type { GuardedClient } from '../../platform/net/guarded-client.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { classifyWebhook } from './classify-webhook.ts'
import { toNewEvent } from './webhook-publisher.ts'
import { insertEvent } from './webhook-event-store.ts'
import { TEST_EVENT } from './webhook-event-types.ts'
import { webhookTarget } from './webhook-json.ts'
import { getWebhook } from './webhook-store.ts'
import { findWebhookTarget, toWebhookRequest } from './webhook-target.ts'

export interface TestWebhookDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly runChange: RunChange
  readonly sealer: Sealer
  readonly client: Pick<GuardedClient, 'request'>
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
/** The person at the other end is waiting. */
const REQUEST_TIMEOUT_MS = 10 * SECOND_MS
/** Keeps the delivery engine away while the test is sent. */
const CLAIM_MS = 2 * MINUTE_MS

/**
 * Sends a test event to a webhook, also to one that is switched off: at once, and once only. Leaves an
 * audit entry.
 *
 * @throws AppError `not_found`; `conflict` when it is deleted meanwhile
 */
export async function testWebhook(
  origin: ChangeOrigin,
  id: string,
  dependencies: TestWebhookDependencies,
): Promise<WebhookTestResult> {
  const queued = await dependencies.runChange(origin, (change) => queueTest(change, id))
  return sendTest(queued, dependencies)
}

interface QueuedTest {
  readonly delivery: ClaimedDelivery
  readonly body: string
}

async function queueTest(change: Change, id: string): Promise<QueuedTest> {
  const { tx, at, txn } = change
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
  const claim = {
    claimId: newUuid(),
    claimExpiresAt: new Date(at.getTime() + CLAIM_MS),
    destinationId: webhook.destinationId,
    eventId: event.eventId,
    eventType: TEST_EVENT,
    subjectKey: null,
    body: '',
    signingKid: null,
    token: null,
    attemptCount: 0,
    createdAt: at,
  }
  const delivery = await tx
    .insertInto('delivery')
    .values({
      destination_id: webhook.destinationId,
      event_id: event.eventId,
      event_type: TEST_EVENT,
      subject_key: null,
      body: '',
      state: 'queued',
      next_attempt_at: at,
      txn,
      created_at: at,
      claimed_by: claim.claimId,
      claim_expires_at: claim.claimExpiresAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  change.recordAudit({
    action: 'webhook.tested',
    target: webhookTarget(webhook),
    description: `sent a test event to the webhook ${webhook.name}`,
    after: { event_id: event.eventId },
  })
  return { delivery: { ...claim, id: delivery.id }, body: event.body }
}

async function sendTest(
  { delivery, body }: QueuedTest,
  { db, clock, sealer, client }: TestWebhookDependencies,
): Promise<WebhookTestResult> {
  const startedAt = clock.now()
  const target = await findWebhookTarget(db, delivery.destinationId, { sealer, now: startedAt })
  if (target === undefined) {
    throw new AppError('conflict', 'conflict', 'The webhook was deleted while it was tested.')
  }
  const { eventId } = delivery
  const request = toWebhookRequest(target, { eventId, body }, startedAt)
  const result = await client.request({ ...request, timeouts: { totalMs: REQUEST_TIMEOUT_MS } })
  // Nobody waits for a second attempt: without delays there is none.
  const outcome = toDeliveryOutcome(
    {
      delivery,
      token: null,
      requestHeaders: request.headers,
      result,
      startedAt,
      finishedAt: clock.now(),
    },
    { classify: classifyWebhook, retryDelaysMs: [] },
    () => 0,
  )
  const isSuccess = outcome.verdict.kind === 'accepted'
  await recordOutcomes(db, [{ ...outcome, state: isSuccess ? 'delivered' : 'discarded' }])
  return {
    isSuccess,
    statusCode: outcome.statusCode ?? 0,
    eventId,
    deliveryId: delivery.id,
    durationMs: outcome.timings.total,
    reason: errorOf(outcome.verdict).error,
  }
}

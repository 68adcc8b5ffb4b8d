/*
 * The test of a stream: one verification event whose fate the caller is told. Push sends it at once,
 * outside any transaction; its attempt is stored like every other.
 */
import { VERIFICATION } from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import type { Change, ChangeOrigin, RunChange } from '../../changes/change.ts'
import type { ClaimedDelivery } from '../dispatch/delivery-channel.ts'
import { errorOf, toDeliveryOutcome } from '../dispatch/delivery-outcome.ts'
import { enqueueDeliveries, type WakeDelivery } from '../dispatch/enqueue-deliveries.ts'
import { recordOutcomes } from '../dispatch/outcome-store.ts'
import { AppError } from '../../platform/app-error.ts'
import { MINUTE_MS, SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { newUuid } from '../../platform/ids.ts'
import type { GuardedClient } from '../../platform/net/guarded-client.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { withSequences } from '../history/number-sets.ts'
import { classifyPush } from '../push/classify-push.ts'
import { createPushConnections } from '../push/push-connection.ts'
import { findPushTarget } from '../push/push-target-store.ts'
import { toVerificationDelivery } from '../sets/verification-delivery.ts'
import type { KeyRing } from '../signing/key-ring.ts'
import { signDeliveries } from '../signing/sign-deliveries.ts'
import { getStream } from './stream-store.ts'

export interface TestStreamDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly runChange: RunChange
  readonly sealer: Sealer
  readonly keyRing: KeyRing
  readonly client: Pick<GuardedClient, 'request'>
  readonly wake: WakeDelivery
}

/** What became of a test. */
export interface TestResult {
  readonly isSuccess: boolean
  /** The receiver's status; 0 when it could not be reached, 202 when the event is queued. */
  readonly statusCode: number
  readonly deliveryId: string
  /** What went wrong, in words. */
  readonly reason: string | null
}

/** The person at the other end is waiting. */
const REQUEST_TIMEOUT_MS = 10 * SECOND_MS
/** Keeps the delivery engine away while the test is sent; after a crash it takes the event up. */
const CLAIM_MS = 2 * MINUTE_MS

/**
 * Sends a verification event to a stream. A push stream that is enabled gets it at once, and once
 * only; the events of other streams are queued.
 *
 * @throws AppError `not_found`; `conflict` for a disabled stream.
 */
export async function testStream(
  origin: ChangeOrigin,
  identifier: string,
  email: string,
  dependencies: TestStreamDependencies,
): Promise<TestResult> {
  const claim = await dependencies.runChange(origin, (change) =>
    queueTest(change, identifier, email, dependencies),
  )
  if (claim.claimed === null) {
    return { isSuccess: true, statusCode: 202, deliveryId: claim.deliveryId, reason: null }
  }
  return sendTest(claim.claimed, dependencies)
}

interface QueuedTest {
  readonly deliveryId: string
  /** The delivery to send now; null when it is left to the engine or to polls. */
  readonly claimed: ClaimedDelivery | null
}

async function queueTest(
  change: Change,
  identifier: string,
  email: string,
  { keyRing, wake }: TestStreamDependencies,
): Promise<QueuedTest> {
  const stream = await getStream(change.tx, identifier)
  if (stream.status === 'disabled') {
    throw new AppError('conflict', 'conflict', 'The stream is disabled; enable it to test it.')
  }
  const delivery = toVerificationDelivery(stream, change, { testEmail: email })
  const { eventId, destinationId, body } = delivery
  const isSentNow = stream.deliveryMethod === 'push' && stream.status === 'enabled'
  const [deliveryId = ''] = await enqueueDeliveries(change, [delivery], wake)
  change.recordAudit({
    action: 'ssf_stream.tested',
    target: { type: 'ssf_stream', id: stream.id },
    description: `sent a test event to the stream ${stream.name}`,
    after: { event_id: eventId, email },
  })
  if (!isSentNow) return { deliveryId, claimed: null }
  const claimId = newUuid()
  const signingKid = keyRing.activeKid(destinationId)
  const claimExpiresAt = new Date(change.at.getTime() + CLAIM_MS)
  await change.tx
    .updateTable('delivery')
    .set({ claimed_by: claimId, claim_expires_at: claimExpiresAt, signing_kid: signingKid })
    .where('id', '=', deliveryId)
    .execute()
  const claimed: ClaimedDelivery = {
    id: deliveryId,
    destinationId,
    claimId,
    claimExpiresAt,
    eventId,
    eventType: VERIFICATION,
    subjectKey: null,
    body,
    signingKid,
    token: null,
    attemptCount: 0,
    createdAt: change.at,
  }
  return { deliveryId, claimed }
}

async function sendTest(
  delivery: ClaimedDelivery,
  dependencies: TestStreamDependencies,
): Promise<TestResult> {
  const { db, clock, keyRing, client } = dependencies
  const target = await findPushTarget(db, delivery.destinationId)
  if (target === undefined) {
    throw new AppError('conflict', 'conflict', 'The stream was changed while it was tested.')
  }
  const numbered = await withSequences(db, target.numbered, [delivery])
  const [token = ''] = await signDeliveries(keyRing, numbered)
  const startedAt = clock.now()
  // With an access token of its own, so that the credentials are tested too.
  const connection = await createPushConnections(dependencies)(target)
  const request = { ...connection.toRequest(token), timeouts: { totalMs: REQUEST_TIMEOUT_MS } }
  const result = await (connection.send?.(request) ?? client.request(request))
  const finishedAt = clock.now()
  // Nobody waits for a second attempt: without delays there is none.
  const outcome = toDeliveryOutcome(
    { delivery, token, requestHeaders: request.headers, result, startedAt, finishedAt },
    { classify: classifyPush, retryDelaysMs: [] },
    () => 0,
  )
  const isSuccess = outcome.verdict.kind === 'accepted'
  await recordOutcomes(db, [{ ...outcome, state: isSuccess ? 'delivered' : 'discarded' }])
  return {
    isSuccess,
    statusCode: outcome.statusCode ?? 0,
    deliveryId: delivery.id,
    reason: errorOf(outcome.verdict).error,
  }
}

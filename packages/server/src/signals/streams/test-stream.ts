/*
 * The test of a stream: one verification event whose fate the caller is told. Owns which streams are tested
 * how, and what is answered; a push is sent by the delivery engine's sender, and its attempt is stored like
 * every other.
 */
import type { Change, ChangeOrigin, RunChange } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { errorOf } from '../dispatch/delivery-outcome.ts'
import type { DeliverySender, ReservedDelivery } from '../dispatch/delivery-sender.ts'
import { insertDeliveries } from '../dispatch/delivery-store.ts'
import { toVerificationDelivery } from '../sets/stream-event-delivery.ts'
import { getStream, type StreamReference } from './stream-store.ts'

export interface TestStreamDependencies {
  readonly runChange: RunChange
  readonly sender: DeliverySender
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

/**
 * Sends a verification event to a stream. A push stream gets it at once, and once only; for a poll stream it is
 * queued.
 *
 * @throws AppError `not_found`; `conflict` for a disabled stream, and for a paused one that pushes.
 */
export async function testStream(
  origin: ChangeOrigin,
  reference: StreamReference,
  email: string,
  dependencies: TestStreamDependencies,
): Promise<TestResult> {
  const { runChange, sender } = dependencies
  const { deliveryId, reserved } = await runChange(origin, (change) =>
    queueTest(change, reference, email, dependencies),
  )
  if (reserved === null) return { isSuccess: true, statusCode: 202, deliveryId, reason: null }
  const outcome = await sender.sendNow(reserved)
  if (outcome === undefined) {
    throw new AppError('conflict', 'The stream was changed while it was tested.')
  }
  return {
    isSuccess: outcome.verdict.kind === 'accepted',
    statusCode: outcome.statusCode ?? 0,
    deliveryId,
    reason: errorOf(outcome.verdict).error,
  }
}

interface QueuedTest {
  readonly deliveryId: string
  /** The delivery to send now; null when it is left to polls. */
  readonly reserved: ReservedDelivery | null
}

async function queueTest(
  change: Change,
  reference: StreamReference,
  email: string,
  { sender }: TestStreamDependencies,
): Promise<QueuedTest> {
  const stream = await getStream(change.tx, reference)
  const isPush = stream.deliveryMethod === 'push'
  // A receiver that would not be asked now cannot be said to have answered.
  if (stream.status === 'disabled' || (isPush && stream.status === 'paused')) {
    throw new AppError('conflict', `The stream is ${stream.status}; enable it to test it.`)
  }
  const delivery = toVerificationDelivery(stream, change, { testEmail: email })
  change.recordAudit({
    action: 'ssf_stream.tested',
    target: { type: 'ssf_stream', id: stream.id },
    description: `sent a test event to the stream ${stream.name}`,
    after: { event_id: delivery.eventId, email },
  })
  if (isPush) {
    const reserved = await sender.reserve(change, 'ssf_push', delivery)
    return { deliveryId: reserved.delivery.id, reserved }
  }
  const [deliveryId = ''] = await insertDeliveries(change, [delivery])
  return { deliveryId, reserved: null }
}

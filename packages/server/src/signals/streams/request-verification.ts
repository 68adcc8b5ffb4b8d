import type { VerificationRequest } from '@heliograph/ssf'
import type { Change } from '../../changes/change.ts'
import { queueDeliveries } from '../dispatch/delivery-store.ts'
import { AppError } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { toVerificationDelivery } from '../sets/stream-event-delivery.ts'
import { updateStream, type Stream } from './stream-store.ts'

/**
 * Queues the verification event that a receiver asks for, with its `state` as it came. A paused stream
 * holds it, a disabled one drops it. The caller holds the lock of the stream; `intervalSeconds` must
 * lie between two requests. SSF 1.0 section 8.1.4.2.
 *
 * @throws AppError `rate_limited` when the last request is too recent
 */
export async function requestVerification(
  change: Change,
  stream: Stream,
  { state }: Pick<VerificationRequest, 'state'>,
  intervalSeconds: number,
): Promise<void> {
  assertInterval(change, stream, intervalSeconds)
  await updateStream(change.tx, stream.id, { verificationRequestedAt: change.at })
  if (stream.status === 'disabled') return
  const details = state === undefined ? {} : { state }
  const delivery = toVerificationDelivery(stream, change, details)
  await queueDeliveries(change, [delivery])
  change.recordAudit({
    action: 'ssf_stream.verification_requested',
    target: { type: 'ssf_stream', id: stream.id },
    description: `asked for a verification of the stream ${stream.name}`,
    after: { event_id: delivery.eventId },
  })
}

function assertInterval(
  change: Change,
  { verificationRequestedAt: lastAt }: Stream,
  intervalSeconds: number,
): void {
  if (lastAt === null) return
  const waitMs = lastAt.getTime() + intervalSeconds * SECOND_MS - change.at.getTime()
  if (waitMs <= 0) return
  throw new AppError(
    'rate_limited',
    `A verification can be asked for once in ${intervalSeconds === 1 ? 'a second' : `${intervalSeconds} seconds`}.`,
    { retryAfterSeconds: Math.ceil(waitMs / SECOND_MS) },
  )
}

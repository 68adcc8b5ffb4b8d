import { VERIFICATION } from '@heliograph/ssf'
import type { NewDelivery } from '../dispatch/delivery-store.ts'
import { newUuid } from '../../platform/ids.ts'
import { toVerificationClaims, type SetCause, type VerificationDetails } from './set-claims.ts'
import type { Stream } from '../streams/stream-store.ts'

/**
 * A verification event with an id of its own, ready to be queued for its stream. It waits for nothing
 * unless a subject says what for.
 */
export function toVerificationDelivery(
  stream: Stream,
  cause: SetCause,
  details: VerificationDetails = {},
  subjectKey: string | null = null,
): NewDelivery {
  const eventId = newUuid()
  return {
    destinationId: stream.destinationId,
    eventId,
    eventType: VERIFICATION,
    subjectKey,
    body: toVerificationClaims(stream, eventId, cause, details),
  }
}

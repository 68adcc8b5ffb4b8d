import { STREAM_UPDATED, VERIFICATION } from '@heliograph/ssf'
import type { NewDelivery } from '../dispatch/delivery-store.ts'
import { newUuid } from '../../platform/ids.ts'
import {
  toStreamUpdatedClaims,
  toVerificationClaims,
  type SetCause,
  type VerificationDetails,
} from './set-claims.ts'
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
  const body = toVerificationClaims(stream, eventId, cause, details)
  const { destinationId } = stream
  return { destinationId, eventId, eventType: VERIFICATION, subjectKey, body }
}

/** An event that says what has become of its stream, ready to be queued for it. */
export function toStreamUpdatedDelivery(stream: Stream, cause: SetCause): NewDelivery {
  const eventId = newUuid()
  const body = toStreamUpdatedClaims(stream, eventId, cause)
  const { destinationId } = stream
  return { destinationId, eventId, eventType: STREAM_UPDATED, subjectKey: null, body }
}

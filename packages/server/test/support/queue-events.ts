import { STREAM_UPDATED } from '@heliograph/ssf'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { insertDeliveries } from '../../src/signals/dispatch/delivery-store.ts'
import { newUuid } from '../../src/platform/ids.ts'
import type { TestApi } from './api-app.ts'
import type { DestinationId } from '../../src/schema/branded-ids.ts'

/** What was queued, in its order. */
export interface QueuedEvents {
  readonly deliveryIds: string[]
  readonly eventIds: string[]
}

/**
 * Queues an event for each of these subjects, in one transaction and in their order. A subject is a
 * key as `device:7`, or null for an event of no subject. Without a type, one that every stream gets.
 */
export async function queueEvents(
  { runChange }: Pick<TestApi, 'runChange'>,
  destinationId: DestinationId,
  subjectKeys: readonly (string | null)[],
  eventType = STREAM_UPDATED,
): Promise<QueuedEvents> {
  const deliveries = subjectKeys.map((subjectKey) => {
    const eventId = newUuid()
    const body = JSON.stringify({ jti: eventId, aud: 'https://receiver.example.com' })
    return { destinationId, eventId, eventType, subjectKey, body }
  })
  const deliveryIds = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    insertDeliveries(change, deliveries),
  )
  return { deliveryIds, eventIds: deliveries.map(({ eventId }) => eventId) }
}

/*
 * What people do about deliveries: send them again, give them up. Owns the states and the audit of
 * both, the same for everything that is delivered; sending is the engine's. Each call moves a bounded
 * number, and says whether there are more: a call again goes on.
 */
import type { AuditTarget } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { getDeliveryOfEvent, type DeliveryDetails, type DeliveryState } from './delivery-read.ts'
import { tellDestinations } from './delivery-store.ts'
import { resetDestinationHealth } from './destination-store.ts'
import {
  REDRIVE_MAX,
  requeueDeliveries,
  requeueDelivery,
  updateToDiscarded,
  type DeliveryFilter,
  type RedriveLimits,
} from './redrive-store.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

/** Whose deliveries. */
export interface DeliveryOwner extends RedriveLimits {
  readonly destinationId: DestinationId
  /** What the audit entry names: the stream or the webhook. */
  readonly target: AuditTarget
}

/** Which deliveries of an owner; what is left out does not narrow it. */
export interface DeliverySelection extends DeliveryOwner, Omit<DeliveryFilter, 'states'> {
  /** The states to take; each use case says which when left out. */
  readonly states?: readonly DeliveryState[] | undefined
}

/** What a call moved. */
export interface MovedDeliveries {
  readonly count: number
  /** More fit the selection than one call moves. */
  readonly hasMore: boolean
}

/**
 * Sends dead deliveries again, as new as if they had just been queued, with the same event ids and in
 * their old order. The receiver is tried at once, whatever was held against it. With `states`, also
 * discarded ones. What has been deleted of its payload is passed over, and events of types that the owner
 * does not get any more.
 */
export async function redriveDeliveries(
  change: Change,
  selection: DeliverySelection,
): Promise<MovedDeliveries> {
  const states = selection.states ?? ['dead']
  const count = await requeueDeliveries(change.tx, { ...selection, states }, selection)
  const moved = { count, hasMore: count === REDRIVE_MAX }
  if (count === 0) return moved
  await tryAtOnce(change, selection.destinationId)
  change.recordAudit({
    action: 'deliveries.redriven',
    target: selection.target,
    description: `sent ${count} deliveries again`,
    after: { count, states, ...toAuditRange(selection) },
  })
  return moved
}

/**
 * Sends one event again whatever became of it, with the same event id. One that is queued is tried at
 * once; one that is on its way is left to arrive. Answers the delivery as it is afterwards.
 *
 * @throws AppError `not_found`; `conflict` when its payload has been deleted, or when the owner gets no events of
 * its type any more
 */
export async function resendDelivery(
  change: Change,
  { destinationId, target, payload, eventTypes }: DeliveryOwner,
  eventId: string,
): Promise<DeliveryDetails> {
  const before = await getDeliveryOfEvent(change.tx, destinationId, eventId)
  // It would be given up, and its record would no longer say that it was delivered.
  if (eventTypes?.includes(before.eventType) === false) {
    throw new AppError('conflict', 'The receiver no longer asks for events of this type.')
  }
  if (!(await requeueDelivery(change.tx, before.id, payload))) {
    const isOnItsWay = before.state === 'queued'
    if (isOnItsWay) return before
    throw new AppError(
      'conflict',
      'What this event carried has been deleted after its retention; it cannot be sent again.',
    )
  }
  await tryAtOnce(change, destinationId)
  change.recordAudit({
    action: 'delivery.resent',
    target,
    description: `sent the event ${eventId} again`,
    before: { state: before.state },
    after: { state: 'queued', event_id: eventId },
  })
  return getDeliveryOfEvent(change.tx, destinationId, eventId)
}

/**
 * Gives up deliveries that are dead or still queued. What is being sent at this moment may still
 * arrive.
 */
export async function discardDeliveries(
  change: Change,
  selection: DeliverySelection,
): Promise<MovedDeliveries> {
  const states = selection.states ?? ['queued', 'dead']
  const count = await updateToDiscarded(change.tx, { ...selection, states }, change.at)
  const moved = { count, hasMore: count === REDRIVE_MAX }
  if (count === 0) return moved
  tellDestinations(change, [selection.destinationId])
  change.recordAudit({
    action: 'deliveries.discarded',
    target: selection.target,
    description: `gave up ${count} deliveries`,
    after: { count, states, ...toAuditRange(selection) },
  })
  return moved
}

async function tryAtOnce(change: Change, destinationId: DestinationId): Promise<void> {
  await resetDestinationHealth(change.tx, destinationId)
  tellDestinations(change, [destinationId])
}

function toAuditRange({ since, until }: DeliverySelection) {
  return { since: since?.toISOString() ?? null, until: until?.toISOString() ?? null }
}

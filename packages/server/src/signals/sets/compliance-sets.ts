/*
 * The SETs that follow from changed device statuses: decides what becomes of a change on a stream, and
 * makes the delivery. Used by the publisher, by the backfill and by the dry run of an event.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { DeviceStatusChange } from '../../changes/domain-event.ts'
import type { DeliveryCause, NewDelivery } from '../dispatch/delivery-store.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { debounceChanges } from '../history/debounce.ts'
import type { Stream } from '../streams/stream-store.ts'
import type { IsWanted } from '../subjects/filter-events.ts'
import { toComplianceClaims } from './set-claims.ts'

/** What becomes of a status change on a stream: a delivery to queue, or the rule that stops it. */
export type SetDecision =
  | { readonly kind: 'queued'; readonly delivery: NewDelivery }
  | { readonly kind: 'stopped'; readonly rule: 'subject_not_included' | 'no_owner' | 'damped' }

/** What decisions about the changes of a stream are made with. */
export interface SetDecisionDependencies {
  readonly isWanted: IsWanted
  /** Opens the secrets of pairwise identifiers. */
  readonly sealer: Pick<Sealer, 'open'>
}

/**
 * Decides what becomes of changes of compliance on a stream that receives them, one decision for each.
 * Each device occurs at most once. Gives up waiting deliveries that debouncing cancels; queues nothing.
 */
export async function decideComplianceSets(
  cause: DeliveryCause,
  stream: Stream,
  statusChanges: readonly DeviceStatusChange[],
  { isWanted, sealer }: SetDecisionDependencies,
): Promise<SetDecision[]> {
  const wanted = new Set(statusChanges.filter((item) => isWanted(stream, item)))
  const delays = await debounceChanges(cause, stream, [...wanted])
  return statusChanges.map((statusChange) => {
    if (!wanted.has(statusChange)) return { kind: 'stopped', rule: 'subject_not_included' }
    const delivery = toComplianceDelivery(cause, stream, statusChange, sealer)
    if (delivery === undefined) return { kind: 'stopped', rule: 'no_owner' }
    const delayMs = delays.get(statusChange)
    if (delayMs === undefined) return { kind: 'stopped', rule: 'damped' }
    return { kind: 'queued', delivery: { ...delivery, delayMs } }
  })
}

/** The delivery of a change; undefined when the stream names people and nobody owns the device. */
export function toComplianceDelivery(
  cause: DeliveryCause,
  stream: Stream,
  statusChange: DeviceStatusChange,
  sealer: Pick<Sealer, 'open'>,
): NewDelivery | undefined {
  const eventId = newUuid()
  const body = toComplianceClaims(stream, eventId, statusChange, cause, sealer)
  if (body === undefined) return undefined
  return {
    destinationId: stream.destinationId,
    eventId,
    eventType: DEVICE_COMPLIANCE_CHANGE,
    subjectKey: `device:${statusChange.device.id}`,
    body,
  }
}

/*
 * The publisher of Shared Signals: decides what becomes of changed device statuses on each stream, and queues
 * their SETs in the transaction of the change, beside those of ended sessions. The only place where compliance
 * events begin; the dispatcher sends them. The dry run of an event decides by the same functions; the backfill makes
 * its SETs by them.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { ChangePublisher, ChangeRecord } from '../../changes/change.ts'
import type { DeviceStatusChange, DomainEvent } from '../../changes/domain-event.ts'
import {
  queueDeliveries,
  type DeliveryCause,
  type NewDelivery,
} from '../dispatch/delivery-store.ts'
import { debounceChanges } from '../history/debounce.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { listReceivingStreams, type Stream } from '../streams/stream-store.ts'
import { readSubjectFilter, type IsWanted } from '../subjects/filter-events.ts'
import { publishEndedSessions } from './publish-ended-sessions.ts'
import { toComplianceClaims } from './set-claims.ts'

export interface SsfPublisherDependencies {
  /** Opens the secrets of pairwise identifiers. */
  readonly sealer: Pick<Sealer, 'open'>
}

/** What becomes of a status change on a stream: a delivery to queue, or the rule that stops it. */
type SetDecision =
  | { readonly kind: 'queued'; readonly delivery: NewDelivery }
  | { readonly kind: 'stopped'; readonly rule: 'subject_not_included' | 'no_owner' | 'damped' }

/** What decisions about the changes of a stream are made with. */
interface SetDecisionDependencies {
  readonly isWanted: IsWanted
  /** Opens the secrets of pairwise identifiers. */
  readonly sealer: Pick<Sealer, 'open'>
}

/** The change that SETs are queued in; of one that was divided, each event has its own cause. */
type SetsCause = DeliveryCause & Partial<Pick<ChangeRecord, 'txnOf'>>

/** How many deliveries one statement queues: far below the number of parameters that it may have. */
const BATCH_SIZE = 1_000
/** For how many devices SETs are made at once. */
const DEVICES_PER_BATCH = 500

/**
 * Creates the publisher that queues, for each device whose compliance has changed, one SET per stream
 * that asked for compliance changes, is not disabled, and whose receiver wants the subject; and what is told of
 * ended sessions. Costs nothing when neither has changed.
 */
export function createSsfPublisher({ sealer }: SsfPublisherDependencies): ChangePublisher {
  return async (record) => {
    await publishEndedSessions(record, sealer)
    const statusChanges = record.events.flatMap((event) => toComplianceChange(event) ?? [])
    if (statusChanges.length === 0) return
    const streams = await listReceivingStreams(record.tx, DEVICE_COMPLIANCE_CHANGE)
    const isWanted = await readSubjectFilter(record.tx, streams, statusChanges, sealer)
    for (const batch of splitByDevice(statusChanges)) {
      const decisions = await Promise.all(
        streams.map((stream) => decideComplianceSets(record, stream, batch, { isWanted, sealer })),
      )
      const deliveries = decisions
        .flat()
        .flatMap((decision) => (decision.kind === 'queued' ? [decision.delivery] : []))
      // Ends here until the commit. Every process is told of the destinations then (DELIVERY_CHANNEL), and the
      // delivery engine of a worker wakes their dispatchers.
      for (let start = 0; start < deliveries.length; start += BATCH_SIZE) {
        await queueDeliveries(record, deliveries.slice(start, start + BATCH_SIZE))
      }
    }
  }
}

function toComplianceChange(event: DomainEvent): DeviceStatusChange | undefined {
  if (event.type !== 'device.status_changed') return undefined
  return event.previous.compliance === event.current.compliance ? undefined : event
}

/**
 * In their order; each device at most once in a batch, for a change can cancel the one before it; and no more
 * devices in a batch than whose claims may be held in memory at once, for every stream.
 */
function splitByDevice(statusChanges: readonly DeviceStatusChange[]): DeviceStatusChange[][] {
  const batches: DeviceStatusChange[][] = []
  let seen = new Set<string>()
  for (const statusChange of statusChanges) {
    const { id } = statusChange.device
    const batch = batches.at(-1)
    if (batch === undefined || batch.length >= DEVICES_PER_BATCH || seen.has(id)) {
      batches.push([statusChange])
      seen = new Set([id])
    } else {
      batch.push(statusChange)
      seen.add(id)
    }
  }
  return batches
}

/**
 * Decides what becomes of changes of compliance on a stream that receives them, one decision for each.
 * Each device occurs at most once. Gives up waiting deliveries that debouncing cancels; queues nothing.
 */
export async function decideComplianceSets(
  cause: SetsCause,
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
  cause: SetsCause,
  stream: Stream,
  statusChange: DeviceStatusChange,
  sealer: Pick<Sealer, 'open'>,
): NewDelivery | undefined {
  const eventId = newUuid()
  const txn = cause.txnOf?.(statusChange) ?? cause.txn
  // A change may have waited for a lock, and what it tells happened after it began.
  const { occurredAt } = statusChange
  const at = occurredAt > cause.at ? occurredAt : cause.at
  const body = toComplianceClaims(stream, eventId, statusChange, { at, txn }, sealer)
  if (body === undefined) return undefined
  return {
    destinationId: stream.destinationId,
    eventId,
    eventType: DEVICE_COMPLIANCE_CHANGE,
    subjectKey: `device:${statusChange.device.id}`,
    body,
    txn,
  }
}

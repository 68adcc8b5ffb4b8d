/*
 * The publisher of Shared Signals: queues the SETs of a change in its transaction. The only place where
 * compliance events begin; the dispatcher sends them.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { ChangePublisher } from '../../changes/change.ts'
import type { DeviceStatusChange, DomainEvent } from '../../changes/domain-event.ts'
import { insertDeliveries } from '../dispatch/delivery-store.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { listReceivingStreams } from '../streams/stream-store.ts'
import { readSubjectFilter } from '../subjects/filter-events.ts'
import { decideComplianceSets } from './compliance-sets.ts'

export interface SsfPublisherDependencies {
  /** Opens the secrets of pairwise identifiers. */
  readonly sealer: Pick<Sealer, 'open'>
}

/** How many deliveries one statement queues: far below the number of parameters that it may have. */
const BATCH_SIZE = 1_000

/**
 * Creates the publisher that queues, for each device whose compliance has changed, one SET per stream
 * that asked for compliance changes, is not disabled, and whose receiver wants the subject. Costs
 * nothing when no compliance has changed.
 */
export function createSsfPublisher({ sealer }: SsfPublisherDependencies): ChangePublisher {
  return async (record) => {
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
      for (let start = 0; start < deliveries.length; start += BATCH_SIZE) {
        await insertDeliveries(record, deliveries.slice(start, start + BATCH_SIZE))
      }
    }
  }
}

function toComplianceChange(event: DomainEvent): DeviceStatusChange | undefined {
  if (event.type !== 'device.status_changed') return undefined
  return event.previous.compliance === event.current.compliance ? undefined : event
}

/** In their order, and each device at most once in a batch: a change can cancel the one before it. */
function splitByDevice(statusChanges: readonly DeviceStatusChange[]): DeviceStatusChange[][] {
  const batches: DeviceStatusChange[][] = []
  let seen = new Set<string>()
  for (const statusChange of statusChanges) {
    const { id } = statusChange.device
    const batch = batches.at(-1)
    if (batch === undefined || seen.has(id)) {
      batches.push([statusChange])
      seen = new Set([id])
    } else {
      batch.push(statusChange)
      seen.add(id)
    }
  }
  return batches
}

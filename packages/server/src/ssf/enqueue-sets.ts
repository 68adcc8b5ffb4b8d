/*
 * Turns changed device statuses into queued SETs, in the same transaction. The only place where
 * compliance events begin; sending them is the delivery engine's.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { Change } from '../audit/change.ts'
import {
  enqueueDeliveries,
  type NewDelivery,
  type WakeDelivery,
} from '../delivery/enqueue-deliveries.ts'
import type { DeviceStatusChange, OnDeviceStatusChanged } from '../devices/device-status-change.ts'
import { newUuid } from '../platform/ids.ts'
import type { Sealer } from '../platform/secrets/sealed-box.ts'
import { toComplianceClaims } from './set-claims.ts'
import { listReceivingStreams, type StreamRow } from './streams/stream-store.ts'

export interface EnqueueSetsDependencies {
  /** Wakes the delivery of this process after the commit; others hear the notification. */
  readonly wake?: WakeDelivery
  /** Opens the secrets of pairwise identifiers; without it a stream that has them cannot be served. */
  readonly sealer?: Pick<Sealer, 'open'>
}

/** How many deliveries one statement queues: far below the number of parameters that it may have. */
const BATCH_SIZE = 1_000

/**
 * Creates the reaction that queues, for each device whose word of compliance has changed, one SET per
 * stream that asked for compliance changes and is not disabled. The caller holds the locks of the
 * devices, which orders the events of a device.
 */
export function createEnqueueSets({
  wake = () => undefined,
  sealer,
}: EnqueueSetsDependencies = {}): OnDeviceStatusChanged {
  return async (change, statusChanges) => {
    const moved = statusChanges.filter(
      ({ previous, current }) => previous.compliance !== current.compliance,
    )
    if (moved.length === 0) return
    const streams = await listReceivingStreams(change.tx, DEVICE_COMPLIANCE_CHANGE)
    const deliveries = moved.flatMap((statusChange) =>
      streams.flatMap((stream) => toDelivery(change, stream, statusChange, sealer) ?? []),
    )
    for (let start = 0; start < deliveries.length; start += BATCH_SIZE) {
      await enqueueDeliveries(change, deliveries.slice(start, start + BATCH_SIZE), wake)
    }
  }
}

function toDelivery(
  change: Change,
  stream: StreamRow,
  statusChange: DeviceStatusChange,
  sealer: Pick<Sealer, 'open'> | undefined,
): NewDelivery | undefined {
  const eventId = newUuid()
  const body = toComplianceClaims(stream, eventId, statusChange, change, sealer)
  if (body === undefined) return undefined
  return {
    destinationId: stream.destination_id,
    eventId,
    eventType: DEVICE_COMPLIANCE_CHANGE,
    subjectKey: `device:${statusChange.device.id}`,
    body,
  }
}

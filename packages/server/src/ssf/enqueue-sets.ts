/*
 * Turns a changed device status into queued SETs, in the same transaction. The only place where
 * compliance events begin; sending them is the delivery engine's.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { enqueueDeliveries, type WakeDelivery } from '../delivery/enqueue-deliveries.ts'
import type { OnDeviceStatusChanged } from '../devices/device-status-change.ts'
import { newUuid } from '../platform/ids.ts'
import { toComplianceClaims } from './set-claims.ts'
import { listReceivingStreams } from './streams/stream-store.ts'

export interface EnqueueSetsDependencies {
  /** Wakes the delivery of this process after the commit; others hear the notification. */
  readonly wake?: WakeDelivery
}

/**
 * Creates the reaction that queues one SET per stream that asked for compliance changes and is not
 * disabled, when the word of compliance has changed. The caller holds the lock of the device, which
 * orders the events of a device.
 */
export function createEnqueueSets({
  wake = () => undefined,
}: EnqueueSetsDependencies = {}): OnDeviceStatusChanged {
  return async (change, statusChange) => {
    if (statusChange.previous.compliance === statusChange.current.compliance) return
    const streams = await listReceivingStreams(change.tx, DEVICE_COMPLIANCE_CHANGE)
    const deliveries = streams.flatMap((stream) => {
      const eventId = newUuid()
      const body = toComplianceClaims(stream, eventId, statusChange, change)
      return body === undefined
        ? []
        : {
            destinationId: stream.destination_id,
            eventId,
            eventType: DEVICE_COMPLIANCE_CHANGE,
            subjectKey: `device:${statusChange.device.id}`,
            body,
          }
    })
    await enqueueDeliveries(change, deliveries, wake)
  }
}

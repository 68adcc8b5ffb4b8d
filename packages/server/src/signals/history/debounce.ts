/*
 * Debounce of devices that flap: that a device is compliant again is held back for a while, and when it
 * does not last, neither it nor the return of the old state is sent. The first bad state is never
 * delayed, and what is sent in the end is the last state.
 */
import type { DeviceStatusChange } from '../../changes/domain-event.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { DeliveryCause } from '../dispatch/delivery-store.ts'
import type { Stream } from '../streams/stream-store.ts'
import { discardWaitingRecoveries } from './debounce-store.ts'

/**
 * How long the changes are held back for a stream, in milliseconds; a change that cancels out with an earlier one is
 * absent. Each device occurs at most once, and the caller holds the locks of the devices.
 */
export async function debounceChanges(
  cause: DeliveryCause,
  { debounceSeconds: seconds, destinationId }: Stream,
  statusChanges: readonly DeviceStatusChange[],
): Promise<ReadonlyMap<DeviceStatusChange, number>> {
  if (seconds === 0) return new Map(statusChanges.map((statusChange) => [statusChange, 0]))
  const relapses = statusChanges.filter(({ current }) => current.compliance === 'not-compliant')
  const cancelled = await discardWaitingRecoveries(
    cause,
    destinationId,
    relapses.map(({ device }) => device.id),
  )
  return new Map(
    statusChanges
      .filter(
        ({ current, device }) => current.compliance === 'compliant' || !cancelled.has(device.id),
      )
      .map((item) => [item, item.current.compliance === 'compliant' ? seconds * SECOND_MS : 0]),
  )
}

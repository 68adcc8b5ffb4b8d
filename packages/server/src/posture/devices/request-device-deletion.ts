import type { Change } from '../../changes/change.ts'
import { resetFirstDeviceTrust } from '../../people/people/first-device-trust.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { deleteCheckRefreshes, DEVICE_DELETION_CHANNEL } from './device-deletion-store.ts'
import {
  getDeviceForUpdate,
  notifyDeviceChanged,
  updateDevice,
  type Device,
} from './device-store.ts'

/**
 * Marks a device for deletion after the delay and disables its agent at once, so that it neither
 * reports nor enrolls. The trust that an owner gave it as a first device is given back when it was the
 * owner's only one. Until the deletion is done it can be cancelled. Idempotent: a second request
 * leaves the first one as it is.
 *
 * @throws AppError `not_found`
 */
export async function requestDeviceDeletion(
  change: Change,
  deviceId: string,
  delaySeconds: number,
): Promise<Device> {
  const { tx, at, origin } = change
  const device = await getDeviceForUpdate(tx, deviceId)
  if (device.deletionRequestedAt !== null) return device
  const dueAt = new Date(at.getTime() + delaySeconds * SECOND_MS)
  const marked = await updateDevice(tx, device.id, {
    deletionRequestedAt: at,
    deletionRequestedBy: origin.actor.name,
    deletionDueAt: dueAt,
    nodeKeyHash: null,
    agentDisabledAt: device.agentDisabledAt ?? at,
    updatedAt: at,
  })
  await deleteCheckRefreshes(tx, device.id)
  change.recordAudit({
    action: 'device.deletion_requested',
    target: { type: 'device', id: device.id },
    description: `requested the deletion of ${device.name}`,
    before: { deletion_due_at: null },
    after: { deletion_due_at: dueAt.toISOString() },
  })
  change.recordEvent({ type: 'device.dismissed', deviceId: device.id })
  if (device.ownerPersonId !== null) await resetFirstDeviceTrust(change, device.ownerPersonId)
  await notifyDeviceChanged(tx, device.id)
  change.tellDueAfterCommit(DEVICE_DELETION_CHANNEL, dueAt)
  return marked
}

import type { Change } from '../../changes/change.ts'
import { spendFirstDeviceTrust } from '../../people/people/person-store.ts'
import { conflict } from '../../platform/app-error.ts'
import {
  getDeviceForUpdate,
  notifyDeviceChanged,
  updateDevice,
  type Device,
} from './device-store.ts'

/**
 * Keeps a device that was to be deleted: its agent may enroll again, unless it was disabled before,
 * and its owner's first trust is spent on it again.
 *
 * @throws AppError `not_found`; `conflict` when nobody asked for its deletion
 */
export async function cancelDeviceDeletion(change: Change, deviceId: string): Promise<Device> {
  const { tx, at } = change
  const device = await getDeviceForUpdate(tx, deviceId)
  const { deletionRequestedAt: requestedAt, deletionDueAt: dueAt } = device
  if (requestedAt === null) {
    throw conflict(`The device ${device.id} is not to be deleted.`)
  }
  // Only the request itself disables an agent at its own time.
  const wasDisabledByRequest = device.agentDisabledAt?.getTime() === requestedAt.getTime()
  const kept = await updateDevice(tx, device.id, {
    deletionRequestedAt: null,
    deletionRequestedBy: null,
    deletionDueAt: null,
    agentDisabledAt: wasDisabledByRequest ? null : device.agentDisabledAt,
    updatedAt: at,
  })
  change.recordAudit({
    action: 'device.deletion_cancelled',
    target: { type: 'device', id: device.id },
    description: `cancelled the deletion of ${device.name}`,
    before: { deletion_due_at: dueAt?.toISOString() ?? null },
    after: { deletion_due_at: null },
  })
  if (device.ownerPersonId !== null) {
    await spendFirstDeviceTrust(tx, [device.ownerPersonId], device.registeredAt ?? at)
  }
  await notifyDeviceChanged(tx, device.id)
  return kept
}

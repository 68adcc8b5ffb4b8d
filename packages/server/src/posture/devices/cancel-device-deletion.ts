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
  const { deletion_requested_at: requestedAt, deletion_due_at: dueAt } = device
  if (requestedAt === null) {
    throw conflict(`The device ${device.id} is not to be deleted.`)
  }
  // Only the request itself disables an agent at its own time.
  const wasDisabledByRequest = device.agent_disabled_at?.getTime() === requestedAt.getTime()
  const kept = await updateDevice(tx, device.id, {
    deletion_requested_at: null,
    deletion_requested_by: null,
    deletion_due_at: null,
    agent_disabled_at: wasDisabledByRequest ? null : device.agent_disabled_at,
    updated_at: at,
  })
  change.recordAudit({
    action: 'device.deletion_cancelled',
    target: { type: 'device', id: device.id },
    description: `cancelled the deletion of ${device.name}`,
    before: { deletion_due_at: dueAt?.toISOString() ?? null },
    after: { deletion_due_at: null },
  })
  if (device.owner_person_id !== null) {
    await spendFirstDeviceTrust(tx, device.owner_person_id, device.registered_at ?? at)
  }
  await notifyDeviceChanged(tx, device.id)
  return kept
}

import type { Change } from '../../changes/change.ts'
import { deleteDeviceRow } from './device-deletion-store.ts'
import { notifyDeviceChanged, type Device } from './device-store.ts'
import { lockHardware } from './hardware-duplicate-store.ts'
import { upsertRemovedHost } from './removed-host-store.ts'
import { settleHardwareDuplicates } from './settle-hardware-duplicates.ts'

/**
 * Deletes a locked device with its results, issues, memberships and history; counters follow in the
 * same change. Its host is kept out until it comes with a newer enrollment secret or is readmitted.
 * Audit entries, sign-ins and events that are queued for receivers stay.
 */
export async function deleteDevice(change: Change, device: Device): Promise<void> {
  const { tx, at } = change
  await upsertRemovedHost(tx, {
    hostIdentifier: device.hostIdentifier,
    deviceName: device.name,
    removedAt: at,
  })
  await lockHardware(tx, [device])
  await deleteDeviceRow(tx, device.id)
  await settleHardwareDuplicates(change, [{ ...device, change }])
  await notifyDeviceChanged(tx, device.id)
  change.recordEvent({
    type: 'devices.destroyed',
    device: { id: device.id, name: device.name },
    authState: device.authState,
    ownerPersonId: device.ownerPersonId,
  })
  change.recordAudit({
    action: 'device.deleted',
    target: { type: 'device', id: device.id },
    description: `deleted ${device.name}`,
    before: {
      host_identifier: device.hostIdentifier,
      hardware_uuid: device.hardwareUuid,
      serial: device.serial,
      owner_person_id: device.ownerPersonId,
      auth_state: device.authState,
      deletion_requested_by: device.deletionRequestedBy,
      deletion_requested_at: device.deletionRequestedAt?.toISOString() ?? null,
    },
  })
}

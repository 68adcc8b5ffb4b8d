import type { Change } from '../../changes/change.ts'
import { updateDuplicates, type Hardware } from './hardware-duplicate-store.ts'

/**
 * Makes `duplicate_hardware_since` true of the devices with this hardware, after one of them has come, gone or
 * changed. Admins are told of each device that is concerned: by the audit log, and by an event when it has
 * become one of several. Idempotent. The hardware is locked.
 */
export async function settleHardwareDuplicates(change: Change, hardware: Hardware): Promise<void> {
  if (hardware.serial === null && hardware.hardwareUuid === null) return
  for (const device of await updateDuplicates(change.tx, hardware, change.at)) {
    const { id, name, serial, hardwareUuid, isDuplicate } = device
    change.recordAudit({
      action: isDuplicate ? 'device.hardware_duplicated' : 'device.hardware_unique',
      target: { type: 'device', id },
      description: isDuplicate
        ? `found another device with the serial or hardware UUID of ${name}`
        : `found no other device with the hardware of ${name} any more`,
      after: { serial, hardware_uuid: hardwareUuid },
    })
    if (isDuplicate) change.recordEvent({ type: 'devices.hardware_duplicated', deviceId: id })
  }
}

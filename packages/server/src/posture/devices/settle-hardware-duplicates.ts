import type { Change } from '../../changes/change.ts'
import { updateDuplicates, type Hardware } from './hardware-duplicate-store.ts'

/** Hardware of a device that has come, gone or changed, and the change in which it did. */
export interface ChangedHardware extends Hardware {
  readonly change: Change
}

/**
 * Makes `duplicate_hardware_since` true of the devices with this hardware, after some of them have come, gone or
 * changed. Admins are told of each device that is concerned: by the audit log, and by an event when it has
 * become one of several. Idempotent. The hardware is locked.
 */
export async function settleHardwareDuplicates(
  whole: Change,
  changed: readonly ChangedHardware[],
): Promise<void> {
  const told = changed.filter(
    ({ serial, hardwareUuid }) => serial !== null || hardwareUuid !== null,
  )
  if (told.length === 0) return
  for (const device of await updateDuplicates(whole.tx, told, whole.at)) {
    const { id, name, serial, hardwareUuid, isDuplicate } = device
    const { change } = told.find((hardware) => isShared(hardware, device)) ?? { change: whole }
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

/** Whether two machines have some hardware in common. */
function isShared(a: Hardware, b: Hardware): boolean {
  return isSame(a.serial, b.serial) || isSame(a.hardwareUuid, b.hardwareUuid)
}

function isSame(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a.toLowerCase() === b.toLowerCase()
}

import type { DeviceStatusChange } from '../../changes/domain-event.ts'
import type { LockedDevice } from './device-status-store.ts'

type DeviceFacts = 'id' | 'name' | 'platform' | 'ownerPersonId' | 'ownerEmail'

/** The facts about a device that the event of its status carries. */
export function toDeviceOfChange({
  id,
  name,
  platform,
  ownerPersonId: personId,
  ownerEmail: email,
}: Pick<LockedDevice, DeviceFacts>): DeviceStatusChange['device'] {
  const owner = personId === null || email === null ? null : { personId, email }
  return { id, name, platform, owner }
}

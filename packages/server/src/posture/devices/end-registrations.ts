import type { Change } from '../../changes/change.ts'
import { listDeviceIdsOfOwner } from './device-store.ts'
import { setDeviceOwner } from './set-device-owner.ts'

/** Ends the registration of every device of a person, each with its audit entry. Idempotent. */
export async function endRegistrations(change: Change, personId: string): Promise<void> {
  for (const deviceId of await listDeviceIdsOfOwner(change.tx, personId)) {
    await setDeviceOwner(change, deviceId, null)
  }
}

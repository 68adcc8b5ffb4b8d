/*
 * Trust on first use: the first device of a person is trusted after a sign-in, further ones need
 * somebody's approval. Owns whether a person still has that first trust to give; what is done with it
 * is decided where people sign in.
 */
import type { Change } from '../../changes/change.ts'
import { lockPerson, updateFirstDeviceTrustReset } from './person-store.ts'

/**
 * Lets the next device of a person be trusted without approval, unless the person still has a
 * registered device that nobody has asked to delete. Call it after the device has gone. Idempotent.
 */
export async function resetFirstDeviceTrust(change: Change, personId: string): Promise<void> {
  await lockPerson(change.tx, personId)
  const email = await updateFirstDeviceTrustReset(change.tx, personId, change.at)
  if (email === undefined) return
  change.recordAudit({
    action: 'person.first_device_trust_reset',
    target: { type: 'person', id: personId },
    description: `lets the next device of ${email} be trusted without approval`,
  })
}

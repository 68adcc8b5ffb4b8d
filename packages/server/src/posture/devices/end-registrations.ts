import type { Transaction } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { ChangedMeanwhileError } from '../../platform/db/transient-conflict.ts'
import type { Schema } from '../../schema/schema.ts'
import { lockDeviceRows } from './device-status-store.ts'
import { listDeviceIdsOfOwner } from './device-store.ts'
import { setDeviceOwner } from './set-device-owner.ts'

/**
 * Locks every device of a person, who is to be locked afterwards. Answers what is to be called then: it begins the
 * change anew where the person has got a device meanwhile.
 */
export async function lockOwnedDevices(
  { tx }: Change,
  personId: string,
): Promise<() => Promise<void>> {
  const known = await listDeviceIdsOfOwner(tx, personId)
  await lockDeviceRows(tx, known)
  return async () => assertNoneGained(tx, personId, known)
}

/**
 * Sees that a locked person, who now neither gets nor loses a device, has none but these.
 *
 * @throws ChangedMeanwhileError
 */
export async function assertNoneGained(
  tx: Transaction<Schema>,
  personId: string,
  known: readonly string[],
): Promise<void> {
  const present = await listDeviceIdsOfOwner(tx, personId)
  if (present.some((id) => !known.includes(id))) throw new ChangedMeanwhileError()
}

/** Ends the registration of every device of a person, each with its audit entry. Idempotent. */
export async function endRegistrations(change: Change, personId: string): Promise<void> {
  for (const deviceId of await listDeviceIdsOfOwner(change.tx, personId)) {
    await setDeviceOwner(change, deviceId, null)
  }
}

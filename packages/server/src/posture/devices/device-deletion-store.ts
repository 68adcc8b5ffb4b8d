import { sql, type Kysely, type Transaction } from 'kysely'
import { findRecord } from '../../platform/db/record-table.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Device } from './device-store.ts'
import { rowsOf } from '../../schema/row-store.ts'

const devices = rowsOf('device', 'device')

/** The channel that tells the worker of a new time at which a device is to be deleted. */
export const DEVICE_DELETION_CHANNEL = 'device_deletion'

/** Locks the device whose deletion is due first, leaving out those in `exceptIds`; waits for none. */
export async function claimDueDeletion(
  tx: Transaction<Schema>,
  at: Date,
  exceptIds: readonly string[],
): Promise<Device | undefined> {
  return findRecord(
    tx
      .selectFrom('device')
      .selectAll()
      .where('deletion_due_at', '<=', at)
      .where(sql<boolean>`id <> all(${exceptIds}::bigint[])`)
      .orderBy('deletion_due_at')
      .orderBy('id')
      .limit(1)
      .forUpdate()
      .skipLocked(),
  )
}

/** When the next device is to be deleted. */
export async function findNextDeletion(db: Kysely<Schema>): Promise<Date | undefined> {
  return devices.findEarliest(db, 'deletion_due_at')
}

/** Deletes the row of a locked device with all that belongs to it alone. */
export const deleteDeviceRow = devices.remove

/** Forgets which reruns of checks a device owes. */
export async function deleteCheckRefreshes(
  tx: Transaction<Schema>,
  deviceId: string,
): Promise<void> {
  await tx.deleteFrom('check_refresh').where('device_id', '=', deviceId).execute()
}

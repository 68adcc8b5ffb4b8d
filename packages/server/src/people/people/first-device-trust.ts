/*
 * Trust on first use: the first device of a person is trusted after a sign-in, further ones need
 * somebody's approval. Owns whether a person still has that first trust to give; what is done with it
 * is decided where people sign in.
 */
import { sql, type Transaction } from 'kysely'
import type { Change } from '../../changes/change.ts'
import type { Schema } from '../../schema/schema.ts'

/** Locks a person's row until the transaction ends. Devices are locked before people. */
export async function lockPerson(tx: Transaction<Schema>, personId: string): Promise<void> {
  await sql`select from person where id = ${personId} for no key update`.execute(tx)
}

/** Notes that a person has a trusted device; the time of the first one stays. Idempotent. */
export async function spendFirstDeviceTrust(
  tx: Transaction<Schema>,
  personId: string,
  at: Date,
): Promise<void> {
  await tx
    .updateTable('person')
    .set({ first_device_trusted_at: at, updated_at: at })
    .where('id', '=', personId)
    .where('first_device_trusted_at', 'is', null)
    .execute()
}

/**
 * Lets the next device of a person be trusted without approval, unless the person still has a
 * registered device that nobody has asked to delete. Call it after the device has gone. Idempotent.
 */
export async function resetFirstDeviceTrust(change: Change, personId: string): Promise<void> {
  const { tx, at } = change
  await lockPerson(tx, personId)
  const reset = await tx
    .updateTable('person')
    .set({ first_device_trusted_at: null, updated_at: at })
    .where('id', '=', personId)
    .where('first_device_trusted_at', 'is not', null)
    .where(
      sql<boolean>`not exists (
        select from device where device.owner_person_id = ${personId}
          and device.registered_at is not null and device.deletion_requested_at is null)`,
    )
    .returning(['email'])
    .executeTakeFirst()
  if (reset === undefined) return
  change.recordAudit({
    action: 'person.first_device_trust_reset',
    target: { type: 'person', id: personId },
    description: `lets the next device of ${reset.email} be trusted without approval`,
  })
}

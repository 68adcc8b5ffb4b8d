import type { Insertable, Transaction, Updateable } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import type { RegistrationRequestTable } from '../../../schema/tables/device-tables.ts'
import type { RegistrationRequestRecord } from './registration-request-read.ts'

/** The request of a person for a device that nobody has decided yet. */
export async function findPendingRequest(
  tx: Transaction<Schema>,
  deviceId: string,
  personId: string,
): Promise<RegistrationRequestRecord | undefined> {
  return tx
    .selectFrom('registration_request')
    .selectAll()
    .where('device_id', '=', deviceId)
    .where('requester_person_id', '=', personId)
    .where('status', '=', 'pending')
    .executeTakeFirst()
}

export async function insertRegistrationRequest(
  tx: Transaction<Schema>,
  values: Insertable<RegistrationRequestTable>,
): Promise<RegistrationRequestRecord> {
  return tx
    .insertInto('registration_request')
    .values(values)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updateRegistrationRequest(
  tx: Transaction<Schema>,
  id: string,
  values: Updateable<RegistrationRequestTable>,
): Promise<RegistrationRequestRecord> {
  return tx
    .updateTable('registration_request')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

import type { Transaction } from 'kysely'
import { findRecord } from '../../../platform/db/record-table.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { RegistrationRequestRecord } from './registration-request-read.ts'
import { rowsOf } from '../../../schema/row-store.ts'

const requests = rowsOf('registration_request', 'registration request')

/** The request of a person for a device that nobody has decided yet. */
export async function findPendingRequest(
  tx: Transaction<Schema>,
  deviceId: string,
  personId: string,
): Promise<RegistrationRequestRecord | undefined> {
  return findRecord(
    tx
      .selectFrom('registration_request')
      .selectAll()
      .where('device_id', '=', deviceId)
      .where('requester_person_id', '=', personId)
      .where('status', '=', 'pending'),
  )
}

export const insertRegistrationRequest = requests.insert

export const updateRegistrationRequest = requests.update

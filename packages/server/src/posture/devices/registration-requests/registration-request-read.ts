import type { Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import { isDeprovisioned } from '../../../people/people/person-read.ts'
import { RecordList, type RowOf } from '../../../platform/search/record-list.ts'

/** What may become of a request for a registration. */
export const REGISTRATION_REQUEST_STATUSES = ['pending', 'approved', 'denied'] as const

/** Requests for registrations. */
export const REGISTRATION_REQUEST_LIST = new RecordList({
  noun: 'registration request',
  table: 'registration_request',
  fields: {
    status: { type: 'enum', values: REGISTRATION_REQUEST_STATUSES },
    requested_at: 'timestamp',
    requester_message: 'text',
    updated_at: 'timestamp',
  },
  select: (db: Kysely<Schema>) =>
    db
      .selectFrom('registration_request')
      .selectAll()
      .select(
        isDeprovisioned('registration_request.requester_person_id').as(
          'is_requester_deprovisioned',
        ),
      ),
})

/** A request for a registration as the API shows it. */
export type ListedRegistrationRequest = RowOf<typeof REGISTRATION_REQUEST_LIST>

/** A request for a registration. */
export type RegistrationRequestRecord = Omit<ListedRegistrationRequest, 'isRequesterDeprovisioned'>

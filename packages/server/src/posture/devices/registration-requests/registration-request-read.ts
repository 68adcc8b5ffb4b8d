import { sql, type Kysely, type Selectable } from 'kysely'
import type { PageWindow } from '../../../platform/db/page.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { RegistrationRequestTable } from '../../../schema/tables/device-tables.ts'
import type { SearchExpression, SearchField } from '../../../platform/search/search-field.ts'
import type { SearchColumns } from '../../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../../platform/search/searched-list.ts'

/** What may become of a request for a registration. */
export const REGISTRATION_REQUEST_STATUSES = ['pending', 'approved', 'denied'] as const

/** What requests for registrations can be searched by. */
export const REGISTRATION_REQUEST_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'status', type: 'enum', operators: [':'], values: REGISTRATION_REQUEST_STATUSES },
  { name: 'requested_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'requester_message', type: 'text', operators: [':', '~'] },
  { name: 'updated_at', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  status: sql.ref('registration_request.status'),
  requested_at: sql.ref('registration_request.requested_at'),
  requester_message: sql.ref('registration_request.requester_message'),
  updated_at: sql.ref('registration_request.updated_at'),
}

/** Where the fields of the list are. */
export const REGISTRATION_REQUEST_LIST: SearchedList = {
  table: 'registration_request',
  key: 'id',
  fields: REGISTRATION_REQUEST_SEARCH_FIELDS,
  columns: COLUMNS,
}

/** A request for a registration as the API shows it. */
export type RegistrationRequestRecord = Selectable<RegistrationRequestTable>

/** A page of requests by ascending id. */
export async function listRegistrationRequests(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<RegistrationRequestRecord[]> {
  return readPage(db, REGISTRATION_REQUEST_LIST, { search, window }, (source, isOnPage) =>
    source
      .selectFrom('registration_request')
      .selectAll()
      .where(isOnPage)
      .orderBy('registration_request.id')
      .limit(window.limit)
      .execute(),
  )
}

/** The request with this id; the id is a decimal number within bigint. */
export async function findRegistrationRequest(
  db: Kysely<Schema>,
  id: string,
): Promise<RegistrationRequestRecord | undefined> {
  return db.selectFrom('registration_request').selectAll().where('id', '=', id).executeTakeFirst()
}

import { sql, type Kysely } from 'kysely'
import type { PageWindow } from '../../../platform/db/page.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { SearchExpression, SearchField } from '../../../platform/search/search-field.ts'
import type { SearchColumns } from '../../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../../platform/search/searched-list.ts'

/** What may become of a request for an exemption. */
export const EXEMPTION_REQUEST_STATUSES = ['open', 'withdrawn', 'approved', 'denied'] as const

/** What requests for exemptions can be searched by. */
export const EXEMPTION_REQUEST_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'status', type: 'enum', operators: [':'], values: EXEMPTION_REQUEST_STATUSES },
  { name: 'requested_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'requester_message', type: 'text', operators: [':', '~'] },
  { name: 'updated_at', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  status: sql.ref('exemption_request.status'),
  requested_at: sql.ref('exemption_request.requested_at'),
  requester_message: sql.ref('exemption_request.requester_message'),
  updated_at: sql.ref('exemption_request.updated_at'),
}

/** Where the fields of the list are. */
export const EXEMPTION_REQUEST_LIST: SearchedList = {
  table: 'exemption_request',
  key: 'id',
  fields: EXEMPTION_REQUEST_SEARCH_FIELDS,
  columns: COLUMNS,
}

/** A page of requests by ascending id. */
export async function listExemptionRequests(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<ExemptionRequestRecord[]> {
  return readPage(db, EXEMPTION_REQUEST_LIST, { search, window }, (source, isOnPage) =>
    selectRequests(source)
      .where(isOnPage)
      .orderBy('exemption_request.id')
      .limit(window.limit)
      .execute(),
  )
}

/** The request with this id; the id is a decimal number within bigint. */
export async function findExemptionRequest(
  db: Kysely<Schema>,
  id: string,
): Promise<ExemptionRequestRecord | undefined> {
  return selectRequests(db).where('exemption_request.id', '=', id).executeTakeFirst()
}

function selectRequests(db: Kysely<Schema>) {
  return db
    .selectFrom('exemption_request')
    .selectAll()
    .select(
      sql<string[]>`coalesce((
        select json_agg(l.issue_id::text order by l.issue_id) from exemption_request_issue l
        where l.exemption_request_id = exemption_request.id), '[]')`.as('issue_ids'),
    )
}

/** A request for an exemption as the API shows it. */
export type ExemptionRequestRecord = Awaited<
  ReturnType<ReturnType<typeof selectRequests>['execute']>
>[number]

import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import { isDeprovisioned } from '../../../people/people/person-read.ts'
import { RecordList, type RowOf } from '../../../platform/search/record-list.ts'
import type { SearchClause } from '../../../platform/search/search-field.ts'
import { clauseToSql } from '../../../platform/search/search-to-sql.ts'

/** What may become of a request for an exemption. */
export const EXEMPTION_REQUEST_STATUSES = ['open', 'withdrawn', 'approved', 'denied'] as const

/** Requests for exemptions. */
export const EXEMPTION_REQUEST_LIST = new RecordList({
  noun: 'exemption request',
  table: 'exemption_request',
  fields: {
    status: { type: 'enum', values: EXEMPTION_REQUEST_STATUSES },
    requested_at: 'timestamp',
    requester_message: 'text',
    updated_at: 'timestamp',
    issue_id: { type: 'id', column: isAboutIssue },
  },
  select: selectRequests,
})

/** An issue is asked for a few times at most. */
function isAboutIssue(clause: SearchClause): Expression<SqlBool> {
  return sql<SqlBool>`exemption_request.id = any(array(
    select l.exemption_request_id from exemption_request_issue l
    where ${clauseToSql(sql.ref('l.issue_id'), clause)}))`
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
    .select(
      isDeprovisioned('exemption_request.requester_person_id').as('is_requester_deprovisioned'),
    )
}

/** A request for an exemption as the API shows it. */
export type ExemptionRequestRecord = RowOf<typeof EXEMPTION_REQUEST_LIST>

import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { SearchClause } from '../../platform/search/search-field.ts'
import { foreignKeyField } from '../../platform/search/search-to-sql.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'

/** Issues, open and resolved. */
export const ISSUE_LIST = new RecordList({
  noun: 'issue',
  table: 'issue',
  fields: {
    id: { type: 'id', list: true },
    detected_at: 'timestamp',
    resolved_at: 'timestamp',
    blocks_device_at: 'timestamp',
    last_rechecked_at: 'timestamp',
    title: 'text',
    issue_key: 'text',
    issue_value: 'text',
    exempted: { type: 'boolean', column: isExempted },
    check_id: {
      type: 'id',
      operators: [':', '~'],
      column: foreignKeyField({ by: 'issue.check_id', table: 'posture_check' }),
    },
    device_id: {
      type: 'id',
      operators: [':', '~'],
      column: foreignKeyField({ by: 'issue.device_id', table: 'device' }),
    },
    updated_at: 'timestamp',
  },
  select: (db: Kysely<Schema>) => db.selectFrom('issue').selectAll(),
})

/** An issue as the API shows it. */
export type IssueRecord = RowOf<typeof ISSUE_LIST>

/** That an issue is open and about a device, as a condition on issues. */
export function isOpenIssueOn(deviceId: string): Expression<SqlBool> {
  return sql<SqlBool>`issue.device_id = ${deviceId} and issue.resolved_at is null`
}

function isExempted({ values: [wanted] }: SearchClause): Expression<SqlBool> {
  return wanted === true
    ? sql<SqlBool>`issue.exempted_at is not null`
    : sql<SqlBool>`issue.exempted_at is null`
}

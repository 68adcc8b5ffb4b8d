import { sql, type Expression, type Kysely, type Selectable, type SqlBool } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type { IssueTable } from '../../schema/tables/issue-tables.ts'
import type { SearchExpression, SearchField } from '../../platform/search/search-field.ts'
import { foreignKeyField, type SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'

/** What issues can be searched by, in every list of them. */
export const ISSUE_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'id', type: 'id', operators: [':'], list: true },
  { name: 'detected_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'resolved_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'blocks_device_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'last_rechecked_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'title', type: 'text', operators: [':', '~'] },
  { name: 'issue_key', type: 'text', operators: [':', '~'] },
  { name: 'issue_value', type: 'text', operators: [':', '~'] },
  { name: 'exempted', type: 'boolean', operators: [':'] },
  { name: 'check_id', type: 'id', operators: [':', '~'] },
  { name: 'device_id', type: 'id', operators: [':', '~'] },
  { name: 'updated_at', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  id: sql.ref('issue.id'),
  detected_at: sql.ref('issue.detected_at'),
  resolved_at: sql.ref('issue.resolved_at'),
  blocks_device_at: sql.ref('issue.blocks_device_at'),
  last_rechecked_at: sql.ref('issue.last_rechecked_at'),
  title: sql.ref('issue.title'),
  issue_key: sql.ref('issue.issue_key'),
  issue_value: sql.ref('issue.issue_value'),
  exempted: ({ values: [isExempted] }) =>
    isExempted === true
      ? sql<SqlBool>`issue.exempted_at is not null`
      : sql<SqlBool>`issue.exempted_at is null`,
  check_id: foreignKeyField({ by: 'issue.check_id', table: 'posture_check' }),
  device_id: foreignKeyField({ by: 'issue.device_id', table: 'device' }),
  updated_at: sql.ref('issue.updated_at'),
}

/** Where the fields of the list are. */
export const ISSUE_LIST: SearchedList = {
  table: 'issue',
  key: 'id',
  fields: ISSUE_SEARCH_FIELDS,
  columns: COLUMNS,
}

/** An issue as the API shows it. */
export type IssueRecord = Selectable<IssueTable>

/** Which issues a page shows. */
export interface IssueListRequest {
  readonly search: SearchExpression | undefined
  readonly window: PageWindow
  /** Only open issues of this device; without it open and resolved issues of all. */
  readonly openOnDeviceId?: string
  /** Only the issues that this, about columns of the issue itself, holds for; open or not. */
  readonly condition?: Expression<SqlBool>
}

/** A page of issues by ascending id. */
export async function listIssues(
  db: Kysely<Schema>,
  { search, window, openOnDeviceId, condition = sql<SqlBool>`true` }: IssueListRequest,
): Promise<IssueRecord[]> {
  const scope =
    openOnDeviceId === undefined
      ? condition
      : sql<SqlBool>`${condition} and issue.device_id = ${openOnDeviceId} and issue.resolved_at is null`
  return readPage(db, ISSUE_LIST, { search, window, scope }, (source, isOnPage) =>
    source
      .selectFrom('issue')
      .selectAll()
      .where(isOnPage)
      .orderBy('issue.id')
      .limit(window.limit)
      .execute(),
  )
}

/** The issues with these ids. */
export async function listIssuesWithIds(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<IssueRecord[]> {
  return db.selectFrom('issue').selectAll().where('id', 'in', ids).execute()
}

/** The issue with this id, open or resolved; the id is a decimal number within bigint. */
export async function findIssue(db: Kysely<Schema>, id: string): Promise<IssueRecord | undefined> {
  return db.selectFrom('issue').selectAll().where('id', '=', id).executeTakeFirst()
}

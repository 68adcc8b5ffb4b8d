import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import type { CheckStatus } from '../../schema/status-values.ts'
import type { SearchExpression, SearchField } from '../../platform/search/search-field.ts'
import { referencedField, type SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'

/** The statuses that a result can have. */
export const CHECK_RESULT_STATUSES = [
  'unknown',
  'passing',
  'failing',
  'errored',
  'inapplicable',
  'stale',
  'pending',
  'out_of_scope',
] as const satisfies readonly CheckStatus[]

/** What results can be searched by, in every list of them. */
export const CHECK_RESULT_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'device_display_name', type: 'text', operators: [':', '~'] },
  { name: 'ran_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'check_name', type: 'text', operators: [':', '~'] },
  { name: 'status', type: 'enum', operators: [':'], values: CHECK_RESULT_STATUSES },
  { name: 'updated_at', type: 'timestamp', operators: ['<', '>'] },
]

function toColumns(before: Date): SearchColumns {
  return {
    device_display_name: referencedField(
      { by: 'check_result.device_id', table: 'device' },
      sql.ref('device.name'),
    ),
    ran_at: sql.ref('check_result.ran_at'),
    check_name: referencedField(
      { by: 'check_result.check_id', table: 'posture_check' },
      sql.ref('posture_check.name'),
    ),
    status: ({ values: [status] }) => sql<SqlBool>`exists (
      select from posture_check
      where posture_check.id = check_result.check_id and ${readsAs(before, String(status))})`,
    updated_at: sql.ref('check_result.updated_at'),
  }
}

/** Where the fields of the lists are; results of runs before `before` read as stale. */
export function checkResultList(before: Date): SearchedList {
  return {
    table: 'check_result',
    key: 'id',
    fields: CHECK_RESULT_SEARCH_FIELDS,
    columns: toColumns(before),
    // The results of a check lie far apart: each is a page of its own to read.
    nearRows: 1_000,
  }
}

/** How many rows of one result are shown, failing ones first. */
export const SHOWN_ROWS_MAX = 100

/** Which results a page shows. */
export interface CheckResultListRequest {
  readonly search: SearchExpression | undefined
  readonly window: PageWindow
  /** The results of one device, or of one check. */
  readonly of: { readonly deviceId: string } | { readonly checkId: string }
  readonly now: Date
  /** Results of runs before this time read as stale. */
  readonly staleBefore: Date
}

/** A page of the present results of a device or a check by ascending id. */
export async function listCheckResults(
  db: Kysely<Schema>,
  request: CheckResultListRequest,
): Promise<CheckResultRecord[]> {
  const { search, window, of } = request
  const scope =
    'deviceId' in of
      ? sql<SqlBool>`check_result.device_id = ${of.deviceId}`
      : sql<SqlBool>`check_result.check_id = ${of.checkId}`
  return readPage(
    db,
    checkResultList(request.staleBefore),
    { search, window, scope },
    (source, isOnPage) =>
      selectCheckResults(source, request)
        .where(isOnPage)
        .orderBy('check_result.id')
        .limit(window.limit)
        .execute(),
  )
}

function selectCheckResults(
  db: Kysely<Schema>,
  { now, staleBefore }: Pick<CheckResultListRequest, 'now' | 'staleBefore'>,
) {
  return db
    .selectFrom('check_result')
    .innerJoin('posture_check', 'posture_check.id', 'check_result.check_id')
    .innerJoin('device', 'device.id', 'check_result.device_id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('issue')
          .select(['issue.exemption_reason', 'issue.exemption_expires_at'])
          .whereRef('issue.device_id', '=', 'check_result.device_id')
          .whereRef('issue.check_id', '=', 'check_result.check_id')
          .where('issue.resolved_at', 'is', null)
          .where('issue.exempted_at', 'is not', null)
          .where(
            sql<boolean>`(issue.exemption_expires_at is null or issue.exemption_expires_at > ${now})`,
          )
          .orderBy('issue.id')
          .limit(1)
          .as('exemption'),
      (join) => join.onTrue(),
    )
    .select([
      'check_result.id',
      'check_result.check_id',
      'posture_check.slug as check_slug',
      'posture_check.name as check_name',
      'check_result.device_id',
      'device.name as device_name',
      'check_result.ran_at',
      'exemption.exemption_reason',
      'exemption.exemption_expires_at',
      readStatus(staleBefore).as('status'),
      sql<
        OsqueryRow[]
      >`jsonb_path_query_array(check_result.rows, ${sql.lit(`$[0 to ${SHOWN_ROWS_MAX - 1}]`)}::jsonpath)`.as(
        'rows',
      ),
    ])
}

/** A result as the API shows it. */
export type CheckResultRecord = Awaited<
  ReturnType<ReturnType<typeof selectCheckResults>['execute']>
>[number]

/**
 * The status of `check_result` as it reads at present, for queries that join its `posture_check`.
 * Only checks that devices run by schedule grow stale: other systems report when they please.
 */
function readStatus(before: Date): RawBuilder<CheckStatus> {
  return sql<CheckStatus>`case when ${isOutdated(before)} then 'stale' else check_result.status end`
}

/** That `readStatus` is this status, in conditions that indexes of the columns answer. */
function readsAs(before: Date, status: string): RawBuilder<SqlBool> {
  return status === 'stale'
    ? sql<SqlBool>`(${isOutdated(before)} or check_result.status = 'stale')`
    : sql<SqlBool>`(check_result.status = ${status} and (${isOutdated(before)}) is not true)`
}

function isOutdated(before: Date): RawBuilder<SqlBool> {
  return sql<SqlBool>`check_result.ran_at < ${before} and posture_check.type <> 'external'
    and check_result.status not in ('pending', 'out_of_scope')`
}

import { sql, type Kysely, type Selectable } from 'kysely'
import { afterKey, type PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type {
  LiveQueryResultTable,
  LiveQueryTargetTable,
} from '../../schema/tables/live-query-tables.ts'
import type { SearchExpression, SearchField } from '../../platform/search/search-field.ts'
import type { SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'

/** What the results of a campaign can be searched by. */
export const LIVE_RESULT_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'error_message', type: 'text', operators: [':', '~'] },
  { name: 'warning_message', type: 'text', operators: [':', '~'] },
]

const COLUMNS: SearchColumns = {
  error_message: sql.ref('live_query_result.error_message'),
  warning_message: sql.ref('live_query_result.warning_message'),
}

/** Where the fields of the list are. */
export const LIVE_RESULT_LIST: SearchedList = {
  table: 'live_query_result',
  key: 'id',
  fields: LIVE_RESULT_SEARCH_FIELDS,
  columns: COLUMNS,
}

/** The answer of one device. */
export type LiveResultRecord = Selectable<LiveQueryResultTable>

/** A page of the answers to a campaign in the order in which they came. */
export async function listLiveResults(
  db: Kysely<Schema>,
  campaignId: string,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<LiveResultRecord[]> {
  return readPage(
    db,
    LIVE_RESULT_LIST,
    {
      search,
      window,
      scope: sql`live_query_result.campaign_id = ${campaignId}`,
    },
    (source, isOnPage) =>
      source
        .selectFrom('live_query_result')
        .selectAll()
        .where(isOnPage)
        .orderBy('id')
        .limit(window.limit)
        .execute(),
  )
}

/** A device that a campaign is put to. */
export type LiveTargetRecord = Selectable<LiveQueryTargetTable>

/** A page of the devices of a campaign by ascending id, in any or in one state. */
export async function listLiveTargets(
  db: Kysely<Schema>,
  campaignId: string,
  state: LiveTargetRecord['state'] | undefined,
  window: PageWindow,
): Promise<LiveTargetRecord[]> {
  return db
    .selectFrom('live_query_target')
    .selectAll()
    .where('campaign_id', '=', campaignId)
    .where(afterKey(sql.ref('live_query_target.device_id'), window))
    .$if(state !== undefined, (query) =>
      state === undefined ? query : query.where('state', '=', state),
    )
    .orderBy('device_id')
    .limit(window.limit)
    .execute()
}

import { sql, type Expression, type Kysely, type Selectable, type SqlBool } from 'kysely'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'

/** What devices answered to campaigns, in the order in which it came. */
export const LIVE_RESULT_LIST = new RecordList({
  noun: 'live query result',
  table: 'live_query_result',
  fields: {
    error_message: 'text',
    warning_message: 'text',
  },
  select: (db: Kysely<Schema>) => db.selectFrom('live_query_result').selectAll(),
})

/** The answer of one device. */
export type LiveResultRecord = RowOf<typeof LIVE_RESULT_LIST>

/** That a result answers a campaign, as a condition on results. */
export function isAnswerTo(campaignId: string): Expression<SqlBool> {
  return sql<SqlBool>`live_query_result.campaign_id = ${campaignId}`
}

/** A device that a campaign is put to. */
export type LiveTargetRecord = Selectable<Schema['live_query_target']>

/** A page of the devices of a campaign by ascending id, in any or in one state. */
export async function listLiveTargets(
  db: Kysely<Schema>,
  campaignId: string,
  state: LiveTargetRecord['state'] | undefined,
  window: PageWindow,
): Promise<LiveTargetRecord[]> {
  const targets = db
    .selectFrom('live_query_target')
    .selectAll()
    .where('campaign_id', '=', campaignId)
    .$if(state !== undefined, (query) =>
      state === undefined ? query : query.where('state', '=', state),
    )
  return readPage(targets, 'live_query_target.device_id', window)
}

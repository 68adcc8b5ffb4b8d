import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import type { StoredRecord } from '../../schema/define-table.ts'
import { toRecord } from '../../platform/db/record-table.ts'
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
  select: (db: Kysely<Schema>) =>
    db
      .selectFrom('live_query_result')
      .innerJoin('device', 'device.id', 'live_query_result.device_id')
      .selectAll('live_query_result')
      .select('device.name as device_name'),
})

/** The answer of one device. */
export type LiveResultRecord = RowOf<typeof LIVE_RESULT_LIST>

/** That a result answers a campaign, as a condition on results. */
export function isAnswerTo(campaignId: string): Expression<SqlBool> {
  return sql<SqlBool>`live_query_result.campaign_id = ${campaignId}`
}

/** How long a device may be silent until it counts as offline, in minutes. */
const OFFLINE_AFTER_MINUTES = 10

/**
 * How far the question has come at a device. That it was sent is inferred: a device in contact since it was
 * asked has been given everything that it owed.
 */
type TargetProgress = 'queued' | 'sent' | 'offline' | 'answered' | 'failed' | 'denylisted'

/** A device that a campaign is put to. */
export interface LiveTargetRecord extends StoredRecord<'live_query_target'> {
  readonly deviceName: string
  readonly lastSeenAt: Date
  readonly errorMessage: string | null
  readonly progress: TargetProgress
}

/** A page of the devices of a campaign by ascending id, in any or in one state. */
export async function listLiveTargets(
  db: Kysely<Schema>,
  campaignId: string,
  state: LiveTargetRecord['state'] | undefined,
  window: PageWindow,
): Promise<LiveTargetRecord[]> {
  const seenAt = sql<Date>`coalesce(device_contact.last_seen_at, device.created_at)`
  const targets = db
    .selectFrom('live_query_target')
    .innerJoin('live_query_campaign as campaign', 'campaign.id', 'live_query_target.campaign_id')
    .innerJoin('device', 'device.id', 'live_query_target.device_id')
    .leftJoin('device_contact', 'device_contact.device_id', 'live_query_target.device_id')
    .leftJoin('live_query_result as result', (join) =>
      join
        .onRef('result.campaign_id', '=', 'live_query_target.campaign_id')
        .onRef('result.device_id', '=', 'live_query_target.device_id'),
    )
    .selectAll('live_query_target')
    .select(['device.name as device_name', 'result.error_message', seenAt.as('last_seen_at')])
    .select(
      sql<TargetProgress>`case
        when live_query_target.state = 'successful' then 'answered'
        when result.error_message ilike '%denylisted%' then 'denylisted'
        when live_query_target.state = 'errored' then 'failed'
        when ${seenAt} < now() - make_interval(mins => ${OFFLINE_AFTER_MINUTES}) then 'offline'
        when ${seenAt} > campaign.asked_at then 'sent'
        else 'queued' end`.as('progress'),
    )
    .where('live_query_target.campaign_id', '=', campaignId)
    .$if(state !== undefined, (query) =>
      state === undefined ? query : query.where('live_query_target.state', '=', state),
    )
  const rows = await readPage(targets, 'live_query_target.device_id', window)
  return rows.map(toRecord)
}

import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { analyseLiveQuery } from './analyse-live-query.ts'
import type { OpenCampaign } from './owed-queries.ts'
import { listRefusedNames, type RefusedNames } from './refused-names.ts'

/**
 * A published campaign with the devices that owe it an answer; undefined when there are none, and for one that
 * names what is refused by now.
 */
export async function findOpenCampaign(
  db: Kysely<Schema>,
  campaignId: string,
  refusedNames: RefusedNames,
): Promise<OpenCampaign | undefined> {
  const { rows } = await sql<{ sql: string; revision: number; deviceIds: string[] }>`
    select campaign.sql, campaign.revision, array_agg(target.device_id) as "deviceIds"
    from live_query_campaign campaign
    join live_query_target target on target.campaign_id = campaign.id
      and target.revision = campaign.revision and target.state = 'waiting'
    where campaign.id = ${campaignId} and campaign.published
    group by campaign.id
  `.execute(db)
  const [row] = rows
  const query = row === undefined ? undefined : analyseLiveQuery(row.sql)
  if (row === undefined || query?.kind !== 'query') return undefined
  if (listRefusedNames(row.sql, refusedNames).length > 0) return undefined
  return {
    campaignId,
    revision: row.revision,
    statement: query.statement,
    waitingDeviceIds: row.deviceIds,
  }
}

/** The campaigns that devices owe answers to, by ascending id. */
export async function listOpenCampaignIds(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from live_query_campaign campaign
    where published and (
      select sum(counter.waiting) from live_query_counter counter
      where counter.campaign_id = campaign.id) > 0
    order by id
  `.execute(db)
  return rows.map(({ id }) => id)
}

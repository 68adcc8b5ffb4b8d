import { sql, type Kysely, type Transaction } from 'kysely'
import type { StoredRecord } from '../../schema/define-table.ts'
import { notify } from '../../platform/db/listener.ts'
import type { Schema } from '../../schema/schema.ts'
import { LIVE_QUERY_CHANNEL } from './live-query.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'
import { rowsOf } from '../../schema/row-store.ts'

const campaigns = rowsOf('live_query_campaign', 'live query campaign')

export type Campaign = StoredRecord<'live_query_campaign'>

/** Which devices a campaign is put to. */
export type CampaignTargets = Pick<
  Campaign,
  | 'targetedDeviceIds'
  | 'targetAllDevices'
  | 'targetMacs'
  | 'targetWindowsDevices'
  | 'targetLinuxDevices'
>

/**
 * The campaign, locked until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export const getCampaignForUpdate = campaigns.getForUpdate

export const insertCampaign = campaigns.insert

export const updateCampaign = campaigns.update

/** Deletes a campaign that is locked, with its targets and results. */
export async function deleteCampaignRows(tx: Transaction<Schema>, id: string): Promise<void> {
  // Targets first: an answer under way holds its target and still needs the counters.
  await tx.deleteFrom('live_query_target').where('campaign_id', '=', id).execute()
  await tx.deleteFrom('live_query_campaign').where('id', '=', id).execute()
}

/** How many campaigns there are; nobody else creates one until the transaction ends. */
export async function countCampaignsLocked(tx: Transaction<Schema>): Promise<number> {
  await lockInTransaction(tx, LOCK_KEYS.liveQueryCampaigns)
  const { count } = await tx
    .selectFrom('live_query_campaign')
    .select((select) => select.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Devices that run an agent; others can answer nothing. */
const RUNS_AGENT = sql`(
  device.platform in ('darwin', 'windows', 'linux') and device.agent_disabled_at is null)`

/** Those of the ids that are of no device which can answer. */
export async function listUnaskableIds(
  db: Kysely<Schema>,
  deviceIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select given.id from unnest(${deviceIds}::bigint[]) as given(id)
    where not exists (select from device where device.id = given.id and ${RUNS_AGENT})
    order by given.id
  `.execute(db)
  return rows.map(({ id }) => id)
}

/**
 * Puts the present revision of a locked campaign to the devices that it targets now: all of them owe
 * an answer, the results so far are gone, and the counters begin anew.
 */
export async function askTargets(tx: Transaction<Schema>, campaign: Campaign): Promise<void> {
  const { id, revision } = campaign
  // Devices are locked before targets, as answers do. Those deleted meanwhile are left out.
  await sql`
    with chosen as materialized (
      select device.id from device
      where ${RUNS_AGENT} and ${isTargeted(campaign)}
      order by device.id for key share)
    insert into live_query_target (campaign_id, device_id, revision, state)
    select ${id}::bigint, chosen.id, ${revision}::integer, 'waiting' from chosen order by chosen.id
    on conflict (campaign_id, device_id)
      do update set revision = excluded.revision, state = excluded.state
  `.execute(tx)
  await tx
    .deleteFrom('live_query_target')
    .where('campaign_id', '=', id)
    .where('revision', '!=', revision)
    .execute()
  await tx.deleteFrom('live_query_result').where('campaign_id', '=', id).execute()
  await sql`
    insert into live_query_counter (campaign_id, stripe, waiting, successful, errored)
    select ${id}::bigint, stripe, count(target.device_id), 0, 0
    from generate_series(0, 15) as stripe
    left join live_query_target target
      on target.campaign_id = ${id} and target.device_id % 16 = stripe
    group by stripe order by stripe
    on conflict (campaign_id, stripe) do update
      set waiting = excluded.waiting, successful = 0, errored = 0
  `.execute(tx)
}

/** Forgets who was asked and what was answered. */
export async function dropAnswers(tx: Transaction<Schema>, id: string): Promise<void> {
  // Targets first, as answers lock them; the results go with them.
  await tx.deleteFrom('live_query_target').where('campaign_id', '=', id).execute()
  await tx.deleteFrom('live_query_counter').where('campaign_id', '=', id).execute()
}

function isTargeted(targets: CampaignTargets) {
  if (targets.targetAllDevices) return sql`true`
  const platforms = [
    ...(targets.targetMacs ? ['darwin'] : []),
    ...(targets.targetWindowsDevices ? ['windows'] : []),
    ...(targets.targetLinuxDevices ? ['linux'] : []),
  ]
  return sql`(device.platform = any(${platforms}::text[])
    or device.id = any(${targets.targetedDeviceIds}::bigint[]))`
}

/** Tells the agent intakes of all processes, at commit, to read the campaign again. */
export async function notifyCampaignChanged(tx: Transaction<Schema>, id: string): Promise<void> {
  await notify(tx, LIVE_QUERY_CHANNEL, id)
}

import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { analyseLiveQuery } from './analyse-live-query.ts'
import {
  assertTargets,
  mergeTargets,
  NAME_LENGTH_MAX,
  unaskable,
  type NewCampaign,
} from './campaign-input.ts'
import { toCampaignAudit } from './campaign-json.ts'
import {
  askTargets,
  countCampaignsLocked,
  insertCampaign,
  listUnaskableIds,
  notifyCampaignChanged,
  type Campaign,
} from './campaign-store.ts'
import { auditedAs } from '../../changes/audited-record.ts'

/** What admins do to campaigns. */
export const CAMPAIGN_AUDIT = auditedAs('live_query_campaign', 'live query')

/** Everything that is kept is bounded. */
const CAMPAIGNS_MAX = 10_000

const NO_TARGETS = {
  targetedDeviceIds: [],
  targetAllDevices: false,
  targetMacs: false,
  targetWindowsDevices: false,
  targetLinuxDevices: false,
}

/**
 * Creates a campaign and its audit entry. Unless it is a draft it is put to the devices that match
 * now; a device that enrolls later is asked when the campaign is asked anew.
 *
 * @throws AppError `invalid_body` for ids of no device that can answer, or a published campaign
 * without targets; `limit_reached`
 */
export async function createCampaign(change: Change, input: NewCampaign): Promise<Campaign> {
  const targets = mergeTargets(NO_TARGETS, input)
  const isPublished = input.published ?? true
  if (isPublished) assertTargets(targets)
  const unknownIds = await listUnaskableIds(change.tx, targets.targetedDeviceIds)
  if (unknownIds.length > 0) throw unaskable(unknownIds)
  if ((await countCampaignsLocked(change.tx)) >= CAMPAIGNS_MAX) throw tooMany()
  const tablesUsed = toTablesUsed(input.sql)
  const campaign = await insertCampaign(change.tx, {
    name: input.name ?? toName(tablesUsed),
    sql: input.sql,
    tablesUsed,
    ...targets,
    published: isPublished,
    askedAt: isPublished ? change.at : null,
    createdAt: change.at,
    updatedAt: change.at,
  })
  if (isPublished) await askTargets(change.tx, campaign)
  await notifyCampaignChanged(change.tx, campaign.id)
  CAMPAIGN_AUDIT.created(change, campaign, toCampaignAudit(campaign))
  return campaign
}

/** Clients of the K2 API may send none. */
function toName(tablesUsed: readonly string[]): string {
  return tablesUsed.length === 0 ? 'Live query' : tablesUsed.join(', ').slice(0, NAME_LENGTH_MAX)
}

/** The tables that checked SQL names. */
export function toTablesUsed(sql: string): string[] {
  const analysed = analyseLiveQuery(sql)
  return analysed.kind === 'query' ? [...analysed.tablesUsed] : []
}

function tooMany(): AppError {
  return new AppError(
    'limit_reached',
    `There are ${CAMPAIGNS_MAX} live query campaigns, as many as are allowed. Delete some.`,
  )
}

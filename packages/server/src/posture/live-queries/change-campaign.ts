import { isDeepStrictEqual } from 'node:util'
import type { Change } from '../../changes/change.ts'
import { assertTargets, mergeTargets, unaskable, type CampaignChanges } from './campaign-input.ts'
import { toCampaignAudit } from './campaign-json.ts'
import {
  askTargets,
  deleteCampaignRows,
  dropAnswers,
  getCampaignForUpdate,
  listUnaskableIds,
  notifyCampaignChanged,
  updateCampaign,
  type Campaign,
} from './campaign-store.ts'
import { CAMPAIGN_AUDIT, toTablesUsed } from './create-campaign.ts'

/**
 * Changes what is given of a campaign and leaves an audit entry with the values before and after; a
 * change of nothing leaves neither. Another SQL or other targets raise the revision, and a published
 * campaign is put to all devices that match now; so is one that is published again, under a higher revision too.
 * Withdrawing it (`published: false`) keeps the results; devices that were asked may still answer. Another name changes
 * nothing else. Another SQL or other targets drop the answers, published or not.
 *
 * @throws AppError `not_found`; `invalid_body` as creating one does
 */
export async function changeCampaign(
  change: Change,
  id: string,
  input: CampaignChanges,
): Promise<Campaign> {
  const before = await getCampaignForUpdate(change.tx, id)
  const unknownIds = await listUnaskableIds(change.tx, input.targetedDeviceIds ?? [])
  if (unknownIds.length > 0) throw unaskable(unknownIds)
  const { definition, isAsked, isChanged, isNewRevision } = compare(before, input)
  if (definition.published) assertTargets(definition)
  if (!isChanged) return before

  const after = await updateCampaign(change.tx, id, {
    ...definition,
    tablesUsed: toTablesUsed(definition.sql),
    revision: before.revision + (isNewRevision ? 1 : 0),
    askedAt: isAsked ? change.at : before.askedAt,
    updatedAt: change.at,
  })
  if (isAsked) await askTargets(change.tx, after)
  else if (isNewRevision) await dropAnswers(change.tx, id)
  await notifyCampaignChanged(change.tx, id)
  CAMPAIGN_AUDIT.updated(change, after, toCampaignAudit(before), toCampaignAudit(after))
  return after
}

/** What a campaign becomes, and what that means. */
function compare(before: Campaign, input: CampaignChanges) {
  const { name = before.name, sql = before.sql, published = before.published } = input
  const targets = mergeTargets(before, input)
  const isRedefined = sql !== before.sql || !isDeepStrictEqual(targets, mergeTargets(before, {}))
  const isAsked = published && (isRedefined || !before.published)
  return {
    definition: { name, sql, ...targets, published },
    isChanged: isRedefined || name !== before.name || published !== before.published,
    isAsked,
    isNewRevision: isRedefined || (isAsked && before.askedAt !== null),
  }
}

/**
 * Deletes a campaign with its results, and leaves an audit entry. Answers that come later are ignored.
 *
 * @throws AppError `not_found`
 */
export async function removeCampaign(change: Change, id: string): Promise<void> {
  const campaign = await getCampaignForUpdate(change.tx, id)
  await deleteCampaignRows(change.tx, id)
  await notifyCampaignChanged(change.tx, id)
  CAMPAIGN_AUDIT.deleted(change, campaign, toCampaignAudit(campaign))
}

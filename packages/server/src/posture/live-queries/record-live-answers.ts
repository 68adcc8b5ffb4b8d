import type { Change } from '../../changes/change.ts'
import type { LiveTopic } from '../../schema/live-topics.ts'
import { judgeLiveResult, type LiveAnswer } from './judge-live-result.ts'
import { insertOwedAnswers, type StorableAnswer } from './live-answer-store.ts'
import { parseLiveQueryId, type LiveQueryId } from './live-query.ts'
import type { LiveQueryInbox } from './live-query-inbox.ts'

/**
 * Records what a device answered to live queries, in the open change, after the device was locked.
 * Harmless are repeated and late answers, those to a campaign that was deleted or asks anew, and ids
 * that were never given. Once the change is durable the inbox no longer asks.
 */
export async function recordLiveAnswers(
  change: Change,
  inbox: Pick<LiveQueryInbox, 'forget'>,
  deviceId: string,
  results: readonly (LiveAnswer & { readonly id: string })[],
): Promise<void> {
  // The last one counts of several to one campaign: it is to the newest revision.
  const byCampaign = new Map<string, StorableAnswer>()
  const answered: LiveQueryId[] = []
  for (const result of results) {
    const query = parseLiveQueryId(result.id)
    if (query === undefined) continue
    answered.push(query)
    const known = byCampaign.get(query.campaignId)
    if (known !== undefined && known.revision > query.revision) continue
    byCampaign.set(query.campaignId, toStorableAnswer(query, result))
  }
  if (answered.length === 0) return
  await insertOwedAnswers(change.tx, {
    deviceId,
    answers: [...byCampaign.values()],
    answeredAt: change.at,
  })
  change.markChanged(...[...byCampaign.keys()].map(toTopic))
  change.afterCommit(() => inbox.forget(deviceId, answered))
}

function toTopic(campaignId: string): LiveTopic {
  return `live_query_campaigns:${campaignId}`
}

function toStorableAnswer(query: LiveQueryId, answer: LiveAnswer): StorableAnswer {
  const { state, rows, errorMessage, warningMessage } = judgeLiveResult(answer)
  return {
    campaign_id: query.campaignId,
    revision: query.revision,
    state,
    rows,
    row_count: rows.length,
    error_message: errorMessage,
    warning_message: warningMessage,
  }
}

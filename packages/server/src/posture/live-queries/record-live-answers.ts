import type { Change } from '../../changes/change.ts'
import type { LiveTopic } from '../../schema/live-topics.ts'
import { judgeLiveResult, type LiveAnswer } from './judge-live-result.ts'
import { insertOwedAnswers, type StorableAnswer } from './live-answer-store.ts'
import { parseLiveQueryId, type LiveQueryId } from './live-query.ts'
import type { LiveQueryInbox } from './live-query-inbox.ts'

/** What a device answered to live queries. */
export interface LiveReport {
  readonly deviceId: string
  readonly results: readonly (LiveAnswer & { readonly id: string })[]
}

/**
 * Records what devices answered to live queries, in the open change, after the devices were locked; one report of
 * each device. Harmless are repeated and late answers, those to a campaign that was deleted or asks anew, and ids
 * that were never given. Once the change is durable the inbox no longer asks.
 */
export async function recordLiveAnswers(
  change: Change,
  inbox: Pick<LiveQueryInbox, 'forget'>,
  reports: readonly LiveReport[],
): Promise<void> {
  const read = reports.map(readReport).filter(({ answered }) => answered.length > 0)
  if (read.length === 0) return
  const answers = read.flatMap((report) => report.answers)
  await insertOwedAnswers(change.tx, answers, change.at)
  const campaignIds = new Set(answers.map((answer) => answer.campaign_id))
  change.markChanged(...[...campaignIds].map(toTopic))
  change.afterCommit(() => {
    for (const { answered, deviceId } of read) inbox.forget(deviceId, answered)
  })
}

interface ReadReport {
  readonly deviceId: string
  readonly answered: readonly LiveQueryId[]
  readonly answers: readonly StorableAnswer[]
}

function readReport({ deviceId, results }: LiveReport): ReadReport {
  // The last one counts of several to one campaign: it is to the newest revision.
  const byCampaign = new Map<string, StorableAnswer>()
  const answered: LiveQueryId[] = []
  for (const result of results) {
    const query = parseLiveQueryId(result.id)
    if (query === undefined) continue
    answered.push(query)
    const known = byCampaign.get(query.campaignId)
    if (known !== undefined && known.revision > query.revision) continue
    byCampaign.set(query.campaignId, toStorableAnswer(deviceId, query, result))
  }
  return { deviceId, answered, answers: [...byCampaign.values()] }
}

function toTopic(campaignId: string): LiveTopic {
  return `live_query_campaigns:${campaignId}`
}

function toStorableAnswer(
  deviceId: string,
  query: LiveQueryId,
  answer: LiveAnswer,
): StorableAnswer {
  const { state, rows, errorMessage, warningMessage } = judgeLiveResult(answer)
  return {
    device_id: deviceId,
    campaign_id: query.campaignId,
    revision: query.revision,
    state,
    rows,
    row_count: rows.length,
    error_message: errorMessage,
    warning_message: warningMessage,
  }
}

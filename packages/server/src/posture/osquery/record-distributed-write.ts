import type { Change } from '../../changes/change.ts'
import { recordCheckResults, type RecordedReport } from '../checks/record-check-results.ts'
import { parseQueryId } from './check-schedule.ts'
import type { DistributedResult } from './agent-message.ts'

/** Takes the answers to live queries, in the change that records those to checks and after them. */
export type RecordLiveResults = (
  change: Change,
  deviceId: string,
  results: readonly DistributedResult[],
) => Promise<void>

export interface DistributedWrite {
  readonly deviceId: string
  readonly results: readonly DistributedResult[]
  /** When the work was handed out; undefined when this process does not know. */
  readonly askedAt: Date | undefined
}

/**
 * Records the answers of one distributed write in one change. Ids that are neither a check's nor a
 * live query's are ignored; a query that the agent has denylisted is an errored answer in its words.
 */
export async function recordDistributedWrite(
  change: Change,
  write: DistributedWrite,
  live: { readonly idPrefix: string; readonly recordResults: RecordLiveResults } | undefined,
): Promise<RecordedReport> {
  const { deviceId, askedAt } = write
  const results = write.results.flatMap((result) => {
    const query = parseQueryId(result.id)
    return query === undefined ? [] : [{ ...result, ...query }]
  })
  const recorded = await recordCheckResults(change, {
    deviceId,
    results,
    ranAt: change.at,
    ...(askedAt === undefined ? {} : { askedAt }),
  })
  const liveResults =
    live === undefined ? [] : write.results.filter(({ id }) => id.startsWith(live.idPrefix))
  // Last, since the device is locked now, and many devices that answer one live query count there.
  if (live !== undefined && liveResults.length > 0 && recorded.kind === 'recorded') {
    await live.recordResults(change, deviceId, liveResults)
  }
  return recorded
}

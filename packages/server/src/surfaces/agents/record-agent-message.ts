/*
 * Records what a message of a device brought, as one change that waits for those before it of the same
 * device. Owns which problems of a message admins are told.
 */
import type { ChangeOrigin } from '../../changes/change.ts'
import { recordCheckResults } from '../../posture/checks/record-check-results.ts'
import type { ReportProblem } from '../../posture/devices/report-problem.ts'
import type { DistributedResult } from '../../posture/osquery/agent-message.ts'
import { parseQueryId } from '../../posture/osquery/check-schedule.ts'
import { gatherByDevice } from '../../posture/osquery/gather-by-device.ts'
import { noteAnswer } from '../../posture/osquery/hand-out-work.ts'
import type { NodeState } from '../../posture/osquery/node-cache.ts'
import { describeTruncation } from '../../posture/reporting/bound-snapshot.ts'
import { NodeInvalidError } from './agent-error.ts'
import type { AgentDependencies } from './agent-handler.ts'
import type { LogCollector, ReportedSnapshot, UntakenLines } from './collect-log.ts'
import type { WriteCollector } from './collect-write.ts'
import type { ReadMessage } from './read-agent-message.ts'

/** The answers of one distributed write. */
interface Answers {
  readonly state: NodeState
  readonly results: readonly DistributedResult[]
  readonly tooLargeCount: number
  readonly origin: ChangeOrigin
}

/** Records a distributed write; resolves when it is stored. */
export type WriteRecorder = (
  message: ReadMessage,
  collector: WriteCollector,
  origin: ChangeOrigin,
) => Promise<void>

/**
 * Creates the recorder of distributed writes. Ids that are neither a check's nor a live query's are ignored; a
 * query that the agent has denylisted is an errored answer in its words. Agents that send every answer in a
 * message of its own have those recorded in one change that wait for one another.
 *
 * The recorder rejects with NodeInvalidError when the device has been removed meanwhile.
 */
export function createWriteRecorder(deps: AgentDependencies): WriteRecorder {
  const record = gatherByDevice(deps.writes, (all: readonly [Answers, ...Answers[]]) =>
    recordAnswers(deps, joinAnswers(all)),
  )
  return async ({ state, isCut }, collector, origin) => {
    const read = collector.read(isCut)
    state.isHandOutDoubtful = false
    if (read.results.length === 0) return
    await record(state.deviceId, collector.heldBytes, { state, ...read, origin })
  }
}

/** The last answer to each query counts. */
function joinAnswers(all: readonly [Answers, ...Answers[]]): Answers {
  if (all.length === 1) return all[0]
  const byId = new Map(all.flatMap(({ results }) => results.map((result) => [result.id, result])))
  return {
    ...all[0],
    results: [...byId.values()],
    tooLargeCount: all.reduce((sum, { tooLargeCount }) => sum + tooLargeCount, 0),
  }
}

async function recordAnswers(
  deps: AgentDependencies,
  { state, results, tooLargeCount, origin }: Answers,
): Promise<void> {
  const { askedAtMs, deviceId } = state
  const { liveQueries, nodes, questions, settings } = deps
  const liveResults = results.filter(({ id }) => id.startsWith(liveQueries.idPrefix))
  const answers = results.filter(({ id }) => id.startsWith(questions.idPrefix))
  const report = await deps.runChange(origin, async (change) => {
    const report = await recordCheckResults(change, {
      deviceId,
      isByDevice: true,
      results: results.flatMap((result) => {
        const query = parseQueryId(result.id)
        return query === undefined ? [] : [{ ...result, ...query }]
      }),
      ...(askedAtMs === undefined ? {} : { askedAt: new Date(askedAtMs) }),
    })
    if (report.kind !== 'recorded') return report
    if (answers.length > 0) await questions.recordResults(change, deviceId, answers)
    // Last, since the device is locked now, and many devices that answer one live query count there.
    if (liveResults.length > 0) await liveQueries.recordResults(change, deviceId, liveResults)
    await deps.noteProblems(change, deviceId, toWriteProblems(tooLargeCount))
    return report
  })
  if (report.kind === 'unknown_device') {
    nodes.invalidate(deviceId)
    throw new NodeInvalidError('The device has been removed.')
  }
  noteAnswer(state, report, settings)
  if (report.acceptedCheckIds.length > 0) nodes.invalidate(deviceId)
}

/** Records the snapshots of reported tables that a log message holds. */
export async function recordLog(
  deps: AgentDependencies,
  { state, isCut }: ReadMessage,
  collector: LogCollector,
  origin: ChangeOrigin,
): Promise<void> {
  const { deviceId } = state
  await deps.writes.run(deviceId, collector.heldBytes, async () => {
    const { snapshots, untaken } = await collector.readResults(deps.reporting, isCut)
    const problems = toLogProblems(snapshots, untaken, isCut)
    if (snapshots.length === 0 && problems.length === 0) return
    await deps.runChange(origin, async (change) => {
      await deps.reporting.recordSnapshots(change, deviceId, snapshots)
      await deps.noteProblems(change, deviceId, problems)
    })
  })
}

function toWriteProblems(tooLargeCount: number): ReportProblem[] {
  if (tooLargeCount === 0) return []
  const detail = `${tooLargeCount} answers of one message were too large.`
  return [{ kind: 'answer_too_large', subject: '', detail }]
}

function toLogProblems(
  snapshots: readonly ReportedSnapshot[],
  untaken: UntakenLines,
  isCut: boolean,
): ReportProblem[] {
  const ofSnapshots = snapshots.flatMap(({ tableName, content }): ReportProblem[] => {
    const detail = describeTruncation(content)
    return detail === undefined ? [] : [{ kind: 'snapshot_cut', subject: tableName, detail }]
  })
  const ofLines: [ReportProblem['kind'], boolean, string][] = [
    ['line_too_long', untaken.tooLong > 0, `${untaken.tooLong} lines of one log were too long.`],
    [
      'lines_left_out',
      isCut || untaken.beyond > 0,
      isCut
        ? 'A log was longer than is read: its end was left out.'
        : `${untaken.beyond} lines of one log were more than is held of one message.`,
    ],
    [
      'line_dropped_by_agent',
      untaken.droppedByAgent > 0,
      `${untaken.droppedByAgent} lines were too long for the agent.`,
    ],
    [
      'snapshots_as_events',
      untaken.asEvents > 0,
      `${untaken.asEvents} rows of snapshots came as lines of their own.`,
    ],
  ]
  return [
    ...ofSnapshots,
    ...ofLines.flatMap(([kind, isMet, detail]) => (isMet ? [{ kind, subject: '', detail }] : [])),
  ]
}

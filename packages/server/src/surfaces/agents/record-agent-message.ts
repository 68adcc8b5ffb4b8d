/*
 * Records what messages of devices brought, each after those before it of the same device; the answers of devices
 * that come together in one change. Owns which problems of a message admins are told.
 */
import type { Change, ChangeOrigin, PartOrigin } from '../../changes/change.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { isFaultOfDatabase } from '../../platform/db/database-fault.ts'
import { AppError } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { GroupCommitter } from '../../platform/group-committer.ts'
import {
  recordCheckReports,
  type DeviceReport,
  type RecordedReport,
} from '../../posture/checks/record-check-results.ts'
import { lockDeviceIds } from '../../posture/devices/device-status-store.ts'
import type { ReportProblem } from '../../posture/devices/report-problem.ts'
import type { DistributedResult } from '../../posture/osquery/agent-message.ts'
import { parseQueryId } from '../../posture/osquery/check-schedule.ts'
import { gatherByDevice } from '../../posture/osquery/gather-by-device.ts'
import { noteAnswer, noteWrite } from '../../posture/osquery/hand-out-work.ts'
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
  /** What is held of the message. */
  readonly bytes: number
  readonly origin: PartOrigin
}

export interface WriteRecorder {
  /**
   * Records a distributed write; resolves when it is stored.
   *
   * @throws NodeInvalidError when the device has been removed meanwhile
   */
  record(message: ReadMessage, collector: WriteCollector, origin: PartOrigin): Promise<void>
  /** Resolves when everything that was taken is stored or has failed. */
  close(): Promise<void>
}

/** How many devices' answers one transaction takes, and how much of them; more where no check follows from them. */
const GROUP_MEMBERS_MAX = 64
const LIVE_GROUP_MEMBERS_MAX = 256
const GROUP_BYTES_MAX = 4 * 1024 * 1024
/**
 * The longest pause between groups of results: at 200 a second a group has 14 of them and not 8, and each takes the
 * fewer statements. Up to 100 a second groups are as they come, and nobody waits.
 */
const RESULTS_PAUSE_MAX_MS = 60
const GROUPS_MAX = 4
/** Each waits with a request of its own. */
const WAITING_MAX = 20_000
const WAIT_MAX_MS = 30 * SECOND_MS

/**
 * Creates the recorder of distributed writes. Ids that are neither a check's nor a live query's are ignored; a
 * query that the agent has denylisted is an errored answer in its words. Agents that send every answer in a
 * message of its own have those recorded together that wait for one another. What many devices send at once is
 * committed in groups, answers to live queries alone in groups of their own: nothing follows from them.
 */
export function createWriteRecorder(deps: AgentDependencies): WriteRecorder {
  const limits = {
    membersMax: GROUP_MEMBERS_MAX,
    bytesMax: GROUP_BYTES_MAX,
    runningMax: GROUPS_MAX,
    waitingMax: WAITING_MAX,
    waitMaxMs: WAIT_MAX_MS,
  }
  const groups = new GroupCommitter<Answers, RecordedReport>({
    limits,
    commit: (all) => deps.writes.withRoom(() => recordAnswers(deps, all)),
    isFaultOfAll,
    pauseMaxMs: RESULTS_PAUSE_MAX_MS,
  })
  const liveGroups = new GroupCommitter<Answers, boolean>({
    limits: { ...limits, membersMax: LIVE_GROUP_MEMBERS_MAX },
    commit: (all) => deps.writes.withRoom(() => recordLiveAlone(deps, all)),
    isFaultOfAll,
  })
  const record = gatherByDevice(
    { run: (...item) => deps.writes.runInLine(...item) },
    async (all: readonly [Answers, ...Answers[]]) => {
      const answers = joinAnswers(all)
      const { state, bytes } = answers
      if (isLiveAlone(deps, answers)) {
        if (!(await liveGroups.add(answers, bytes))) forgetRemoved(deps, state)
      } else noteRecorded(deps, state, await groups.add(answers, bytes))
    },
  )
  return {
    async record({ state, isCut }, collector, origin) {
      const read = collector.read(isCut)
      noteWrite(state)
      const { isRoundAwaited } = state
      state.isRoundAwaited = false
      if (read.results.length === 0) return
      const bytes = collector.heldBytes
      try {
        await record(state.deviceId, bytes, { state, ...read, bytes, origin })
      } catch (error) {
        // The device sends it again, and another process may take it.
        state.isRoundAwaited ||= isRoundAwaited
        throw error
      }
    },
    close: async () => {
      await Promise.all([groups.close(), liveGroups.close()])
    },
  }
}

/** Whether the other members of a group would fare no better: there was no room, or the database is not there. */
function isFaultOfAll(error: unknown): boolean {
  return isFaultOfDatabase(error) || (error instanceof AppError && error.code === 'unavailable')
}

/** The last answer to each query counts. */
function joinAnswers(all: readonly [Answers, ...Answers[]]): Answers {
  if (all.length === 1) return all[0]
  const byId = new Map(all.flatMap(({ results }) => results.map((result) => [result.id, result])))
  return {
    ...all[0],
    results: [...byId.values()],
    tooLargeCount: all.reduce((sum, { tooLargeCount }) => sum + tooLargeCount, 0),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

/** Records the answers of devices in one change, in which each has its own cause; one of each device. */
async function recordAnswers(
  deps: AgentDependencies,
  all: readonly Answers[],
): Promise<RecordedReport[]> {
  const { questions } = deps
  return deps.runChange({ actor: SYSTEM_ACTOR }, async (whole) => {
    const change = divideAmong(whole, all)
    const reports = await recordCheckReports(change, all.map(toReport), { isByDevice: true })
    const known = all.filter((_, index) => reports[index]?.kind === 'recorded')
    for (const { results, state } of known) {
      const answers = results.filter(({ id }) => id.startsWith(questions.idPrefix))
      const { deviceId } = state
      if (answers.length === 0) continue
      await questions.recordResults(change.ofDevice(deviceId), deviceId, answers)
    }
    // Last, since the devices are locked now, and many devices that answer one live query count there.
    await recordLive(deps, change, known)
    return reports
  })
}

/** The devices that a change is about have each its own cause. */
function divideAmong(whole: Change, all: readonly Answers[]): Change {
  return whole.divide(new Map(all.map(({ state, origin }) => [state.deviceId, whole.part(origin)])))
}

/** Whether a message answers live queries and nothing else. */
function isLiveAlone({ liveQueries }: AgentDependencies, { results }: Answers): boolean {
  return results.every(({ id }) => id.startsWith(liveQueries.idPrefix))
}

/** Records the answers of devices to live queries in one change; answers of each whether it still exists. */
async function recordLiveAlone(
  deps: AgentDependencies,
  all: readonly Answers[],
): Promise<boolean[]> {
  const deviceIds = all.map(({ state }) => state.deviceId)
  return deps.runChange({ actor: SYSTEM_ACTOR }, async (whole) => {
    const change = divideAmong(whole, all)
    const locked = new Set(await lockDeviceIds(change.tx, deviceIds))
    const isKnown = all.map(({ state: { deviceId } }) => locked.has(deviceId))
    await recordLive(
      deps,
      change,
      all.filter((_, index) => isKnown[index]),
    )
    return isKnown
  })
}

/** What answers of locked devices say to live queries, and what was too large of them. */
async function recordLive(
  { liveQueries, noteProblems }: AgentDependencies,
  change: Change,
  all: readonly Answers[],
): Promise<void> {
  const reports = all
    .map(({ results, state: { deviceId } }) => ({
      deviceId,
      results: results.filter(({ id }) => id.startsWith(liveQueries.idPrefix)),
    }))
    .filter(({ results }) => results.length > 0)
  if (reports.length > 0) await liveQueries.recordResults(change, reports)
  for (const { state, tooLargeCount } of all) {
    const { deviceId } = state
    await noteProblems(change.ofDevice(deviceId), deviceId, toWriteProblems(tooLargeCount))
  }
}

function toReport({ results, state: { askedAtMs, deviceId } }: Answers): DeviceReport {
  return {
    deviceId,
    results: results.flatMap((result) => {
      const query = parseQueryId(result.id)
      return query === undefined ? [] : [{ ...result, ...query }]
    }),
    ...(askedAtMs === undefined ? {} : { askedAt: new Date(askedAtMs) }),
  }
}

function noteRecorded(deps: AgentDependencies, state: NodeState, report: RecordedReport): void {
  const { nodes, settings } = deps
  if (report.kind === 'unknown_device') return forgetRemoved(deps, state)
  noteAnswer(state, report, settings)
  // Nothing else of what is known of a node changes with its answers.
  if (report.hadRefreshes) nodes.invalidate(state.deviceId)
  else if (report.isWholeRound) nodes.noteRound(state.deviceId)
}

function forgetRemoved({ nodes }: AgentDependencies, { deviceId }: NodeState): never {
  nodes.invalidate(deviceId)
  throw new NodeInvalidError('The device has been removed.')
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

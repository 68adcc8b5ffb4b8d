/*
 * From what devices answered to everything that follows: results, issues, counters, status. Owns the
 * order of the steps and that they are one transaction, with one statement for each table however many devices;
 * the rules are in judge-check-result.ts and devices/evaluate-device-status.ts.
 */
import type { Change } from '../../changes/change.ts'
import { lockDevices, type LockedDevice } from '../devices/device-status-store.ts'
import { reevaluateLockedDevices } from '../devices/reevaluate-devices.ts'
import { settleDueStatuses } from '../devices/settle-due-statuses.ts'
import { updateSubjectIssues, type SubjectIssueChanges } from '../issues/issue-store.ts'
import type { OpenIssue } from '../issues/issue.ts'
import { recordIssueEvents } from '../issues/record-issue-events.ts'
import type { AuthState, Compliance, InitiatingEntity } from '../../schema/status-values.ts'
import { moveCheckCounters } from './check-counter-store.ts'
import {
  deleteFulfilledRefreshes,
  upsertCheckResults,
  type DeviceCheck,
  type NewDeviceResult,
} from './check-result-store.ts'
import { listDeviceChecks, type ListedDeviceCheck } from './list-device-checks.ts'
import { judgeCheckResult, toCounterDeltas, type Judgement } from './judge-check-result.ts'
import { parseCheckResult, type CheckAnswer } from './parse-check-result.ts'
import { hashContent, isFoundAgain, isIssueFoundAgain } from './round-changes.ts'
import { updateLeftBehind, upsertDeviceRounds } from './round-store.ts'
import { toCheckTransitions } from './to-check-transitions.ts'

/** The answer to one check. */
export interface ReportedCheck extends CheckAnswer {
  readonly checkId: string
  /** The revision that was run; null for systems that know of none, which is taken as the present one. */
  readonly revision: number | null
}

/** Answers of one device to some or all of its checks. The last one counts of several to one check. */
export interface DeviceReport {
  readonly deviceId: string
  readonly results: readonly ReportedCheck[]
  /** When the run was asked for, if known: later requests for a rerun stay. Default: now. */
  readonly askedAt?: Date
}

/** How reports are taken. */
export interface ReportTerms {
  /** Who brought the answers about; default `policy`. */
  readonly initiatingEntity?: InitiatingEntity
  /** Whether the device itself answers: it has no say in what other systems report of it. */
  readonly isByDevice?: boolean
  /** Takes the device as evaluated although checks are still pending. */
  readonly countsAsEvaluation?: boolean
}

/** A report on its own terms. */
export interface CheckReport extends DeviceReport, ReportTerms {}

/** What became of a report. */
export type RecordedReport =
  | { readonly kind: 'unknown_device' }
  | {
      readonly kind: 'recorded'
      /** When it was taken: the time of its results, read while the device was locked. */
      readonly ranAt: Date
      /** The checks whose answers counted. */
      readonly acceptedCheckIds: readonly string[]
      /** Whether every check that the device runs itself has been answered. */
      readonly isWholeRound: boolean
      /** Whether the device was to rerun checks at once, of which the answers may have been some. */
      readonly hadRefreshes: boolean
      readonly authState: AuthState
      readonly compliance: Compliance
    }

/** The same as {@link recordCheckReports} for one report. */
export async function recordCheckResults(
  change: Change,
  report: CheckReport,
): Promise<RecordedReport> {
  const [recorded = UNKNOWN_DEVICE] = await recordCheckReports(change, [report], report)
  return recorded
}

const UNKNOWN_DEVICE = { kind: 'unknown_device' } as const

/**
 * Records the answers of devices in the open change, all of it or nothing; one report of each device. Answers what
 * became of each, in their order. Reports of one device are
 * taken one after another, in the order in which they get its lock: no clock decides which is newer, so that
 * none that is ahead or set back holds a result up. Left out are answers to another revision, to paused checks
 * and to checks that do not target the device, or of a device to what others report; a repeated report changes nothing.
 *
 * A grace period that ended before the report is settled first, at its own time. The number of
 * statements grows neither with the number of answers nor with that of devices, and devices are locked by ascending
 * id. A report that answers all checks is a round: of what it found as it was only its time is written, once for the
 * device.
 */
export async function recordCheckReports(
  change: Change,
  reports: readonly DeviceReport[],
  terms: ReportTerms,
): Promise<RecordedReport[]> {
  const { tx } = change
  const locked = await lockDevices(
    tx,
    reports.map(({ deviceId }) => deviceId),
  )
  const ranAt = change.now()
  const settled = await settleDueStatuses(change, locked, ranAt)
  const lockedIds = new Set(locked.map(({ id }) => id))
  const known = reports.filter(({ deviceId }) => lockedIds.has(deviceId))
  const runs = await readRuns(change, known, terms)
  const judged = await storeJudgements(change, { runs, ranAt, terms })

  const isAsBefore = findUntouched(judged, locked, terms)
  const evaluated = await reevaluateLockedDevices(
    change,
    settled.filter((device) => !isAsBefore(device)),
    {
      initiatingEntity: terms.initiatingEntity ?? 'policy',
      occurredAt: ranAt,
      countsAsEvaluation: terms.countsAsEvaluation ?? false,
    },
  )
  // Last: who counts in the same rows waits for them until the commit.
  await moveCheckCounters(
    tx,
    judged.flatMap(({ judgements }) => judgements.flatMap(toCounterDeltas)),
  )
  const deviceById = new Map([...settled, ...evaluated].map((device) => [device.id, device]))
  const runById = new Map(runs.map((run) => [run.report.deviceId, run]))
  return reports.map(({ deviceId }) => {
    const device = deviceById.get(deviceId)
    const run = runById.get(deviceId)
    if (device === undefined || run === undefined) return UNKNOWN_DEVICE
    const { authState, compliance } = device
    const acceptedCheckIds = run.accepted.map(({ check }) => check.checkId)
    const { isWholeRound } = run
    const hadRefreshes = run.checks.some((check) => check.hasRefreshes)
    const facts = { ranAt, acceptedCheckIds, isWholeRound, hadRefreshes }
    return { kind: 'recorded', ...facts, authState, compliance }
  })
}

/**
 * Which devices have the status that follows from what counts for them: they were evaluated, nothing was due, and the
 * answers changed no result and no issue. Whatever else counts is evaluated by what changes it.
 */
function findUntouched(
  judged: readonly JudgedRun[],
  locked: readonly LockedDevice[],
  terms: ReportTerms,
): (device: LockedDevice) => boolean {
  if (terms.countsAsEvaluation === true) return () => false
  const lockedSet = new Set(locked)
  const unchangedIds = new Set(
    judged.filter((run) => !hasChanges(run)).map(({ report }) => report.deviceId),
  )
  return (device) =>
    device.evaluatedAt !== null && lockedSet.has(device) && unchangedIds.has(device.id)
}

function hasChanges({ issueChanges, judgements }: JudgedRun): boolean {
  const { opened, rechecked, resolvedIds } = issueChanges
  return (
    opened.length + rechecked.length + resolvedIds.length > 0 ||
    judgements.some(({ transition }) => transition !== null)
  )
}

/** Which answers of each report count. */
async function readRuns(
  change: Change,
  reports: readonly DeviceReport[],
  terms: ReportTerms,
): Promise<Run[]> {
  const answered = reports.map((report) => ({
    report,
    answersByCheck: new Map(report.results.map((result) => [result.checkId, result])),
  }))
  const asked = answered
    .filter(({ answersByCheck }) => answersByCheck.size > 0)
    .map(({ report, answersByCheck }) => {
      return { deviceId: report.deviceId, checkIds: [...answersByCheck.keys()] }
    })
  const listed = asked.length === 0 ? [] : await listDeviceChecks(change.tx, asked)
  const checksByDevice = Map.groupBy(listed, ({ deviceId }) => deviceId)
  return answered.map(({ report, answersByCheck }) => {
    const checks = checksByDevice.get(report.deviceId) ?? []
    const accepted = checks.flatMap((check) => {
      const answer = answersByCheck.get(check.checkId)
      return answer !== undefined && isAcceptable(terms, check, answer) ? [{ check, answer }] : []
    })
    const acceptedIds = new Set(accepted.map(({ check }) => check.checkId))
    return { report, checks, accepted, isWholeRound: isRoundWhole(checks, acceptedIds) }
  })
}

function isAcceptable(terms: ReportTerms, check: DeviceCheck, answer: ReportedCheck): boolean {
  if (check.isPaused || !check.isTargeted) return false
  if (terms.isByDevice === true && check.type === 'external') return false
  return answer.revision === null || answer.revision === check.revision
}

function isRoundWhole(
  checks: readonly ListedDeviceCheck[],
  acceptedIds: ReadonlySet<string>,
): boolean {
  const run = checks.filter(
    (check) => check.type !== 'external' && check.isTargeted && !check.isPaused,
  )
  return (
    run.length > 0 && run.every((check) => !check.hasOtherChecks && acceptedIds.has(check.checkId))
  )
}

interface AcceptedAnswer {
  readonly check: ListedDeviceCheck
  readonly answer: ReportedCheck
}

/** A report under way, on a locked device. */
interface Run {
  readonly report: DeviceReport
  readonly isWholeRound: boolean
  readonly checks: readonly ListedDeviceCheck[]
  readonly accepted: readonly AcceptedAnswer[]
}

/** Reports that are recorded together. */
interface Recording {
  readonly runs: readonly Run[]
  readonly ranAt: Date
  readonly terms: ReportTerms
}

/** A run with what its answers do. */
interface JudgedRun extends Run {
  readonly openIssues: readonly OpenIssue[]
  readonly judged: readonly {
    readonly check: ListedDeviceCheck
    readonly judgement: Judgement
  }[]
  readonly judgements: readonly Judgement[]
  readonly issueChanges: SubjectIssueChanges
}

/** A result follows the rounds of its device; one of another system is in none. */
function isInRound({ isWholeRound }: Run, check: DeviceCheck): boolean {
  return isWholeRound && check.type !== 'external'
}

async function storeJudgements(change: Change, recording: Recording): Promise<JudgedRun[]> {
  const runs = recording.runs.filter(({ accepted }) => accepted.length > 0)
  if (runs.length === 0) return []
  const { tx } = change
  const { ranAt } = recording
  const judged = runs.map((run) => judgeRun(run, ranAt))
  const rounds = judged.filter(({ isWholeRound }) => isWholeRound)
  for (const run of rounds) await leaveBehind(change, run)
  const results = judged.flatMap((run) => toResultsToStore(run, ranAt))
  const initiatingEntity = recording.terms.initiatingEntity ?? 'policy'
  const transitions = judged.flatMap(({ judgements, report: { deviceId } }) =>
    toCheckTransitions(change.ofDevice(deviceId), deviceId, judgements, {
      ranAt,
      initiatingEntity,
    }),
  )
  await upsertCheckResults(tx, { results, transitions }, ranAt)
  const changedIds = new Set(results.map(({ device_id: id }) => id))
  change.markChanged(...[...changedIds].map((id) => `devices:${id}` as const))
  change.markChanged(...transitions.map(({ check_id: id }) => `checks:${id}` as const))
  const fulfilled = judged
    .filter(({ checks }) => checks.some((check) => check.hasRefreshes))
    .map(({ report: { deviceId, askedAt }, accepted }) => {
      const checkIds = accepted.map(({ check }) => check.checkId)
      return { deviceId, checkIds, askedAt: askedAt ?? ranAt }
    })
  await deleteFulfilledRefreshes(change, fulfilled, ranAt)
  await storeIssues(change, judged, ranAt)
  await upsertDeviceRounds(
    tx,
    rounds.map(({ report }) => report.deviceId),
    ranAt,
  )
  return judged
}

function judgeRun(run: Run, ranAt: Date): JudgedRun {
  const openIssues = run.accepted.flatMap(({ check }) => check.openIssues)
  const judged = run.accepted.map(({ check, answer }) => {
    const parsed = parseCheckResult(answer, check.primaryKeyColumn)
    return { check, judgement: judgeCheckResult(check, parsed, check.openIssues, ranAt) }
  })
  const judgements = judged.map(({ judgement }) => judgement)
  const issueChanges = toIssueChanges({ ...run, openIssues, judgements }, ranAt)
  return { ...run, openIssues, judged, judgements, issueChanges }
}

function toResultsToStore(run: JudgedRun, ranAt: Date): NewDeviceResult[] {
  return run.judged.flatMap(({ check, judgement: { result } }) => {
    const followsRound = isInRound(run, check)
    if (followsRound && isFoundAgain(check, result, ranAt)) return []
    const contentHash = hashContent(result, ranAt)
    const { deviceId } = run.report
    return [
      { ...result, device_id: deviceId, follows_round: followsRound, content_hash: contentHash },
    ]
  })
}

/** What followed the last round and is not found again by this one keeps the time of the last; rarely anything does. */
async function leaveBehind({ tx }: Change, run: JudgedRun): Promise<void> {
  const foundIds = new Set(
    run.judgements.flatMap(({ issues }) => [
      ...issues.rechecked.map((issue) => issue.id),
      ...issues.resolvedIds,
    ]),
  )
  const issueIds = run.openIssues
    .filter((issue) => issue.followsRound && !foundIds.has(issue.id))
    .map((issue) => issue.id)
  const inRound = run.accepted.filter(({ check }) => isInRound(run, check))
  const checkIdsInRound = inRound.map(({ check }) => check.checkId)
  const hasOthers = run.checks.some(
    (check) =>
      check.hasOtherFollowers ||
      (check.following !== null && !checkIdsInRound.includes(check.checkId)),
  )
  if (issueIds.length === 0 && !hasOthers) return
  await updateLeftBehind(tx, run.report.deviceId, { checkIdsInRound, issueIds })
}

async function storeIssues(change: Change, runs: readonly JudgedRun[], ranAt: Date): Promise<void> {
  const changes = runs.map(({ issueChanges }) => issueChanges)
  const opened = await updateSubjectIssues(change.tx, 'device', changes, ranAt)
  const openedByDevice = Map.groupBy(opened, ({ subjectId }) => subjectId)
  for (const { resolvedIds, subjectId } of changes) {
    const openedIds = (openedByDevice.get(subjectId) ?? []).map(({ id }) => id)
    recordIssueEvents(change.ofDevice(subjectId), { openedIds, resolvedIds }, ranAt)
  }
}

function toIssueChanges(
  {
    isWholeRound,
    judgements,
    openIssues,
    report,
  }: Pick<JudgedRun, 'isWholeRound' | 'judgements' | 'openIssues' | 'report'>,
  ranAt: Date,
): SubjectIssueChanges {
  const issuesById = new Map(openIssues.map((issue) => [issue.id, issue]))
  const rechecked = judgements.flatMap((judgement) => judgement.issues.rechecked)
  return {
    subjectId: report.deviceId,
    followsRound: isWholeRound,
    opened: judgements.flatMap((judgement) => judgement.issues.opened),
    rechecked: rechecked.filter((issue) => {
      const stored = issuesById.get(issue.id)
      return !isWholeRound || stored === undefined || !isIssueFoundAgain(stored, issue, ranAt)
    }),
    resolvedIds: judgements.flatMap((judgement) => judgement.issues.resolvedIds),
  }
}

/*
 * From what a device answered to everything that follows: results, issues, counters, status. Owns the
 * order of the steps and that they are one transaction; the rules are in judge-check-result.ts and
 * devices/evaluate-device-status.ts.
 */
import type { Change } from '../../changes/change.ts'
import { lockDevice } from '../devices/device-status-store.ts'
import { reevaluateLockedDevices } from '../devices/reevaluate-devices.ts'
import { settleDueStatuses } from '../devices/settle-due-statuses.ts'
import { listOpenIssues, updateSubjectIssues } from '../issues/issue-store.ts'
import type { OpenIssue } from '../issues/issue.ts'
import { recordIssueEvents } from '../issues/record-issue-events.ts'
import type { AuthState, Compliance, InitiatingEntity } from '../../schema/status-values.ts'
import { moveCheckCounters, toCounterStripe, type CounterDelta } from './check-counter-store.ts'
import {
  deleteFulfilledRefreshes,
  listDeviceChecks,
  upsertCheckResults,
  type DeviceCheck,
  type ListedDeviceCheck,
  type NewCheckTransition,
  type NewDeviceResult,
} from './check-result-store.ts'
import { judgeCheckResult, type Judgement } from './judge-check-result.ts'
import { parseCheckResult, type CheckAnswer } from './parse-check-result.ts'
import { hashContent, isFoundAgain, isIssueFoundAgain } from './round-changes.ts'
import { updateLeftBehind, upsertDeviceRound } from './round-store.ts'

/** The answer to one check. */
export interface ReportedCheck extends CheckAnswer {
  readonly checkId: string
  /** The revision that was run; null for systems that know of none, which is taken as the present one. */
  readonly revision: number | null
}

/** Answers of one device to some or all of its checks. The last one counts of several to one check. */
export interface CheckReport {
  readonly deviceId: string
  readonly results: readonly ReportedCheck[]
  /** When the run was asked for, if known: later requests for a rerun stay. Default: now. */
  readonly askedAt?: Date
  /** Who brought the answers about; default `policy`. */
  readonly initiatingEntity?: InitiatingEntity
  /** Whether the device itself answers: it has no say in what other systems report of it. */
  readonly isByDevice?: boolean
  /** Takes the device as evaluated although checks are still pending. */
  readonly countsAsEvaluation?: boolean
}

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
      readonly authState: AuthState
      readonly compliance: Compliance
    }

/**
 * Records the answers of a device in the open change, all of it or nothing. Reports of one device are
 * taken one after another, in the order in which they get its lock: no clock decides which is newer, so that
 * none that is ahead or set back holds a result up. Left out are answers to another revision, to paused checks
 * and to checks that do not target the device, or of a device to what others report; a repeated report changes nothing.
 *
 * A grace period that ended before the report is settled first, at its own time. The number of
 * statements does not grow with the number of answers. A report that answers all checks is a round: of what it
 * found as it was only its time is written, once for the device.
 */
export async function recordCheckResults(
  change: Change,
  report: CheckReport,
): Promise<RecordedReport> {
  const locked = await lockDevice(change.tx, report.deviceId)
  if (locked === undefined) return { kind: 'unknown_device' }
  const ranAt = change.now()
  const settled = await settleDueStatuses(change, [locked], ranAt)

  const answersByCheck = new Map(report.results.map((result) => [result.checkId, result]))
  const checks = await listDeviceChecks(change.tx, report.deviceId, [...answersByCheck.keys()])
  const accepted = checks.flatMap((check) => {
    const answer = answersByCheck.get(check.checkId)
    return answer !== undefined && isAcceptable(report, check, answer) ? [{ check, answer }] : []
  })
  const acceptedCheckIds = accepted.map(({ check }) => check.checkId)
  const isWholeRound = isRoundWhole(checks, new Set(acceptedCheckIds))
  const run: Run = { report, ranAt, isWholeRound, checks, accepted }
  const judgements = await storeJudgements(change, run)

  const [device = locked] = await reevaluateLockedDevices(change, settled, {
    initiatingEntity: report.initiatingEntity ?? 'policy',
    occurredAt: ranAt,
    countsAsEvaluation: report.countsAsEvaluation ?? false,
  })
  // Last, for the reports of other devices wait for these rows until the commit.
  await moveCheckCounters(change.tx, toCounterDeltas(report.deviceId, judgements))
  return {
    kind: 'recorded',
    ranAt,
    acceptedCheckIds,
    isWholeRound,
    authState: device.authState,
    compliance: device.compliance,
  }
}

function isAcceptable(report: CheckReport, check: DeviceCheck, answer: ReportedCheck): boolean {
  if (check.isPaused || !check.isTargeted) return false
  if (report.isByDevice === true && check.type === 'external') return false
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
  readonly report: CheckReport
  readonly ranAt: Date
  readonly isWholeRound: boolean
  readonly checks: readonly ListedDeviceCheck[]
  readonly accepted: readonly AcceptedAnswer[]
}

/** A result follows the rounds of its device; one of another system is in none. */
function isInRound({ isWholeRound }: Run, check: DeviceCheck): boolean {
  return isWholeRound && check.type !== 'external'
}

async function storeJudgements(change: Change, run: Run): Promise<readonly Judgement[]> {
  const { accepted, checks, ranAt, report } = run
  if (accepted.length === 0) return []
  const { tx } = change
  const { deviceId } = report
  const subject = { kind: 'device', id: deviceId } as const
  const checkIds = accepted.map(({ check }) => check.checkId)
  const openIssues = await listOpenIssues(tx, subject, checkIds)
  const issuesByCheck = Map.groupBy(openIssues, (issue) => issue.checkId)
  const judged = accepted.map(({ check, answer }) => {
    const parsed = parseCheckResult(answer, check.primaryKeyColumn)
    return {
      check,
      judgement: judgeCheckResult(check, parsed, issuesByCheck.get(check.checkId) ?? [], ranAt),
    }
  })
  const judgements = judged.map(({ judgement }) => judgement)
  if (run.isWholeRound) await leaveBehind(change, run, openIssues, judgements)
  const results = judged.flatMap(({ check, judgement: { result } }): NewDeviceResult[] => {
    const followsRound = isInRound(run, check)
    if (followsRound && isFoundAgain(check, result, ranAt)) return []
    const contentHash = `\\x${hashContent(result, ranAt).toString('hex')}`
    return [{ ...result, follows_round: followsRound, content_hash: contentHash }]
  })
  const transitions = toTransitions(change, report, ranAt, judgements)
  await upsertCheckResults(tx, deviceId, { results, transitions }, ranAt)
  if (results.length > 0) change.markChanged(`devices:${deviceId}`)
  change.markChanged(...transitions.map(({ check_id: id }) => `checks:${id}` as const))
  if (checks.some((check) => check.hasRefreshes)) {
    const askedAt = report.askedAt ?? ranAt
    await deleteFulfilledRefreshes(tx, deviceId, checkIds, { ranAt, askedAt })
  }
  await storeIssues(change, run, openIssues, judgements)
  if (run.isWholeRound) await upsertDeviceRound(tx, deviceId, ranAt)
  return judgements
}

/** What followed the last round and is not found again by this one keeps the time of the last. */
async function leaveBehind(
  { tx }: Change,
  run: Run,
  openIssues: readonly OpenIssue[],
  judgements: readonly Judgement[],
): Promise<void> {
  const foundIds = new Set(
    judgements.flatMap(({ issues }) => [
      ...issues.rechecked.map((issue) => issue.id),
      ...issues.resolvedIds,
    ]),
  )
  const issueIds = openIssues
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

async function storeIssues(
  change: Change,
  { isWholeRound, ranAt, report }: Run,
  openIssues: readonly OpenIssue[],
  judgements: readonly Judgement[],
): Promise<void> {
  const issuesById = new Map(openIssues.map((issue) => [issue.id, issue]))
  const resolvedIds = judgements.flatMap((judgement) => judgement.issues.resolvedIds)
  const rechecked = judgements.flatMap((judgement) => judgement.issues.rechecked)
  const changed = rechecked.filter((issue) => {
    const stored = issuesById.get(issue.id)
    return !isWholeRound || stored === undefined || !isIssueFoundAgain(stored, issue, ranAt)
  })
  const openedIds = await updateSubjectIssues(
    change.tx,
    { kind: 'device', id: report.deviceId },
    {
      opened: judgements.flatMap((judgement) => judgement.issues.opened),
      rechecked: changed,
      resolvedIds,
    },
    { at: ranAt, followsRound: isWholeRound },
  )
  recordIssueEvents(change, { openedIds, resolvedIds }, ranAt)
}

/** How many rows of a result its transition keeps, as evidence of why it changed. */
const TRANSITION_ROWS_MAX = 20

function toTransitions(
  change: Change,
  report: CheckReport,
  ranAt: Date,
  judgements: readonly Judgement[],
): NewCheckTransition[] {
  return judgements.flatMap(({ transition, result }) =>
    transition === null
      ? []
      : [
          {
            device_id: report.deviceId,
            check_id: result.check_id,
            occurred_at: ranAt,
            from_status: transition.from,
            to_status: transition.to,
            revision: result.revision,
            initiating_entity: report.initiatingEntity ?? 'policy',
            actor_name: change.origin.actor.name,
            reason: result.error_message ?? `The check answered ${transition.to}.`,
            rows: result.rows.slice(0, TRANSITION_ROWS_MAX),
            txn: change.txn,
          },
        ],
  )
}

function toCounterDeltas(deviceId: string, judgements: readonly Judgement[]): CounterDelta[] {
  const stripe = toCounterStripe(deviceId)
  return judgements.flatMap(({ previousStatus, result }) => {
    if (previousStatus === result.status) return []
    const place = { check_id: result.check_id, stripe }
    const gained = { ...place, status: result.status, delta: 1 }
    return previousStatus === null
      ? [gained]
      : [{ ...place, status: previousStatus, delta: -1 }, gained]
  })
}

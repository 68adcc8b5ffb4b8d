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
import { recordIssueEvents } from '../issues/record-issue-events.ts'
import type { AuthState, Compliance, InitiatingEntity } from '../../schema/status-values.ts'
import { moveCheckCounters, toCounterStripe, type CounterDelta } from './check-counter-store.ts'
import {
  listDeviceChecks,
  updateChecksRanAt,
  upsertCheckResults,
  type DeviceCheck,
  type ListedDeviceCheck,
  type NewCheckTransition,
} from './check-result-store.ts'
import { judgeCheckResult, type Judgement } from './judge-check-result.ts'
import { parseCheckResult, type CheckAnswer } from './parse-check-result.ts'

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
 * and to checks that do not target the device; a repeated report changes nothing.
 *
 * A grace period that ended before the report is settled first, at its own time. The number of
 * statements does not grow with the number of answers.
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
    return answer !== undefined && isAcceptable(check, answer) ? [{ check, answer }] : []
  })
  const acceptedCheckIds = accepted.map(({ check }) => check.checkId)
  const isWholeRound = isRoundWhole(checks, new Set(acceptedCheckIds))
  const judgements = await storeJudgements(change, report, ranAt, accepted)
  if (isWholeRound) await updateChecksRanAt(change.tx, report.deviceId, ranAt)

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

function isAcceptable(check: DeviceCheck, answer: ReportedCheck): boolean {
  if (check.isPaused || !check.isTargeted) return false
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

async function storeJudgements(
  change: Change,
  report: CheckReport,
  ranAt: Date,
  accepted: readonly { check: DeviceCheck; answer: ReportedCheck }[],
): Promise<readonly Judgement[]> {
  if (accepted.length === 0) return []
  const { tx } = change
  const { deviceId } = report
  const subject = { kind: 'device', id: deviceId } as const
  const checkIds = accepted.map(({ check }) => check.checkId)
  const openIssues = Map.groupBy(
    await listOpenIssues(tx, subject, checkIds),
    (issue) => issue.checkId,
  )
  const judgements = accepted.map(({ check, answer }) =>
    judgeCheckResult(
      check,
      parseCheckResult(answer, check.primaryKeyColumn),
      openIssues.get(check.checkId) ?? [],
      ranAt,
    ),
  )
  await upsertCheckResults(
    tx,
    deviceId,
    {
      results: judgements.map((judgement) => judgement.result),
      transitions: toTransitions(change, report, ranAt, judgements),
    },
    { ranAt, askedAt: report.askedAt ?? ranAt },
  )
  const resolvedIds = judgements.flatMap((judgement) => judgement.issues.resolvedIds)
  const openedIds = await updateSubjectIssues(
    tx,
    subject,
    {
      opened: judgements.flatMap((judgement) => judgement.issues.opened),
      rechecked: judgements.flatMap((judgement) => judgement.issues.rechecked),
      resolvedIds,
    },
    ranAt,
  )
  recordIssueEvents(change, { openedIds, resolvedIds }, ranAt)
  return judgements
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

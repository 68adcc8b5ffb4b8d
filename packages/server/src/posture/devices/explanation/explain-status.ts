/*
 * Why a device has the status that it has, and what would change it. The status and what it would be are derived
 * by evaluateDevice, as for real.
 */
import type { Kysely } from 'kysely'
import { notFound } from '../../../platform/app-error.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { AuthState } from '../../../schema/status-values.ts'
import type { StatusIssue } from '../../issues/issue-store.ts'
import { listStatusDevices, type LockedDevice } from '../device-status-store.ts'
import type { DeviceEvaluation } from '../evaluate-device-status.ts'
import { evaluateDevice } from '../reevaluate-devices.ts'
import { readStatusFacts, type StatusFacts } from '../status-facts.ts'
import { countOwedChecks, listDetections } from './explanation-read.ts'

/** An open issue and what it does to the status. */
export interface ExplainedIssue extends StatusIssue {
  /** Since when the check fails. */
  readonly detectedAt: Date
  /** Whether it makes the status what it is, counts less than others do, is exempted, or only reported. */
  readonly effect: 'decides' | 'counts' | 'exempted' | 'reports'
  /** What the status would be if this issue alone were resolved. */
  readonly stateWithout: AuthState
}

/** Why a device has its status. */
export interface StatusExplanation {
  readonly deviceId: string
  readonly authState: AuthState
  readonly compliance: DeviceEvaluation['compliance']
  readonly since: Date | null
  readonly willBlockAt: Date | null
  readonly isEvaluated: boolean
  /** Checks that have not been answered yet. */
  readonly owedCount: number
  readonly issues: readonly ExplainedIssue[]
  /** Since when the oldest of the issues that decide exists. */
  readonly failingSince: Date | null
  /** What time alone will change next. */
  readonly nextChange: { readonly at: Date; readonly authState: AuthState } | null
}

/**
 * Explains the status of a device at a time. Reads only.
 *
 * @throws AppError `not_found`
 */
export async function explainStatus(
  db: Kysely<Schema>,
  deviceId: string,
  now: Date,
): Promise<StatusExplanation> {
  const [device] = await listStatusDevices(db, [deviceId])
  if (device === undefined) throw notFound('device', deviceId)
  const facts = await readStatusFacts(db, [device])
  const { evaluation, isEvaluated } = evaluateDevice(device, facts, now)
  const detections = await listDetections(
    db,
    facts.issuesOf(device).map(({ issueId }) => issueId),
  )
  const issues = explainIssues(device, facts, { evaluation, detections, now })
  const deciding = issues.filter(({ effect }) => effect === 'decides')
  return {
    deviceId: device.id,
    authState: evaluation.authState,
    compliance: evaluation.compliance,
    since: device.statusChangedAt,
    willBlockAt: evaluation.willBlockAt,
    isEvaluated,
    owedCount: await countOwedChecks(db, device.id),
    issues,
    failingSince: earliest(deciding.map(({ detectedAt }) => detectedAt)),
    nextChange: findNextChange(device, facts, evaluation),
  }
}

interface Explained {
  readonly evaluation: DeviceEvaluation
  readonly detections: ReadonlyMap<string, Date>
  readonly now: Date
}

function explainIssues(
  device: LockedDevice,
  facts: StatusFacts,
  { evaluation, detections, now }: Explained,
): ExplainedIssue[] {
  const deciding = new Set(evaluation.reasons.map(({ issueId }) => issueId))
  const all = facts.issuesOf(device)
  return all.map((issue) => {
    const others = { ...facts, issuesOf: () => all.filter((other) => other !== issue) }
    return {
      ...issue,
      detectedAt: detections.get(issue.issueId) ?? now,
      effect: deciding.has(issue.issueId) ? 'decides' : toEffect(issue, now),
      stateWithout: evaluateDevice(device, others, now).evaluation.authState,
    }
  })
}

function toEffect(issue: StatusIssue, now: Date): ExplainedIssue['effect'] {
  const { exemptedAt, exemptionExpiresAt, strategy } = issue
  const hasEnded = exemptionExpiresAt !== null && exemptionExpiresAt <= now
  if (exemptedAt !== null && !hasEnded) return 'exempted'
  return strategy === 'report_only' ? 'reports' : 'counts'
}

function findNextChange(
  device: LockedDevice,
  facts: StatusFacts,
  { authState, reevaluateAt }: DeviceEvaluation,
): StatusExplanation['nextChange'] {
  if (reevaluateAt === null) return null
  const next = evaluateDevice(device, facts, reevaluateAt).evaluation
  return next.authState === authState ? null : { at: reevaluateAt, authState: next.authState }
}

function earliest(times: readonly Date[]): Date | null {
  return times.length === 0 ? null : new Date(Math.min(...times.map((time) => time.getTime())))
}

import type { StatusIssue } from '../issues/issue-store.ts'
import type { AuthState, Compliance } from '../../schema/status-values.ts'
import type { StatusReason } from '../../changes/domain-event.ts'

/** From which state on a device counts as not compliant; a setting of the organisation. */
export type ComplianceThreshold = 'blocked' | 'will_block' | 'notified'

export interface StatusInput {
  /** False until every check that targets the device has answered once. */
  readonly isEvaluated: boolean
  /** The open issues of the device, exempted ones included. */
  readonly issues: readonly StatusIssue[]
  readonly threshold: ComplianceThreshold
  readonly now: Date
}

/** What a device's status is at a moment, and when it may change by itself. */
export interface DeviceEvaluation {
  readonly authState: AuthState
  readonly willBlockAt: Date | null
  readonly compliance: Compliance
  /** The next end of a grace period that can change the status, or of an exemption; null without one. */
  readonly reevaluateAt: Date | null
  /** The issues that make the state what it is, worst first. */
  readonly reasons: readonly StatusReason[]
}

/**
 * Derives a device's status from its open issues. Exempted issues do not count until their exemption
 * ends. An issue blocks from its blocking time on, warns before it, and notifies when its check is not
 * `report_only` but never blocks this device: the strategy is `notify_only`, or a group spares the
 * device from blocking, though not from knowing. A device that was never evaluated is Blocked.
 */
export function evaluateDeviceStatus(input: StatusInput): DeviceEvaluation {
  if (!input.isEvaluated) return toEvaluation('Blocked', input, [])
  const counting = input.issues.filter((issue) => !isExempted(issue, input.now))
  const blocking = counting.filter((issue) => isReached(issue.blocksDeviceAt, input.now))
  if (blocking.length > 0) return toEvaluation('Blocked', input, blocking)

  const warning = counting.filter((issue) => issue.blocksDeviceAt !== null)
  if (warning.length > 0) return toEvaluation('Will Block', input, warning)
  const notifying = counting.filter((issue) => issue.strategy !== 'report_only')
  return toEvaluation(notifying.length > 0 ? 'Notified' : 'Good', input, notifying)
}

function isExempted(issue: StatusIssue, now: Date): boolean {
  return issue.exemptedAt !== null && !isReached(issue.exemptionExpiresAt, now)
}

function isReached(time: Date | null, now: Date): boolean {
  return time !== null && time <= now
}

function toEvaluation(
  authState: AuthState,
  input: StatusInput,
  issues: readonly StatusIssue[],
): DeviceEvaluation {
  const willBlockAt =
    authState === 'Will Block' ? earliest(issues.map((issue) => issue.blocksDeviceAt)) : null
  // Also where the end changes no status: the issue is told to be exempted until then.
  const exemptionEnds = input.issues
    .filter((issue) => isExempted(issue, input.now))
    .map((issue) => issue.exemptionExpiresAt)
  return {
    authState,
    willBlockAt,
    compliance: toCompliance(authState, input.threshold),
    reevaluateAt: earliest([willBlockAt, ...exemptionEnds]),
    reasons: issues.toSorted(compareByBlockingTime).map(toReason),
  }
}

const SEVERITY = { Good: 0, Notified: 1, 'Will Block': 2, Blocked: 3 } as const
const THRESHOLD_SEVERITY = { notified: 1, will_block: 2, blocked: 3 } as const

function toCompliance(authState: AuthState, threshold: ComplianceThreshold): Compliance {
  return SEVERITY[authState] >= THRESHOLD_SEVERITY[threshold] ? 'not-compliant' : 'compliant'
}

function earliest(times: readonly (Date | null)[]): Date | null {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? null : new Date(Math.min(...known.map((time) => time.getTime())))
}

function compareByBlockingTime(a: StatusIssue, b: StatusIssue): number {
  return (a.blocksDeviceAt?.getTime() ?? 0) - (b.blocksDeviceAt?.getTime() ?? 0)
}

function toReason(issue: StatusIssue): StatusReason {
  const { issueId, issueTitle, checkId, checkSlug, checkName, blocksDeviceAt } = issue
  return { issueId, issueTitle, checkId, checkSlug, checkName, blocksDeviceAt }
}

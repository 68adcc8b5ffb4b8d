import type { IssueChanges, OpenIssue } from '../issues/issue.ts'
import { evaluateBlockingTime } from '../issues/issue.ts'
import type { CheckStatus } from '../../schema/status-values.ts'
import type { CounterDelta } from './check-counter-store.ts'
import type { DeviceCheck, NewCheckResult } from './check-result-store.ts'
import type { CheckOutcome, ParsedCheckResult } from './parse-check-result.ts'

/** What a new answer does to the result and the issues of a check on a device. */
export interface Judgement {
  readonly result: NewCheckResult
  /** Null when the status stays what it was. */
  readonly transition: { readonly from: CheckStatus; readonly to: CheckOutcome } | null
  /** Null where there was no result before: nothing leaves a counter then. */
  readonly previousStatus: CheckStatus | null
  readonly issues: IssueChanges
}

/**
 * Judges an answer against what is stored. A failing row opens its issue or keeps it open; an issue
 * that no row reports any more is resolved by a pass, by inapplicability and by a failure that reports
 * others. An answer that is errored or unknown neither opens nor resolves.
 */
export function judgeCheckResult(
  check: DeviceCheck,
  parsed: ParsedCheckResult,
  openIssues: readonly OpenIssue[],
  ranAt: Date,
): Judgement {
  const previousStatus = check.stored?.status ?? null
  const hasChanged = previousStatus !== parsed.status
  return {
    result: {
      check_id: check.checkId,
      status: parsed.status,
      revision: check.revision,
      status_changed_at: hasChanged ? ranAt : (check.stored?.statusChangedAt ?? ranAt),
      failing_since: evaluateFailingSince(check, parsed.status, ranAt),
      rows: parsed.rows,
      error_message: parsed.errorMessage,
    },
    transition: hasChanged ? { from: previousStatus ?? 'pending', to: parsed.status } : null,
    previousStatus,
    issues: judgeIssues(check, parsed, openIssues, ranAt),
  }
}

/** An errored or unknown answer says nothing about a failure that was there before. */
function evaluateFailingSince(check: DeviceCheck, status: CheckOutcome, ranAt: Date): Date | null {
  const since = check.stored?.failingSince ?? null
  switch (status) {
    case 'failing':
      return since ?? ranAt
    case 'errored':
    case 'unknown':
      return since
    case 'passing':
    case 'inapplicable':
      return null
  }
}

function judgeIssues(
  check: DeviceCheck,
  parsed: ParsedCheckResult,
  openIssues: readonly OpenIssue[],
  ranAt: Date,
): IssueChanges {
  if (parsed.status === 'errored' || parsed.status === 'unknown') {
    return { opened: [], rechecked: [], resolvedIds: [] }
  }
  const openByValue = new Map(openIssues.map((issue) => [issue.issueValue, issue]))
  const failingValues = new Set(parsed.failures.map((failure) => failure.issueValue))
  return {
    opened: parsed.failures
      .filter((failure) => !openByValue.has(failure.issueValue))
      .map(({ issueValue, row }) => ({
        checkId: check.checkId,
        title: check.issueTitle,
        issueKey: issueValue === null ? null : check.primaryKeyColumn,
        issueValue,
        value: row,
        blocksDeviceAt: evaluateBlockingTime(check, ranAt),
      })),
    rechecked: parsed.failures.flatMap(({ issueValue, row }) => {
      const issue = openByValue.get(issueValue)
      if (issue === undefined) return []
      const blocksDeviceAt = evaluateBlockingTime(check, issue.detectedAt)
      return [{ id: issue.id, value: row, blocksDeviceAt }]
    }),
    resolvedIds: openIssues
      .filter(
        ({ issueValue }) =>
          !failingValues.has(issueValue) && !parsed.undecidedValues.has(issueValue),
      )
      .map((issue) => issue.id),
  }
}

/** How the counters of a check move by the new result of a device or person. */
export function toCounterDeltas({ previousStatus, result }: Judgement): CounterDelta[] {
  if (previousStatus === result.status) return []
  const { check_id } = result
  const gained = { check_id, status: result.status, delta: 1 }
  return previousStatus === null
    ? [gained]
    : [{ check_id, status: previousStatus, delta: -1 }, gained]
}

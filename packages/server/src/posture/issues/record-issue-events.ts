import type { Change } from '../../changes/change.ts'

/** Issues that a change has opened or resolved. */
export interface ChangedIssues {
  readonly openedIds: readonly string[]
  readonly resolvedIds: readonly string[]
}

/** Tells of opened and resolved issues in the open change; `occurredAt` is the time of the result. */
export function recordIssueEvents(
  change: Change,
  { openedIds, resolvedIds }: ChangedIssues,
  occurredAt: Date,
): void {
  for (const issueId of openedIds) change.recordEvent({ type: 'issues.new', issueId, occurredAt })
  for (const issueId of resolvedIds) {
    change.recordEvent({ type: 'issues.resolved', issueId, occurredAt })
  }
}

/*
 * Issues: what a failing check opens on a device, and when it blocks. Owns the rules and the rows of
 * issues; which result opens or resolves one is decided in checks/, what they mean for a device in
 * devices/.
 */
import { DAY_MS } from '../../platform/clock.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import type { RemediationStrategy } from '../../schema/status-values.ts'

/** The part of a check's configuration that decides when its issues block. */
export interface BlockingRule {
  readonly strategy: RemediationStrategy
  readonly gracePeriodDays: number
  /** No issue blocks before this time, whenever it was detected. */
  readonly beginsBlockingOn: Date | null
  /** False where the blocking groups or the excluded groups spare the device. */
  readonly isBlockingAllowed: boolean
}

/**
 * When an issue blocks its device: at its detection, or once the grace period is over, but never
 * before the check begins to block. Null when it never does.
 */
export function evaluateBlockingTime(rule: BlockingRule, detectedAt: Date): Date | null {
  if (!rule.isBlockingAllowed) return null
  switch (rule.strategy) {
    case 'notify_only':
    case 'report_only':
      return null
    case 'block_immediately':
      return latest(detectedAt, rule.beginsBlockingOn)
    case 'warn_then_block':
      return latest(
        new Date(detectedAt.getTime() + rule.gracePeriodDays * DAY_MS),
        rule.beginsBlockingOn,
      )
  }
}

function latest(time: Date, other: Date | null): Date {
  return other !== null && other > time ? other : time
}

/** An open issue as the judgement of a new result needs it. */
export interface OpenIssue {
  readonly id: string
  /** The device or person that it is of. */
  readonly subjectId: string
  readonly checkId: string
  readonly issueValue: string | null
  readonly detectedAt: Date
  readonly value: OsqueryRow
  readonly blocksDeviceAt: Date | null
  readonly lastRecheckedAt: Date
  /** Whether it was found again by the last round of its device, whose time it follows. */
  readonly followsRound: boolean
}

/** An issue to open. */
export interface NewIssue {
  readonly checkId: string
  readonly title: string
  readonly issueKey: string | null
  readonly issueValue: string | null
  readonly value: OsqueryRow
  readonly blocksDeviceAt: Date | null
}

/** An open issue that was found again. */
export interface RecheckedIssue {
  readonly id: string
  readonly value: OsqueryRow
  readonly blocksDeviceAt: Date | null
}

/** What a round of results does to the issues of a device. */
export interface IssueChanges {
  readonly opened: readonly NewIssue[]
  readonly rechecked: readonly RecheckedIssue[]
  readonly resolvedIds: readonly string[]
}

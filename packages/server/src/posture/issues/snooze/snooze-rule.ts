/*
 * When an issue may be put off, and for how long. An issue that is put off is as open as before: its device blocks at
 * the same moment, and only the reminder at each sign-in stays away until then.
 */
import { DAY_MS } from '../../../platform/clock.ts'

/** For how many days a person may put an issue off. */
const SNOOZE_DAYS = [1, 3, 7] as const

/** Once in this time, counted from when it was put off. */
const AGAIN_AFTER_MS = 7 * DAY_MS

/** For so many days before its device blocks, an issue is always shown. */
export const SHOWN_BEFORE_BLOCKING_DAYS = 1

/** What decides whether an issue may be put off. */
export interface SnoozableIssue {
  readonly blocksDeviceAt: Date | null
  readonly snoozedAt: Date | null
  readonly isSnoozeDisallowed: boolean
  readonly isExempted: boolean
  readonly resolvedAt: Date | null
}

/** For how many days an issue may be put off now; none where it may not. */
export function listSnoozeDays(issue: SnoozableIssue, at: Date): readonly number[] {
  const { blocksDeviceAt, snoozedAt, isSnoozeDisallowed, isExempted, resolvedAt } = issue
  if (isSnoozeDisallowed || isExempted || resolvedAt !== null) return []
  if (snoozedAt !== null && at.getTime() - snoozedAt.getTime() < AGAIN_AFTER_MS) return []
  const latestMs =
    blocksDeviceAt === null
      ? Infinity
      : blocksDeviceAt.getTime() - SHOWN_BEFORE_BLOCKING_DAYS * DAY_MS
  return SNOOZE_DAYS.filter((days) => at.getTime() + days * DAY_MS <= latestMs)
}

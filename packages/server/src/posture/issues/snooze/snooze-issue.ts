/*
 * A person puts an issue off, or wants to be reminded of it again. Owns no status: whether and when a device blocks is
 * the same with and without it. Whether the issue is the person's is the caller's to know.
 */
import type { Change } from '../../../changes/change.ts'
import { conflict, notFound } from '../../../platform/app-error.ts'
import { DAY_MS } from '../../../platform/clock.ts'
import { listSnoozeDays } from './snooze-rule.ts'
import { findIssueForSnooze, updateSnooze, type LockedIssue } from './snooze-store.ts'

/**
 * Puts an issue off for a number of days, once in a week.
 *
 * @throws AppError `not_found`; `conflict` where it may not be put off, or not for so long
 */
export async function snoozeIssue(change: Change, id: string, days: number): Promise<void> {
  const issue = await getIssue(change, id)
  if (!listSnoozeDays(issue, change.at).includes(days)) {
    throw conflict('This cannot be put off now, or not for so long.')
  }
  const snoozedUntil = new Date(change.at.getTime() + days * DAY_MS)
  await updateSnooze(change.tx, id, { snoozedAt: change.at, snoozedUntil, at: change.at })
  change.recordAudit({
    action: 'issue.snoozed',
    target: { type: 'issue', id },
    description: `put off the issue "${issue.title}" for ${days === 1 ? 'a day' : `${days} days`}`,
    before: { snoozed_until: issue.snoozedUntil?.toISOString() ?? null },
    after: { snoozed_until: snoozedUntil.toISOString() },
  })
}

/**
 * Ends the time for which an issue was put off; nothing happens where it is over. It does not make room for another
 * one.
 *
 * @throws AppError `not_found`
 */
export async function endSnooze(change: Change, id: string): Promise<void> {
  const { title, snoozedUntil } = await getIssue(change, id)
  if (snoozedUntil === null || snoozedUntil <= change.at) return
  await updateSnooze(change.tx, id, { snoozedUntil: change.at, at: change.at })
  change.recordAudit({
    action: 'issue.snooze_ended',
    target: { type: 'issue', id },
    description: `wants to be reminded again of the issue "${title}"`,
    before: { snoozed_until: snoozedUntil.toISOString() },
    after: { snoozed_until: change.at.toISOString() },
  })
}

async function getIssue({ tx, at }: Change, id: string): Promise<LockedIssue> {
  const issue = await findIssueForSnooze(tx, id, at)
  if (issue === undefined) throw notFound('issue', id)
  return issue
}

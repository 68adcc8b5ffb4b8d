import type { Change } from '../../../changes/change.ts'
import { AppError } from '../../../platform/app-error.ts'
import { endSnooze, snoozeIssue } from '../../../posture/issues/snooze/snooze-issue.ts'
import type { FormBody } from '../kit/form-body.ts'

/** What the form says of an issue that is to be shown again at once. */
export const NOT_SNOOZED = 'none'

/**
 * Does what the form about putting off an issue says. Whether the issue is the person's is the caller's to know.
 *
 * @throws AppError `invalid_body`; `conflict` where the issue may not be put off, or not for so long
 */
export async function takeSnoozeForm(
  change: Change,
  issueId: string,
  form: FormBody,
): Promise<void> {
  const days = form.get('days') ?? ''
  if (days === NOT_SNOOZED) return endSnooze(change, issueId)
  if (!/^\d{1,2}$/.test(days)) throw new AppError('invalid_body', 'Say for how many days.')
  return snoozeIssue(change, issueId, Number(days))
}

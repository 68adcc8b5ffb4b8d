/*
 * What a round of checks has to write: results and issues that it found as they were follow its time, which is
 * one row. Pure; the rows are round-store.ts's.
 */
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { OpenIssue, RecheckedIssue } from '../issues/issue.ts'
import type { NewCheckResult } from './check-result-store.ts'
import type { ListedDeviceCheck } from './list-device-checks.ts'

/**
 * What a stored result is known again by, beside its status and revision: 16 bytes, as PostgreSQL writes them (`\\x`
 * and hexadecimal digits). The time at which it was written belongs to it, so that a hash never stands for what a
 * program without hashes has written since.
 */
export function hashContent(
  { rows, error_message }: Pick<NewCheckResult, 'rows' | 'error_message'>,
  ranAt: Date,
): string {
  const text = JSON.stringify([rows, error_message, ranAt.getTime()])
  return `\\x${hash('sha256', text, 'hex').slice(0, HASH_DIGITS)}`
}

const HASH_DIGITS = 32

/** Whether a result of a round needs no writing, since it is stored as it is and follows the round already. */
export function isFoundAgain(
  check: Pick<ListedDeviceCheck, 'stored' | 'following'>,
  result: NewCheckResult,
  ranAt: Date,
): boolean {
  const { stored, following } = check
  const storedRanAt = stored?.ranAt ?? null
  if (following === null || stored === null || storedRanAt === null || storedRanAt > ranAt) {
    return false
  }
  return (
    stored.status === result.status &&
    following.revision === result.revision &&
    following.contentHash === hashContent(result, storedRanAt)
  )
}

/** Whether an issue that a round found again needs no writing. */
export function isIssueFoundAgain(
  issue: OpenIssue,
  rechecked: RecheckedIssue,
  ranAt: Date,
): boolean {
  return (
    issue.followsRound &&
    issue.lastRecheckedAt <= ranAt &&
    issue.blocksDeviceAt?.getTime() === rechecked.blocksDeviceAt?.getTime() &&
    isDeepStrictEqual(issue.value, rechecked.value)
  )
}

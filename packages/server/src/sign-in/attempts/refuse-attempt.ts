import type { Change } from '../../changes/change.ts'
import type { AttemptEvidence, AttemptStage } from '../../schema/tables/sign-in-tables.ts'
import type { Attempt } from './attempt-store.ts'
import { refuseLocked } from './end-attempt.ts'
import { lockAttempt } from './move-attempt.ts'
import type { RefusalCode } from './refusals.ts'

const UNDER_WAY: readonly AttemptStage[] = [
  'person',
  'device',
  'registration',
  'fallback',
  'posture',
  'blocked',
  'warned',
]

/**
 * Refuses an attempt, wherever it stands.
 *
 * @throws AppError `not_found`; `conflict` when it has ended
 */
export async function refuseAttempt(
  change: Change,
  attemptId: string,
  code: RefusalCode,
  evidence: AttemptEvidence = {},
): Promise<Attempt> {
  return refuseLocked(change, await lockAttempt(change, attemptId, UNDER_WAY), code, evidence)
}

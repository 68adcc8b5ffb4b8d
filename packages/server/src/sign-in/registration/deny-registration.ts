/* The end of a sign-in that waits for the registration of its device, once admins have denied the request for it. */
import type { Change } from '../../changes/change.ts'
import type { AttemptEvidence } from '../../schema/tables/sign-in-tables.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { refuseLocked } from '../attempts/end-attempt.ts'
import { lockAttempt } from '../attempts/move-attempt.ts'
import { updateConfirmation, type RegistrationDenial } from './confirmation-store.ts'

/** The member of the evidence that holds what the person is told. */
const NOTE = 'denial_note'

/**
 * Refuses an attempt that waits for its registration. Nobody can confirm it any more.
 *
 * @throws AppError `not_found`, `conflict` for an attempt at another step
 */
export async function denyRegistration(
  change: Change,
  attemptId: string,
  { confirmationId, decidedBy, note }: RegistrationDenial,
): Promise<Attempt> {
  const attempt = await lockAttempt(change, attemptId, ['registration'])
  const decided = { status: 'denied', decidedAt: change.now(), decidedBy } as const
  await updateConfirmation(change.tx, confirmationId, decided)
  return refuseLocked(change, attempt, 'registration_denied', note === '' ? {} : { [NOTE]: note })
}

/** What the person is told beside the refusal; null for nothing. */
export function readDenialNote(evidence: AttemptEvidence): string | null {
  const note = evidence[NOTE]
  return typeof note === 'string' ? note : null
}

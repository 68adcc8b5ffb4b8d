import type { Change } from '../../changes/change.ts'
import { lockPerson } from '../../people/people/person-store.ts'
import { AppError } from '../../platform/app-error.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { newUuid, randomInteger } from '../../platform/ids.ts'
import type { ConfirmationWay } from '../../schema/tables/sign-in-tables.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { moveAttempt } from '../attempts/move-attempt.ts'
import { countPendingBeside, insertConfirmation } from './confirmation-store.ts'

/** What is to be confirmed. */
export interface WantedConfirmation {
  readonly kind: 'registration' | 'sign_in'
  readonly ways: readonly ConfirmationWay[]
  readonly deviceId: string
}

const CODE_MAX = 1_000_000
const CODE_DIGITS = 6
/** As long as a sign-in may take. */
const EXPIRES_MS = 10 * MINUTE_MS

/** So that nobody hides a request of a person, or of others from the admins, behind many of their own. */
export const WAITING_OF_PERSON_MAX = 5
const RETRY_AFTER_SECONDS = EXPIRES_MS / SECOND_MS

/**
 * Asks for a confirmation; the locked attempt waits where it stands. An earlier request of it is void.
 *
 * @throws AppError `rate_limited` while too many of the person wait that came from the same address
 */
export async function requestConfirmation(
  change: Change,
  attempt: Attempt,
  { kind, ways, deviceId }: WantedConfirmation,
): Promise<Attempt> {
  const requestedAt = change.now()
  await admitRequest(change, attempt, requestedAt)
  const code = String(randomInteger(0, CODE_MAX)).padStart(CODE_DIGITS, '0')
  const confirmation = await insertConfirmation(change.tx, {
    id: newUuid(),
    attemptId: attempt.id,
    kind,
    ways: [...ways],
    personId: attempt.personId ?? '0',
    deviceId,
    code,
    requestedAt,
    expiresAt: new Date(Math.min(requestedAt.getTime() + EXPIRES_MS, attempt.expiresAt.getTime())),
    decidedAt: null,
    decidedBy: null,
  })
  change.recordAudit({
    action: 'sign_in_attempt.confirmation_requested',
    target: { type: 'sign_in_attempt', id: attempt.id },
    description:
      kind === 'registration'
        ? `asked to confirm the registration of the device ${deviceId}`
        : `asked to confirm a sign-in from the device ${deviceId}`,
    after: { kind, ways: [...ways], device_id: deviceId, confirmation_id: confirmation.id },
  })
  const state = { ...attempt.fallbackState, waits_for: ways[0] ?? null, ways: [...ways], code }
  const description = `The sign-in waits for a confirmation (${ways.join(' or ')}).`
  return moveAttempt(
    change,
    attempt,
    { fallbackState: JSON.stringify(state) },
    { events: [{ type: 'confirmation_requested', description }] },
  )
}

async function admitRequest({ tx }: Change, attempt: Attempt, at: Date): Promise<void> {
  // Of many at once each sees those before it.
  await lockPerson(tx, attempt.personId ?? '0')
  if ((await countPendingBeside(tx, attempt, at)) < WAITING_OF_PERSON_MAX) return
  const message = `${WAITING_OF_PERSON_MAX} sign-ins of yours from here wait for a confirmation already. Decide one, or wait ten minutes.`
  throw new AppError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}

import type { Change } from '../../changes/change.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { newUuid, randomInteger } from '../../platform/ids.ts'
import type { ConfirmationWay } from '../../schema/tables/sign-in-tables.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { moveAttempt } from '../attempts/move-attempt.ts'
import { insertConfirmation } from './confirmation-store.ts'

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

/** Asks for a confirmation; the locked attempt waits where it stands. An earlier request of it is void. */
export async function requestConfirmation(
  change: Change,
  attempt: Attempt,
  { kind, ways, deviceId }: WantedConfirmation,
): Promise<Attempt> {
  const requestedAt = change.now()
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

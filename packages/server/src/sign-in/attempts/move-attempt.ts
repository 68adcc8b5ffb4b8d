/*
 * The one way to move a sign-in on: its row is locked, it must be under way and stand where the step expects it, and
 * the record of the sign-in is written with the step. Owns what is the same in every step; which steps there are
 * stands in the files beside.
 */
import type { Change } from '../../changes/change.ts'
import { conflict } from '../../platform/app-error.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import type { AttemptStage } from '../../schema/tables/sign-in-tables.ts'
import { extendSession, type SessionExtension } from '../journal/extend-session.ts'
import { getAttemptForUpdate, updateAttempt, type Attempt } from './attempt-store.ts'

/** How long a sign-in may take. Entra drops its own after about as long. */
export const ATTEMPT_LIFETIME_MS = 10 * MINUTE_MS
/** The record of a sign-in outlives it: its end is written by whoever ends the attempt. */
export const JOURNAL_TIMEOUT_SECONDS = 20 * 60

/**
 * A sign-in under way, locked until the change ends.
 *
 * @throws AppError `not_found`; `conflict` when it has ended, its time is over, or it stands elsewhere
 */
export async function lockAttempt(
  change: Change,
  id: string,
  from: readonly AttemptStage[],
): Promise<Attempt> {
  const attempt = await getAttemptForUpdate(change.tx, id)
  if (attempt.endedAt !== null || attempt.expiresAt <= change.now()) {
    throw conflict('This sign-in has ended. Begin again where you came from.')
  }
  if (from.includes(attempt.stage)) return attempt
  throw conflict(`This sign-in is at another step: ${attempt.stage}.`)
}

/** What becomes of an attempt in a step. */
type AttemptChanges = Parameters<typeof updateAttempt>[2]

/** What its record is told. */
type Told = Pick<SessionExtension, 'events'> &
  Partial<Pick<SessionExtension, 'deviceId' | 'columns'>>

/** Moves a locked attempt on, and writes the step into its record. */
export async function moveAttempt(
  change: Change,
  attempt: Attempt,
  changes: AttemptChanges,
  { events, deviceId, columns = {} }: Told,
): Promise<Attempt> {
  const { authLogSessionId } = attempt
  if (authLogSessionId !== null) {
    await extendSession(change, authLogSessionId, {
      events,
      columns,
      deviceId,
      timeoutSeconds: JOURNAL_TIMEOUT_SECONDS,
    })
  }
  return updateAttempt(change, attempt, changes)
}

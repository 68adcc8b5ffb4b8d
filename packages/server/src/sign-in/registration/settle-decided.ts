/*
 * What follows from a decision that was taken beside a sign-in, also while nobody has its page open. Every process
 * hears of it; whichever is first ends the sign-in.
 */
import type { Foundation } from '../../changes/foundation.ts'
import { findAttempt } from '../attempts/attempt-store.ts'
import { settleRegistration, type SettleDependencies } from '../attempts/run-posture.ts'

/**
 * A failure is logged: the sign-in then ends when its page is asked for, or when its time is over.
 *
 * @param payload of a notification about an attempt
 */
export async function settleDecided(
  { log, ...dependencies }: SettleDependencies & Pick<Foundation, 'log'>,
  payload: string,
): Promise<void> {
  const id = readDecided(payload)
  if (id === undefined) return
  try {
    const attempt = await findAttempt(dependencies.db, id)
    if (attempt !== undefined) await settleRegistration(dependencies, attempt)
  } catch (error) {
    log.warn({ err: error }, 'a sign-in that was decided about did not end')
  }
}

function readDecided(payload: string): string | undefined {
  try {
    const told = JSON.parse(payload) as { readonly id?: unknown; readonly isDecided?: unknown }
    return told.isDecided === true && typeof told.id === 'string' ? told.id : undefined
  } catch {
    return undefined
  }
}

/*
 * What became of telling an application is put on record: taken, to be told again, or given up, which admins are told.
 */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { listDueLogouts, updateLogout, type DueLogout } from './logout-store.ts'
import type { LogoutAnswer } from './tell-application.ts'

export type SettleLogoutsDependencies = Pick<Foundation, 'db' | 'clock' | 'runChange'>

const LAST_RETRY_MS = 30 * MINUTE_MS
const RETRIES_MS = [5 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS] as const
/** How long after the end of a session its application is still told. */
const TOLD_FOR_MS = 24 * HOUR_MS
const GIVEN_UP_AT_ONCE = 100

/** When something is tried again that has failed so often in a row. */
export function toRetryTime(failures: number, now: Date): Date {
  return new Date(now.getTime() + (RETRIES_MS[failures - 1] ?? LAST_RETRY_MS))
}

/**
 * Records what the application said about one. One that was unavailable is told again when it is asked again at all.
 */
export async function settleLogout(
  dependencies: SettleLogoutsDependencies,
  due: DueLogout,
  answer: LogoutAnswer,
): Promise<void> {
  const { db, clock } = dependencies
  if (answer.kind === 'taken') {
    await updateLogout(db, due, { outcome: 'told' })
    return
  }
  const { failure } = answer
  const now = clock.now()
  const dueAt = answer.kind === 'refused' ? toRetryTime(due.attempts, now) : now
  if (dueAt.getTime() > due.endedAt.getTime() + TOLD_FOR_MS) {
    await giveUp(dependencies, [due], failure)
  } else {
    await updateLogout(db, due, { outcome: null, failure, dueAt })
  }
}

/** Gives up what an unavailable application was to be told for too long, whether it was tried or not. */
export async function giveUpOldLogouts(
  dependencies: SettleLogoutsDependencies,
  applicationId: string,
  failure: string,
): Promise<void> {
  const { db, clock } = dependencies
  const endedBefore = new Date(clock.now().getTime() - TOLD_FOR_MS)
  for (;;) {
    const old = await listDueLogouts(db, applicationId, endedBefore, GIVEN_UP_AT_ONCE)
    await giveUp(dependencies, old, failure)
    if (old.length < GIVEN_UP_AT_ONCE) return
  }
}

async function giveUp(
  { runChange }: SettleLogoutsDependencies,
  logouts: readonly DueLogout[],
  failure: string,
): Promise<void> {
  if (logouts.length === 0) return
  await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    for (const due of logouts) {
      if (!(await updateLogout(change.tx, due, { outcome: 'given_up', failure }))) continue
      change.recordAudit({
        action: 'sign_in_session.logout_given_up',
        target: { type: 'sign_in_session', id: due.id },
        description: 'gave up telling an application that a session has ended',
        after: {
          client_id: due.clientId,
          person_id: due.personId,
          attempts: due.attempts,
          failure,
        },
      })
    }
  })
}

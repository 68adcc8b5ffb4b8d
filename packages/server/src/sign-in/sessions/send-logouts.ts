/*
 * Applications are told that a session has ended. The debt was written with the end; what is owed is sent outside of
 * any transaction, by whichever worker. Owns that several applications are told at once, each by one worker at a time,
 * and that one which does not answer keeps nobody else waiting.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Foundation } from '../../changes/foundation.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { deleteToldApplications } from '../applications/application-store.ts'
import { claimDueLogout, clearUnwantedLogouts } from './logout-store.ts'
import {
  claimLogoutTurn,
  findNextLogout,
  insertLogoutTurns,
  updateLogoutTurn,
  type LogoutTurn,
} from './logout-turn-store.ts'
import { giveUpOldLogouts, settleLogout, toRetryTime } from './settle-logouts.ts'
import { tellApplication, type TellApplicationDependencies } from './tell-application.ts'

export interface SendLogoutsDependencies
  extends TellApplicationDependencies, Pick<Foundation, 'db' | 'clock' | 'log' | 'runChange'> {}

/** Applications that one worker tells at once. */
const TURNS_MAX = 8
/** After this an application makes room for others. */
const TURN_MS = 30 * SECOND_MS
/** Longer than a turn with its last request: then the worker is gone. */
const HELD_MS = 2 * MINUTE_MS
/** How soon applications are seen that come to be told while others keep the worker waiting. */
const LOOK_AGAIN_MS = 250

/** Tells every application that is to be told, and answers when the next one is. */
export async function sendLogouts(
  dependencies: SendLogoutsDependencies,
): Promise<Date | undefined> {
  const { db, clock, log } = dependencies
  await clearUnwantedLogouts(db)
  await insertLogoutTurns(db)
  const underWay = new Set<Promise<void>>()
  const begin = (turn: LogoutTurn) => {
    const work = takeTurn(dependencies, turn)
      .catch((error: unknown) => {
        log.error({ err: error, ...turn }, 'an application could not be told of logouts')
      })
      .finally(() => underWay.delete(work))
    underWay.add(work)
  }
  try {
    for (;;) {
      const now = clock.now()
      const turn =
        underWay.size < TURNS_MAX
          ? await claimLogoutTurn(db, now, new Date(now.getTime() + HELD_MS))
          : undefined
      if (turn !== undefined) begin(turn)
      else if (underWay.size === 0) {
        await deleteToldApplications(db)
        return await findNextLogout(db)
      } else await Promise.race([...underWay, sleep(LOOK_AGAIN_MS)])
    }
  } finally {
    await Promise.all(underWay)
  }
}

/** Tells one application what it is to be told, one after the other, as long as it answers. */
async function takeTurn(dependencies: SendLogoutsDependencies, turn: LogoutTurn): Promise<void> {
  const { db, clock, log } = dependencies
  const { applicationId, heldUntil } = turn
  const endsAtMs = clock.now().getTime() + TURN_MS
  while (clock.now().getTime() < endsAtMs) {
    const due = await claimDueLogout(db, applicationId, clock.now(), heldUntil)
    if (due === undefined) break
    const answer = await tellApplication(dependencies, due)
    await settleLogout(dependencies, due, answer)
    if (answer.kind === 'taken') continue
    const { failure } = answer
    log.warn({ sessionId: due.id, applicationId, failure }, 'an application did not take a logout')
    if (answer.kind === 'refused') continue
    await giveUpOldLogouts(dependencies, applicationId, failure)
    const failures = turn.failures + 1
    await updateLogoutTurn(db, turn, { failures, free_at: toRetryTime(failures, clock.now()) })
    return
  }
  await updateLogoutTurn(db, turn, { failures: 0, free_at: null })
}

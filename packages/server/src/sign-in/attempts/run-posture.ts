/*
 * What happens between knowing a device and deciding: checks whose results are too old run again, for as long as a
 * person waits. Owns no decision. Any process may do it, at any time, again: the decision is a change of its own.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { AppError } from '../../platform/app-error.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { getSignInPolicy } from '../policy/policy-store.ts'
import { findDeviceOfPerson } from './attempt-facts-read.ts'
import { findAttempt, type Attempt } from './attempt-store.ts'
import { continueAttempt, postureKnown } from './decide-posture.ts'
import { deviceRegistered } from './know-device.ts'
import { countUnanswered, insertCheckRefreshes, listStaleCheckIds } from './stale-checks-store.ts'

export type RunPostureDependencies = Pick<Foundation, 'db' | 'runChange' | 'clock'>

/** How long a person waits for the answer of a device. */
const ANSWER_MAX_MS = 8 * SECOND_MS
const LOOK_MS = 100

/** Whose step it is. */
interface PostureStep {
  /** The person goes on: what was shown is accepted. */
  readonly isContinuing: boolean
  /** Every check runs again, whatever its age. */
  readonly isRecheck?: boolean
}

/**
 * Has stale checks of the device run again, and decides.
 *
 * @throws AppError `not_found`, `conflict` for an attempt at another step
 */
export async function runPosture(
  dependencies: RunPostureDependencies,
  attempt: Pick<Attempt, 'id' | 'deviceId'>,
  { isContinuing, isRecheck = false }: PostureStep,
): Promise<Attempt> {
  const isFresh =
    attempt.deviceId === null || (await rerun(dependencies, attempt.deviceId, isRecheck))
  const step = isContinuing ? continueAttempt : postureKnown
  return dependencies.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    step(change, attempt.id, { isFresh }),
  )
}

/**
 * Goes on with an attempt whose device is known and of which nobody decided yet, or whose registration somebody has
 * decided elsewhere; otherwise nothing happens.
 */
export async function proceedAttempt(
  dependencies: RunPostureDependencies,
  attemptId: string,
): Promise<Attempt | undefined> {
  const found = await findAttempt(dependencies.db, attemptId)
  const attempt = found && (await settleRegistration(dependencies, found))
  if (attempt?.stage !== 'posture') return attempt
  return runPosture(dependencies, attempt, { isContinuing: false })
}

/**
 * The attempt after its device was registered beside it, by the approval of a request, say: an attempt that waits at its
 * registration goes on. Any number of processes may call it at a time.
 */
export async function settleRegistration(
  { db, runChange, clock }: RunPostureDependencies,
  attempt: Attempt,
): Promise<Attempt> {
  const { id, stage, deviceId, personId, endedAt, expiresAt } = attempt
  if (stage !== 'registration' || endedAt !== null || expiresAt <= clock.now()) return attempt
  const device = await findDeviceOfPerson(db, deviceId ?? '0', personId ?? '0')
  if (device?.isRegistered !== true) return attempt
  const moved = runChange({ actor: SYSTEM_ACTOR }, async (change) => deviceRegistered(change, id))
  return moved.catch(async (error: unknown) => {
    // Somebody else was faster.
    if (error instanceof AppError && error.code === 'conflict') {
      return (await findAttempt(db, id)) ?? attempt
    }
    throw error
  })
}

/** Whether every check whose shelf life is over has run again. */
async function rerun(
  { db, runChange, clock }: RunPostureDependencies,
  deviceId: string,
  isRecheck: boolean,
): Promise<boolean> {
  const { recheckAgeMinutes } = await getSignInPolicy(db)
  const now = clock.now()
  const ageMs = isRecheck ? 0 : recheckAgeMinutes * MINUTE_MS
  const checkIds = await listStaleCheckIds(db, deviceId, new Date(now.getTime() - ageMs))
  if (checkIds.length === 0) return true
  await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    await insertCheckRefreshes(change.tx, deviceId, checkIds, change.at)
    change.recordAudit({
      action: 'check.refresh_requested',
      target: { type: 'device', id: deviceId },
      description: `asked the device to run ${checkIds.length} checks again during a sign-in`,
      after: { check_count: checkIds.length },
    })
  })
  const until = performance.now() + ANSWER_MAX_MS
  while (performance.now() < until) {
    await sleep(LOOK_MS)
    if ((await countUnanswered(db, deviceId, checkIds)) === 0) return true
  }
  return false
}

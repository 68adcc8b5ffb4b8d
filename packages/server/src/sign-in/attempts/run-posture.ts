/*
 * What happens between knowing a device and deciding: checks whose results are too old run again, for as long as a
 * person waits. Owns no decision. Any process may do it, at any time, again: the decision is a change of its own.
 */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { AppError, conflict } from '../../platform/app-error.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { DEVICE_CHANNEL } from '../../posture/devices/device-store.ts'
import type { RerunAnswers } from '../../posture/checks/rerun-answers.ts'
import { findRegistrationDenial } from '../registration/confirmation-store.ts'
import { denyRegistration } from '../registration/deny-registration.ts'
import { getSignInPolicy } from '../policy/policy-store.ts'
import { findDeviceOfPerson } from './attempt-facts-read.ts'
import { findAttempt, updateAttempt, type Attempt } from './attempt-store.ts'
import { AT_POSTURE, continueAttempt, postureKnown } from './decide-posture.ts'
import { deviceRegistered } from './know-device.ts'
import { lockAttempt } from './move-attempt.ts'
import {
  countUnanswered,
  insertCheckRefreshes,
  listAskedCheckIds,
  listStaleCheckIds,
} from './stale-checks-store.ts'

/** What going on after a decision elsewhere works with. */
export type SettleDependencies = Pick<Foundation, 'db' | 'runChange' | 'clock'>

export interface RunPostureDependencies extends SettleDependencies {
  readonly reruns: Pick<RerunAnswers, 'begin'>
}

/** How long a person waits for the answer of a device. */
const ANSWER_MAX_MS = 8 * SECOND_MS
/** How often one sign-in has its device asked for everything again, whatever the age of its results. */
export const RECHECKS_MAX = 30
const RECHECKS = 'rechecks'

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
  const { id, deviceId } = attempt
  const isFresh = deviceId === null || (await rerun(dependencies, { id, deviceId }, isRecheck))
  const step = isContinuing ? continueAttempt : postureKnown
  return dependencies.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    step(change, id, { isFresh }),
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
 * The attempt after its device was registered beside it, by the approval of a request, say: an attempt that waits at
 * its registration goes on; it ends where the request was denied. Any number of processes may call it at a time.
 */
export async function settleRegistration(
  { db, runChange, clock }: SettleDependencies,
  attempt: Attempt,
): Promise<Attempt> {
  const { id, stage, deviceId, personId, endedAt, expiresAt } = attempt
  if (stage !== 'registration' || endedAt !== null || expiresAt <= clock.now()) return attempt
  const device = await findDeviceOfPerson(db, deviceId ?? '0', personId ?? '0')
  const denial = await findRegistrationDenial(db, id)
  if (device?.isRegistered !== true && denial === undefined) return attempt
  const moved = runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    denial === undefined ? deviceRegistered(change, id) : denyRegistration(change, id, denial),
  )
  return moved.catch(async (error: unknown) => {
    // Somebody else was faster.
    if (error instanceof AppError && error.code === 'conflict') {
      return (await findAttempt(db, id)) ?? attempt
    }
    throw error
  })
}

/**
 * Whether every check whose shelf life is over has run again. A device that is being asked already is not asked anew.
 *
 * @throws AppError `not_found`; `conflict` for an attempt at another step, or that asked too often: no device is asked
 */
async function rerun(
  { db, runChange, reruns }: RunPostureDependencies,
  { id, deviceId }: { readonly id: string; readonly deviceId: string },
  isRecheck: boolean,
): Promise<boolean> {
  const wait = reruns.begin(deviceId)
  try {
    const checkIds = await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      askForStale(change, await lockAttempt(change, id, AT_POSTURE), isRecheck),
    )
    if (checkIds.length === 0) return true
    const isAnswered = async () => (await countUnanswered(db, deviceId, checkIds)) === 0
    return await wait.until(isAnswered, ANSWER_MAX_MS)
  } finally {
    wait.end()
  }
}

/** Asks the device of an attempt to run what is too old again; answers which checks are to be waited for. */
async function askForStale(
  change: Change,
  attempt: Attempt,
  isRecheck: boolean,
): Promise<readonly string[]> {
  const { tx, at } = change
  const deviceId = attempt.deviceId ?? '0'
  const { recheckAgeMinutes } = await getSignInPolicy(tx)
  const ageMs = isRecheck ? 0 : recheckAgeMinutes * MINUTE_MS
  const checkIds = await listStaleCheckIds(tx, deviceId, new Date(at.getTime() - ageMs))
  const askedSince = new Date(at.getTime() - ANSWER_MAX_MS)
  const asked = new Set(await listAskedCheckIds(tx, deviceId, askedSince))
  const unasked = checkIds.filter((id) => !asked.has(id))
  if (unasked.length > 0) {
    if (isRecheck) await countRecheck(change, attempt)
    await insertCheckRefreshes(tx, deviceId, unasked, at)
    change.recordAudit({
      action: 'check.refresh_requested',
      target: { type: 'device', id: deviceId },
      description: `asked the device to run ${unasked.length} checks again during a sign-in`,
      after: { check_count: unasked.length },
    })
  }
  // Also where somebody else has asked, who may have died before whoever holds the request of the device was told.
  if (checkIds.length > 0) change.tellAfterCommit(DEVICE_CHANNEL, deviceId)
  return checkIds
}

async function countRecheck(change: Change, attempt: Attempt): Promise<void> {
  const rechecks = Number(attempt.fallbackState[RECHECKS] ?? 0)
  if (rechecks >= RECHECKS_MAX) {
    throw conflict(
      'The device was checked too often in this sign-in. Begin again where you came from.',
    )
  }
  const state = { ...attempt.fallbackState, [RECHECKS]: rechecks + 1 }
  await updateAttempt(change, attempt, { fallbackState: JSON.stringify(state) })
}

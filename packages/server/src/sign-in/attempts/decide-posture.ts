/*
 * The decision: whether the device and the person are fit to be let in now. The strictest of the status of the device,
 * the issues of the person and the policy wins. Owns no question to a device: what it answered is in the database.
 */
import type { Change } from '../../changes/change.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { lockDevice } from '../../posture/devices/device-status-store.ts'
import { settleDueStatuses } from '../../posture/devices/settle-due-statuses.ts'
import type { AttemptStage } from '../../schema/tables/sign-in-tables.ts'
import { getSignInPolicy } from '../policy/policy-store.ts'
import { isEveryWarningSnoozed } from '../shown-issues/list-shown-issues.ts'
import { findDeviceOfPerson, isPersonBlocked, type DeviceOfPerson } from './attempt-facts-read.ts'
import { toOwnerRefusal } from './know-device.ts'
import { admitOsUser } from '../proof/os-users.ts'
import type { Attempt } from './attempt-store.ts'
import { grantLocked, mayBreakGlass, refuseLocked } from './end-attempt.ts'
import { lockAttempt, moveAttempt } from './move-attempt.ts'
import type { RefusalCode } from './refusals.ts'

/** What came of asking the device for its stale checks. */
export interface PostureKnowledge {
  /** Whether every check whose shelf life was over has run again. */
  readonly isFresh: boolean
}

/** Where an attempt stands whose device is known and that waits for the decision. */
export const AT_POSTURE: readonly AttemptStage[] = ['posture', 'blocked', 'warned']

/**
 * Decides an attempt whose device is known: it is let in, warned or blocked.
 *
 * @throws AppError `not_found`, `conflict` for an attempt at another step
 */
export async function postureKnown(
  change: Change,
  attemptId: string,
  knowledge: PostureKnowledge,
): Promise<Attempt> {
  return decide(change, await lockAttempt(change, attemptId, AT_POSTURE), knowledge, false)
}

/**
 * The person goes on although the device will be blocked, or after what blocked it has been resolved: decided anew.
 *
 * @throws AppError `not_found`, `conflict`
 */
export async function continueAttempt(
  change: Change,
  attemptId: string,
  knowledge: PostureKnowledge,
): Promise<Attempt> {
  return decide(change, await lockAttempt(change, attemptId, AT_POSTURE), knowledge, true)
}

async function decide(
  change: Change,
  attempt: Attempt,
  { isFresh }: PostureKnowledge,
  isWarned: boolean,
): Promise<Attempt> {
  const { tx } = change
  const locked = attempt.deviceId === null ? undefined : await lockDevice(tx, attempt.deviceId)
  if (locked === undefined) return refuseLocked(change, attempt, 'device_unknown')
  const [device] = await settleDueStatuses(change, [locked], change.now())
  const facts = await findDeviceOfPerson(tx, locked.id, attempt.personId ?? '0')
  const refusal = await findRefusal(change, attempt, facts, isFresh)
  if (refusal !== undefined) return refuseLocked(change, attempt, refusal)
  if (await isBlocked(change, attempt, device?.authState)) return block(change, attempt)
  const isToBeWarned = attempt.applicationId !== null && !isWarned
  if (device?.authState === 'Will Block' && isToBeWarned) {
    const shown = { deviceId: locked.id, at: change.now() }
    if (!(await isEveryWarningSnoozed(tx, shown))) return warn(change, attempt)
  }
  return grantLocked(change, attempt, attempt.assurance ?? 'none')
}

/** On the pages of the person the issues are fixed: these keep nobody out. */
async function isBlocked(
  change: Change,
  { applicationId, personId }: Attempt,
  authState: string | undefined,
): Promise<boolean> {
  if (applicationId === null) return false
  if (authState === 'Blocked') return true
  return isPersonBlocked(change.tx, personId ?? '0', change.now())
}

async function findRefusal(
  change: Change,
  attempt: Attempt,
  device: DeviceOfPerson | undefined,
  isFresh: boolean,
): Promise<RefusalCode | undefined> {
  if (device === undefined || device.isLeaving) return 'device_unknown'
  if (!device.isRegistered && device.ownUntil !== null) return 'registration_ended'
  if (!device.isAllowed) return toOwnerRefusal(device)
  // What the proof saw is as old as the wait for an approval, and the device may be another one's by now.
  if (!(await admitOsUser(change, attempt, device.id))) return 'other_os_user'
  if (isFresh) return undefined
  const { unreachableDevice, lastKnownMinutes } = await getSignInPolicy(change.tx)
  if (unreachableDevice === 'refuse' || device.lastSeenAt === null) return 'device_unreachable'
  const ageMs = change.now().getTime() - device.lastSeenAt.getTime()
  return ageMs > lastKnownMinutes * MINUTE_MS ? 'device_unreachable' : undefined
}

async function block(change: Change, attempt: Attempt): Promise<Attempt> {
  if (await mayBreakGlass(change, attempt)) return refuseLocked(change, attempt, 'device_blocked')
  if (attempt.stage === 'blocked') return attempt
  const description = 'The device is blocked until its issues are resolved.'
  return moveAttempt(
    change,
    attempt,
    { stage: 'blocked' },
    { events: [{ type: 'device_blocked', description }] },
  )
}

async function warn(change: Change, attempt: Attempt): Promise<Attempt> {
  if (attempt.stage === 'warned') return attempt
  const description = 'The person was shown issues that will block the device.'
  return moveAttempt(
    change,
    attempt,
    { stage: 'warned' },
    { events: [{ type: 'device_will_block', description }] },
  )
}

/*
 * What becomes known of the device of a sign-in: proven, told by a fallback, registered, or not known. Owns that a
 * device counts only for whom its authentication mode allows, and only as strongly as the application asks.
 */
import type { Change } from '../../changes/change.ts'
import type { Assurance, AttemptEvidence } from '../../schema/tables/sign-in-tables.ts'
import { listPossibleWays } from '../browser-keys/possible-ways.ts'
import {
  findDeviceOfPerson,
  findMinimumAssurance,
  type DeviceOfPerson,
} from './attempt-facts-read.ts'
import type { Attempt } from './attempt-store.ts'
import { isPersonProven } from './person-proven.ts'
import { mayBreakGlass, refuseLocked } from './end-attempt.ts'
import { lockAttempt, moveAttempt } from './move-attempt.ts'
import type { RefusalCode } from './refusals.ts'
import { admitOsUser } from '../proof/os-users.ts'

/** A device that is known, and by what. */
export interface KnownDevice {
  readonly deviceId: string
  readonly assurance: Exclude<Assurance, 'none'>
  readonly evidence: AttemptEvidence
}

const STRENGTH = { key: 1, approved: 2, live: 3, hardware: 4 } as const

const HOW_KNOWN = {
  live: 'by a connection that its browser holds',
  hardware: 'by a key in its hardware',
  approved: 'by an approval',
  key: 'by the key of its browser',
} as const satisfies Record<keyof typeof STRENGTH, string>

/**
 * Says which device the person sits at. One that nobody has registered goes on to its registration.
 *
 * @throws AppError `not_found`, `conflict` for an attempt at another step or an unknown device
 */
export async function deviceProven(
  change: Change,
  attemptId: string,
  known: KnownDevice,
): Promise<Attempt> {
  const attempt = await lockAttempt(change, attemptId, ['device', 'fallback'])
  const { deviceId, assurance, evidence } = known
  const device = await findDeviceOfPerson(change.tx, deviceId, attempt.personId ?? '0')
  if (device === undefined || device.isLeaving) {
    return refuseLocked(change, attempt, 'device_unknown', evidence)
  }
  // Whoever types an address at a shared device is not thereby its person.
  const isForOwner = attempt.applicationId === null && !isPersonProven(attempt)
  if (device.isRegistered && !(isForOwner ? device.isOwn : device.isAllowed)) {
    return refuseLocked(change, attempt, toOwnerRefusal(device), evidence)
  }
  const minimum = await findMinimumAssurance(change.tx, attempt.applicationId)
  if (STRENGTH[assurance] < STRENGTH[minimum]) {
    return refuseLocked(change, attempt, 'assurance_too_low', evidence)
  }
  const description = `The device ${device.name} was recognised ${HOW_KNOWN[assurance]} (${assurance}).`
  return moveAttempt(
    change,
    attempt,
    {
      stage: device.isRegistered ? 'posture' : 'registration',
      deviceId,
      assurance,
      evidence: JSON.stringify({ ...attempt.evidence, ...evidence }),
    },
    { deviceId, events: [{ type: 'agent_detection_success', description }] },
  )
}

/** Why a device that is registered lets somebody not in; whoever had it before is told so. */
export function toOwnerRefusal(device: Pick<DeviceOfPerson, 'ownUntil'> | undefined): RefusalCode {
  return (device?.ownUntil ?? null) === null ? 'device_of_another_person' : 'device_reassigned'
}

/** Why a device could not be proven; the words of the proof. */
export type NotProven = 'no_match' | 'relayed' | 'unreachable' | 'unavailable' | 'other_os_user'

const REFUSAL_OF = {
  no_match: 'device_unknown',
  relayed: 'relayed',
  unreachable: 'device_unreachable',
  unavailable: 'proof_unavailable',
  other_os_user: 'other_os_user',
} as const satisfies Record<NotProven, string>

/**
 * Says that the device could not be proven. Where the policy has fallbacks that may help the attempt goes on to them;
 * somebody who relays, or another user of the device, is refused at once.
 *
 * @throws AppError `not_found`, `conflict`
 */
export async function deviceNotProven(
  change: Change,
  attemptId: string,
  { reason, evidence }: { readonly reason: NotProven; readonly evidence: AttemptEvidence },
): Promise<Attempt> {
  const attempt = await lockAttempt(change, attemptId, ['device'])
  const ways = await listPossibleWays(change.tx, attempt, change.now())
  const isFinal = reason === 'relayed' || reason === 'other_os_user'
  if (isFinal || ways.length === 0 || (await mayBreakGlass(change, attempt))) {
    return refuseLocked(change, attempt, REFUSAL_OF[reason], { ...evidence, not_proven: reason })
  }
  const description = `The device could not be recognised: ${reason}.`
  return moveAttempt(
    change,
    attempt,
    {
      stage: 'fallback',
      evidence: JSON.stringify({ ...attempt.evidence, ...evidence, not_proven: reason }),
    },
    { events: [{ type: 'agent_detection_failure', description }] },
  )
}

/**
 * Goes on after the device of an attempt was registered, in the same change, to somebody whom it lets in.
 *
 * @throws AppError `not_found`, `conflict`
 */
export async function deviceRegistered(change: Change, attemptId: string): Promise<Attempt> {
  const attempt = await lockAttempt(change, attemptId, ['registration'])
  const { deviceId, personId } = attempt
  const device = await findDeviceOfPerson(change.tx, deviceId ?? '0', personId ?? '0')
  if (device?.isAllowed !== true) {
    return refuseLocked(change, attempt, toOwnerRefusal(device))
  }
  if (!(await admitOsUser(change, attempt, device.id))) {
    return refuseLocked(change, attempt, 'other_os_user')
  }
  const description = `The device ${device.name} was registered to the person.`
  return moveAttempt(
    change,
    attempt,
    { stage: 'posture' },
    { events: [{ type: 'device_registered', description }] },
  )
}

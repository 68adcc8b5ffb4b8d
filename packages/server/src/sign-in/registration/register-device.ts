/*
 * The registration of the device of a sign-in: at once, when somebody confirms it, or not at all, as the policy says.
 * Owns that nobody gets a device that somebody else has by now.
 */
import type { Change } from '../../changes/change.ts'
import { findPerson, lockPerson } from '../../people/people/person-store.ts'
import { conflict } from '../../platform/app-error.ts'
import { getDeviceForUpdate } from '../../posture/devices/device-store.ts'
import { createRegistrationRequest } from '../../posture/devices/registration-requests/create-registration-request.ts'
import { findPendingRequest } from '../../posture/devices/registration-requests/registration-request-store.ts'
import { setDeviceOwner } from '../../posture/devices/set-device-owner.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { refuseLocked } from '../attempts/end-attempt.ts'
import { isPersonProven } from '../attempts/person-proven.ts'
import { deviceRegistered } from '../attempts/know-device.ts'
import { lockAttempt } from '../attempts/move-attempt.ts'
import { getSignInPolicy } from '../policy/policy-store.ts'
import { readOsUser } from '../proof/os-users.ts'
import type { OsUser } from '../proof/os-user-store.ts'
import { requestConfirmation } from './request-confirmation.ts'
import { decideRegistration } from './registration-rule.ts'

/**
 * Registers the device of an attempt to its person where the policy lets that happen at once; else asks for it, and
 * the attempt waits.
 *
 * @param message of the person to the admin who decides; undefined without one
 * @throws AppError `not_found`, `conflict` for an attempt that is at another step
 */
export async function registerAttemptDevice(
  change: Change,
  attemptId: string,
  message?: string,
): Promise<Attempt> {
  const { tx } = change
  const attempt = await lockAttempt(change, attemptId, ['registration'])
  const { personId, deviceId } = attempt
  if (personId === null || deviceId === null) return refuseLocked(change, attempt, 'device_unknown')
  const { ownerPersonId } = await getDeviceForUpdate(tx, deviceId)
  // Of two first devices of a person at once, one is a further one.
  await lockPerson(tx, personId)
  const person = await findPerson(tx, personId)
  // An admin has approved the request for the registration meanwhile.
  if (ownerPersonId === personId) return deviceRegistered(change, attemptId)
  const isFirst = person?.firstDeviceTrustedAt === null
  const isProven = isPersonProven(attempt)
  const rule = decideRegistration(await getSignInPolicy(tx), { isFirst, isProven })
  switch (rule.kind) {
    case 'at_once':
      return registerTo(change, attempt)
    case 'confirmed':
      if (rule.ways.includes('admin_approval')) {
        const osUser = readOsUser(attempt)
        await requestOfAdmins(change, { deviceId, personId, osUser }, message)
      }
      return requestConfirmation(change, attempt, {
        kind: 'registration',
        ways: rule.ways,
        deviceId,
      })
    case 'refused':
      return refuseLocked(change, attempt, 'registration_refused')
  }
}

interface WantedRegistration {
  readonly deviceId: string
  readonly personId: string
  readonly osUser: OsUser | undefined
}

/** An admin may also decide when the sign-in is over; the next one then finds the device registered. */
async function requestOfAdmins(
  change: Change,
  { deviceId, personId, osUser }: WantedRegistration,
  message = 'Asked for while signing in.',
): Promise<void> {
  if ((await findPendingRequest(change.tx, deviceId, personId)) !== undefined) return
  await createRegistrationRequest(change, { deviceId, person_id: personId, message, osUser })
}

/** Registers the device of an attempt that stands at its registration, and moves the attempt on. */
export async function registerTo(change: Change, attempt: Attempt): Promise<Attempt> {
  const { deviceId, personId } = attempt
  const person = await findPerson(change.tx, personId ?? '0')
  if (person === undefined || person.deprovisionedAt !== null) {
    return refuseLocked(change, attempt, 'person_ended')
  }
  const device = await getDeviceForUpdate(change.tx, deviceId ?? '0')
  if (device.ownerPersonId !== null && device.ownerPersonId !== personId) {
    return refuseLocked(change, attempt, 'device_of_another_person')
  }
  if (device.deletionRequestedAt !== null) throw conflict(`${device.name} is to be deleted.`)
  await setDeviceOwner(change, device.id, { email: person.email })
  return deviceRegistered(change, attempt.id)
}

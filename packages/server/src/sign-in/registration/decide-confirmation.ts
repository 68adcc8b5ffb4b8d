/*
 * Decides what a sign-in waits for: an admin does, or the person on a device that is registered and proven. Owns that a
 * device confirms nothing of somebody else, nor itself, nor where it is not certain that the person sits at it, and
 * that a code cannot be tried out.
 */
import type { Change } from '../../changes/change.ts'
import { AppError, conflict } from '../../platform/app-error.ts'
import { isEqualSecret } from '../../platform/secrets/keyed-digest.ts'
import type { Assurance, ConfirmationWay } from '../../schema/tables/sign-in-tables.ts'
import { decideRegistrationRequest } from '../../posture/devices/registration-requests/decide-registration-request.ts'
import { findPendingRequest } from '../../posture/devices/registration-requests/registration-request-store.ts'
import { findDeviceOfPerson } from '../attempts/attempt-facts-read.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { refuseLocked } from '../attempts/end-attempt.ts'
import { isDeviceProof } from '../attempts/is-device-proof.ts'
import { deviceProven } from '../attempts/know-device.ts'
import { lockAttempt } from '../attempts/move-attempt.ts'
import { getConfirmation, updateConfirmation, type Confirmation } from './confirmation-store.ts'
import { registerTo } from './register-device.ts'

/** The device of a person who was let in on it, from which another one is confirmed. */
export interface ConfirmingDevice {
  readonly deviceId: string
  readonly personId: string
  /** How the device was known when the person was let in. */
  readonly assurance: Assurance
}

/** Guesses of a code of six digits. */
const WRONG_CODES_MAX = 3

/** The outcome of a decision: a wrong code is none yet. */
export type ConfirmationOutcome =
  { readonly kind: 'decided'; readonly attempt: Attempt } | { readonly kind: 'wrong_code' }

/**
 * The person decides on a registered device. A wrong code is counted; after three the confirmation is denied.
 *
 * @throws AppError `not_found` also for what is somebody else's; `conflict` for what is decided or over, waits for an
 * admin alone, or would be confirmed by the very device or from one that was not proven
 */
export async function confirmFromDevice(
  change: Change,
  id: string,
  by: ConfirmingDevice,
  decision: { readonly isApproved: boolean; readonly code: string },
): Promise<ConfirmationOutcome> {
  const [confirmation, attempt] = await lockConfirmation(change, id, 'registered_device')
  if (confirmation.personId !== by.personId) {
    throw new AppError('not_found', `There is no confirmation ${id}.`)
  }
  if (!isDeviceProof(by.assurance)) {
    throw conflict('This device was not proven when you signed in. Use one that is.')
  }
  const device = await findDeviceOfPerson(change.tx, by.deviceId, by.personId)
  if (device?.isAllowed !== true || device.isLeaving) {
    throw conflict('This device is not registered to you.')
  }
  if (device.id === confirmation.deviceId) {
    throw conflict('A device cannot confirm itself. Use another one that is registered to you.')
  }
  if (decision.isApproved && !isEqualSecret(decision.code.trim(), confirmation.code)) {
    const wrongCodes = confirmation.wrongCodes + 1
    await updateConfirmation(change.tx, id, { wrongCodes })
    if (wrongCodes < WRONG_CODES_MAX) return { kind: 'wrong_code' }
    return decide(change, confirmation, attempt, { isApproved: false, by: device.name })
  }
  return decide(change, confirmation, attempt, {
    isApproved: decision.isApproved,
    by: device.name,
  })
}

/**
 * An admin decides.
 *
 * @throws AppError `not_found`; `conflict` for what is decided or over, or waits for a device alone
 */
export async function confirmAsAdmin(
  change: Change,
  id: string,
  isApproved: boolean,
): Promise<Confirmation> {
  const [confirmation, attempt] = await lockConfirmation(change, id, 'admin_approval')
  await decide(change, confirmation, attempt, { isApproved, by: change.origin.actor.name })
  return getConfirmation(change.tx, id)
}

/** The attempt is locked first, as in every step of it. */
async function lockConfirmation(
  change: Change,
  id: string,
  way: ConfirmationWay,
): Promise<readonly [Confirmation, Attempt]> {
  const { attemptId } = await getConfirmation(change.tx, id)
  const attempt = await lockAttempt(change, attemptId, ['registration', 'fallback'])
  const confirmation = await getConfirmation(change.tx, id)
  if (confirmation.status !== 'pending' || confirmation.expiresAt <= change.now()) {
    throw conflict('This has been decided, or its time is over.')
  }
  if (!confirmation.ways.includes(way)) {
    throw conflict('The policy has somebody else confirm this.')
  }
  return [confirmation, attempt]
}

async function decide(
  change: Change,
  confirmation: Confirmation,
  attempt: Attempt,
  { isApproved, by }: { readonly isApproved: boolean; readonly by: string },
): Promise<ConfirmationOutcome> {
  const { id, kind, deviceId } = confirmation
  const status = isApproved ? 'approved' : 'denied'
  await updateConfirmation(change.tx, id, { status, decidedAt: change.now(), decidedBy: by })
  change.recordAudit({
    action: `sign_in_attempt.${status}`,
    target: { type: 'sign_in_attempt', id: attempt.id },
    description: `${isApproved ? 'confirmed' : 'denied'} the ${kind === 'registration' ? 'registration of' : 'sign-in from'} the device ${deviceId} (${by})`,
    before: { status: 'pending' },
    after: { status, decided_by: by, device_id: deviceId },
  })
  return { kind: 'decided', attempt: await moveOn(change, confirmation, attempt, isApproved, by) }
}

async function moveOn(
  change: Change,
  { kind, deviceId, personId }: Confirmation,
  attempt: Attempt,
  isApproved: boolean,
  by: string,
): Promise<Attempt> {
  if (kind === 'registration') {
    const moved = isApproved
      ? await registerTo(change, attempt)
      : await refuseLocked(change, attempt, 'registration_denied')
    // Of a device that somebody else has by now nothing is decided.
    const isDecided = moved.refusalCode === null || !isApproved
    if (isDecided) await decideRequest(change, { deviceId, personId }, isApproved)
    return moved
  }
  if (!isApproved) return refuseLocked(change, attempt, 'fallback_denied')
  const evidence = { confirmed_by: by }
  return deviceProven(change, attempt.id, { deviceId, assurance: 'approved', evidence })
}

/** The request of the admins for the same registration waits for nobody any more. */
async function decideRequest(
  change: Change,
  { deviceId, personId }: Pick<Confirmation, 'deviceId' | 'personId'>,
  isApproved: boolean,
): Promise<void> {
  const request = await findPendingRequest(change.tx, deviceId, personId)
  if (request === undefined) return
  const internalMessage = 'Decided during the sign-in.'
  await decideRegistrationRequest(
    change,
    request.id,
    isApproved
      ? { status: 'approved', internalMessage }
      : { status: 'denied', internalMessage, endUserDenialMessage: '' },
  )
}

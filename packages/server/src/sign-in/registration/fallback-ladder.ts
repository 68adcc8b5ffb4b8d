/*
 * What somebody may do whose device could not be proven: the ways that the policy has, in its order. Owns which of them
 * are possible for a sign-in; confirmations are decided elsewhere.
 */
import type { Change } from '../../changes/change.ts'
import { conflict } from '../../platform/app-error.ts'
import type { ConfirmationWay } from '../../schema/tables/sign-in-tables.ts'
import { findDeviceOfPerson } from '../attempts/attempt-facts-read.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { lockAttempt } from '../attempts/move-attempt.ts'
import { getSignInPolicy } from '../policy/policy-store.ts'
import { findLikeliestDevice } from './confirmation-store.ts'
import { requestConfirmation } from './request-confirmation.ts'

/** Reads the way that a person chose; undefined for what is none that waits for somebody. */
export function parseConfirmationWay(text: string | undefined): ConfirmationWay | undefined {
  return text === 'registered_device' || text === 'admin_approval' ? text : undefined
}

/**
 * Asks for the confirmation that the person chose among those of the policy, of the device that the person names, or
 * else of the own one that was in contact last.
 *
 * @throws AppError `not_found`; `conflict` for an attempt at another step, a way that the policy does not have, or a
 * person without a device that could be confirmed
 */
export async function takeFallback(
  change: Change,
  attemptId: string,
  {
    way,
    deviceId: named,
  }: { readonly way: ConfirmationWay; readonly deviceId: string | undefined },
): Promise<Attempt> {
  const attempt = await lockAttempt(change, attemptId, ['fallback'])
  const { fallbacks } = await getSignInPolicy(change.tx)
  if (!fallbacks.includes(way)) throw conflict('The policy does not have this way.')
  const personId = attempt.personId ?? '0'
  const deviceId = named ?? (await findLikeliestDevice(change.tx, personId))
  const device =
    deviceId === undefined ? undefined : await findDeviceOfPerson(change.tx, deviceId, personId)
  if (deviceId === undefined || device?.isAllowed !== true || device.isLeaving) {
    throw conflict('There is no such device that is registered to you.')
  }
  return requestConfirmation(change, attempt, { kind: 'sign_in', ways: [way], deviceId })
}

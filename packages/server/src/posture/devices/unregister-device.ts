import type { Change } from '../../changes/change.ts'
import { resetFirstDeviceTrust } from '../../people/people/first-device-trust.ts'
import { AppError } from '../../platform/app-error.ts'
import { replaceAuthenticationGroups } from './authentication-group-store.ts'
import { deleteDevice } from './delete-device.ts'
import { getDeviceForUpdate, updateDevice } from './device-store.ts'
import { setDeviceOwner } from './set-device-owner.ts'

/** A registration as it was when it ended. */
export interface EndedRegistration {
  readonly deviceId: string
  readonly ownerPersonId: string
  readonly registeredAt: Date
}

/** Mobile devices are known through their registration alone. */
const MOBILE_PLATFORMS: readonly string[] = ['ios', 'android']

/**
 * Ends the registration of a device: its owner cannot sign in with it any more, who else may is
 * forgotten, and the next device of an owner without another one is trusted without approval. A mobile
 * device is deleted with its registration.
 *
 * @throws AppError `not_found` without the device or a registration of it
 */
export async function unregisterDevice(
  change: Change,
  deviceId: string,
): Promise<EndedRegistration> {
  const { tx, at } = change
  const device = await getDeviceForUpdate(tx, deviceId)
  const { ownerPersonId, registeredAt } = device
  if (ownerPersonId === null || registeredAt === null) {
    throw new AppError('not_found', `The device ${device.id} is not registered.`)
  }
  const isMobile = MOBILE_PLATFORMS.includes(device.platform)
  await setDeviceOwner(change, device.id, null, { isEvaluated: !isMobile })
  await replaceAuthenticationGroups(tx, device.id, [])
  const unregistered = await updateDevice(tx, device.id, {
    authenticationMode: 'only_registered_owner',
    updatedAt: at,
  })
  await resetFirstDeviceTrust(change, ownerPersonId)
  if (isMobile) await deleteDevice(change, unregistered)
  return { deviceId: device.id, ownerPersonId, registeredAt }
}

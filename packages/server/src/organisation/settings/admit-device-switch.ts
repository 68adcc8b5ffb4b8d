import type { Change } from '../../changes/change.ts'
import { AppError, conflict } from '../../platform/app-error.ts'
import { findDeviceProblem } from '../admin-sign-in/admin-session-store.ts'
import { deviceRefused, type DeviceTrust } from '../admin-sign-in/device-trust.ts'
import { getOrganisationForUpdate } from './organisation-store.ts'

/**
 * Admits that a session switches the demand for trusted devices on or off. Who switches it on must meet it right then:
 * so nobody locks everybody out. A key, which cannot prove to be anywhere, changes nothing of it.
 *
 * @throws AppError `permission_missing` without a session; `conflict` for one whose device is not trusted
 */
export async function admitDeviceSwitch(
  { tx }: Change,
  deviceTrust: DeviceTrust,
  sessionId: string | undefined,
  isRequired: boolean | undefined,
): Promise<void> {
  if (isRequired === undefined) return
  const { adminsRequireTrustedDevice: isRequiredNow } = await getOrganisationForUpdate(tx)
  if (isRequired === isRequiredNow) return
  if (sessionId === undefined) {
    throw new AppError(
      'permission_missing',
      'Whether admins need a trusted device is changed by an admin who is signed in.',
    )
  }
  if (!isRequired) return
  const problem = await findDeviceProblem(tx, sessionId, deviceTrust)
  if (problem === null) return
  throw conflict(
    `You would lock yourself out. ${deviceRefused(problem).message} Prove your device at /console/trusted-device first.`,
  )
}

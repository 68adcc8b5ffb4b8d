import { isDeepStrictEqual } from 'node:util'
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { isId } from '../../platform/ids.ts'
import {
  listAuthenticationGroupIds,
  replaceAuthenticationGroups,
} from './authentication-group-store.ts'
import { getDeviceForUpdate, updateDevice, type Device } from './device-store.ts'

export interface AuthenticationModeInput {
  readonly mode: Device['authenticationMode']
  /** Looked at in the group mode only; left out, the groups stay as they are. */
  readonly personGroupIds?: readonly string[]
}

/**
 * Says who may sign in with a device. Groups belong to the group mode: any other mode forgets them.
 * The same again leaves no audit entry.
 *
 * @throws AppError `not_found`; `invalid_body` naming each group that does not exist
 */
export async function setAuthenticationMode(
  change: Change,
  deviceId: string,
  input: AuthenticationModeInput,
): Promise<void> {
  const { tx, at } = change
  const device = await getDeviceForUpdate(tx, deviceId)
  const before = {
    authentication_mode: device.authenticationMode,
    person_group_ids: await listAuthenticationGroupIds(tx, device.id),
  }
  const wanted =
    input.mode === 'only_registered_owner_or_group_members'
      ? (input.personGroupIds ?? before.person_group_ids)
      : []
  const stored = await replaceAuthenticationGroups(tx, device.id, wanted.filter(isId))
  assertAllStored(wanted, new Set(stored))
  const after = { authentication_mode: input.mode, person_group_ids: stored }
  if (isDeepStrictEqual(before, after)) return
  await updateDevice(tx, device.id, { authenticationMode: input.mode, updatedAt: at })
  change.recordAudit({
    action: 'device.authentication_mode_changed',
    target: { type: 'device', id: device.id },
    description: `changed who may sign in with ${device.name}`,
    before,
    after,
  })
}

function assertAllStored(wanted: readonly string[], stored: ReadonlySet<string>): void {
  const details = wanted.flatMap((id, index) =>
    stored.has(id)
      ? []
      : [{ path: `person_group_ids.${index}`, message: `There is no person group ${id}.` }],
  )
  const [first] = details
  if (first === undefined) return
  throw new AppError('invalid_body', first.message, { details })
}

import type { Change } from '../../changes/change.ts'
import { findOrCreatePerson } from '../../people/people/find-or-create-person.ts'
import { lockPerson, spendFirstDeviceTrust } from '../../people/people/person-store.ts'
import { findPerson, type Person } from '../../people/people/person-store.ts'
import { conflict } from '../../platform/app-error.ts'
import { haveOpenIssues } from '../issues/issue-store.ts'
import { getDeviceForUpdate, updateDevice, type Device } from './device-store.ts'
import { lockDevices } from './device-status-store.ts'
import { reevaluateDevices } from './reevaluate-devices.ts'
import { settleDueStatuses } from './settle-due-statuses.ts'

/** The person who shall own a device; null for nobody. */
export type NewOwner = { readonly email: string; readonly name?: string } | null

/**
 * Registers a device to a person, who is created when nobody has the email address, or ends its
 * registration. Idempotent: the same owner again keeps the time of the registration. A person's first
 * trust is spent on the device. Issues of people count for their devices: its status follows in the same change where
 * the old or the new owner has any, unless `isEvaluated` is false: the device is deleted next.
 *
 * @throws AppError `not_found` without the device, `invalid_body` for a malformed address; `conflict` for a person
 *   who is switched off
 */
export async function setDeviceOwner(
  change: Change,
  deviceId: string,
  newOwner: NewOwner,
  { isEvaluated = true }: { readonly isEvaluated?: boolean } = {},
): Promise<Device> {
  const device = await getDeviceForUpdate(change.tx, deviceId)
  const person = newOwner === null ? undefined : await findOrCreatePerson(change, newOwner)
  if (device.ownerPersonId === (person?.id ?? null)) return device
  const previous =
    device.ownerPersonId === null ? undefined : await findPerson(change.tx, device.ownerPersonId)
  recordOwnerChange(change, device, previous, person)
  if (person !== undefined) {
    // A report about the person that is under way either sees this device, or is seen here.
    await lockPerson(change.tx, person.id)
    await refuseSwitchedOff(change, person)
    await spendFirstDeviceTrust(change.tx, [person.id], change.at)
  }
  const owners = [previous, person].flatMap((owner) => (owner === undefined ? [] : [owner.id]))
  const register = () => updateDevice(change.tx, device.id, toColumns(change, previous, person))
  return isEvaluated && (await haveOpenIssues(change.tx, owners))
    ? withItsStatus(change, device.id, register)
    : register()
}

function toColumns({ at }: Change, previous: Person | undefined, next: Person | undefined) {
  return {
    ownerPersonId: next?.id ?? null,
    registeredAt: next === undefined ? null : at,
    ...(previous === undefined
      ? {}
      : { formerOwnerPersonId: previous.id, registrationEndedAt: at }),
    updatedAt: at,
  }
}

/** Registers a locked device, and lets its status follow. */
async function withItsStatus(
  change: Change,
  deviceId: string,
  register: () => Promise<unknown>,
): Promise<Device> {
  // Under the locks: a report that was waited for may have changed the status meanwhile.
  const at = change.now()
  await settleDueStatuses(change, await lockDevices(change.tx, [deviceId]), at)
  await register()
  // Whoever is no person acts for an admin: an API key, an identity provider, the command line.
  const initiatingEntity = change.origin.actor.type === 'Person' ? 'user' : 'admin'
  await reevaluateDevices(change, [deviceId], { initiatingEntity, occurredAt: at })
  return getDeviceForUpdate(change.tx, deviceId)
}

/** Whoever switched the person off meanwhile has not seen this device. */
async function refuseSwitchedOff({ tx }: Change, { id, email }: Person): Promise<void> {
  const present = await findPerson(tx, id)
  if (present?.deprovisionedAt === null) return
  throw conflict(`${email} has been switched off.`)
}

function recordOwnerChange(
  change: Change,
  device: Device,
  previous: Person | undefined,
  next: Person | undefined,
): void {
  change.recordAudit({
    action: next === undefined ? 'device.unregistered' : 'device.registered',
    target: { type: 'device', id: device.id },
    description:
      next === undefined
        ? `ended the registration of ${device.name} to ${previous?.email ?? 'its owner'}`
        : `registered ${device.name} to ${next.email}`,
    before: { owner_email: previous?.email ?? null },
    after: { owner_email: next?.email ?? null },
  })
  if (previous !== undefined) {
    change.recordEvent({
      type: 'device.registration_ended',
      deviceId: device.id,
      personId: previous.id,
      nextPersonId: next?.id ?? null,
    })
  }
  if (next === undefined) return
  change.recordEvent({ type: 'devices.registered', deviceId: device.id })
  if (previous !== undefined) {
    change.recordEvent({ type: 'devices.reassigned', deviceId: device.id })
  }
}

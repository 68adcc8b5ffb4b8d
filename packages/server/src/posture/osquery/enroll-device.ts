import type { Change } from '../../changes/change.ts'
import { applyCheckScope } from '../checks/apply-check-scope.ts'
import { holdCheckScope } from '../checks/check-scope-store.ts'
import { deleteDeviceRow } from '../devices/device-deletion-store.ts'
import { notifyDeviceChanged, updateDevice, type Device } from '../devices/device-store.ts'
import { deleteRemovedHost, findRemovedHost } from '../devices/removed-host-store.ts'
import { hashEnrollmentSecret } from '../enrollment/secrets/create-enrollment-secret.ts'
import { spendFirstDeviceTrust } from '../../people/people/person-store.ts'
import { newSecret } from '../../platform/ids.ts'
import {
  findLiveSecret,
  getDeviceByHostIdentifier,
  insertDevice,
  type LiveSecret,
} from './enrollment-store.ts'
import { isOtherHardware, readHostDetails, type HostDetails } from './host-details.ts'
import { hashNodeKey } from './node-cache.ts'
import type { EnrollmentRequest } from './agent-message.ts'

/** What came of a request to enroll; each refusal is told to the agent in its own words. */
export type Enrollment =
  | {
      readonly kind: 'enrolled'
      readonly deviceId: string
      readonly nodeKey: string
      readonly secretId: string
    }
  | { readonly kind: 'unknown_secret' }
  | { readonly kind: 'unsupported_platform' }
  | { readonly kind: 'agent_disabled'; readonly deviceId: string }
  /** The device of this host was deleted, and its enrollment secret is older than that. */
  | { readonly kind: 'removed_host' }
  /** Another machine already goes by the host identifier. */
  | { readonly kind: 'cloned_identifier'; readonly deviceId: string }

const NODE_KEY_BYTES = 32

/**
 * Enrolls a device with a live enrollment secret: creates its record, or finds it again by its host
 * identifier and replaces the node key, which ends the old one. Its checks become pending and are due
 * at once. A secret that is bound to a person registers the device to that person. Refused and audited
 * is a machine whose hardware is not that of the device which goes by its host identifier; refused is
 * the host of a deleted device with a secret that is older than the deletion.
 */
export async function enrollDevice(
  change: Change,
  request: EnrollmentRequest,
): Promise<Enrollment> {
  const { tx, at } = change
  await holdCheckScope(tx)
  const secret = await findLiveSecret(tx, hashEnrollmentSecret(request.secret), at)
  if (secret === undefined) return { kind: 'unknown_secret' }
  const details = readHostDetails(request)
  if (details === undefined) return { kind: 'unsupported_platform' }

  const nodeKey = newSecret(NODE_KEY_BYTES)
  const enrollment = {
    enrollment_secret_id: secret.id,
    enrolled_at: at,
    node_key_hash: hashNodeKey(nodeKey),
    checks_ran_at: null,
    updated_at: at,
  }
  const created = await insertDevice(tx, {
    ...details,
    ...enrollment,
    host_identifier: request.hostIdentifier,
    note: null,
    owner_person_id: secret.personId,
    registered_at: secret.personId === null ? null : at,
    last_authenticated_at: null,
    agent_disabled_at: null,
    will_block_at: null,
    evaluated_at: null,
    status_changed_at: null,
    reevaluate_at: null,
    created_at: at,
  })
  if (created !== undefined && (await isKeptOut(change, created, secret))) {
    await deleteDeviceRow(tx, created.id)
    return { kind: 'removed_host' }
  }
  const known = created ?? (await getDeviceByHostIdentifier(tx, request.hostIdentifier))
  if (created === undefined) {
    if (known.agent_disabled_at !== null) return { kind: 'agent_disabled', deviceId: known.id }
    if (isOtherHardware(known, details)) return refuseClone(change, known, details)
    await updateDevice(tx, known.id, {
      ...keepKnown(details, known),
      ...enrollment,
      ...toOwner(secret, known, at),
    })
    await notifyDeviceChanged(tx, known.id)
  }
  recordEnrollment(change, known, secret, created === undefined)
  recordEnrollmentEvents(change, known, secret, created === undefined)
  if (secret.personId !== null) await spendFirstDeviceTrust(tx, secret.personId, at)
  await applyCheckScope(change, { deviceIds: [known.id] }, ENROLLED)
  return { kind: 'enrolled', deviceId: known.id, nodeKey, secretId: secret.id }
}

/**
 * Looks at the hosts that are kept out only now: while the row was inserted, the deletion of its
 * predecessor may have been committed. A newer secret lets a host in again.
 */
async function isKeptOut(change: Change, created: Device, secret: LiveSecret): Promise<boolean> {
  const host = await findRemovedHost(change.tx, created.host_identifier)
  if (host === undefined) return false
  if (secret.createdAt <= host.removed_at) return true
  await deleteRemovedHost(change.tx, host.host_identifier)
  return false
}

const ENROLLED = { initiatingEntity: 'system', reason: 'The device enrolled.' } as const

/** An admin may have renamed the device, and unknown hardware must not erase what is known. */
function keepKnown(details: HostDetails, known: Device): Partial<HostDetails> {
  return {
    platform: details.platform,
    operating_system: details.operating_system || known.operating_system,
    hardware_model: details.hardware_model || known.hardware_model,
    serial: details.serial ?? known.serial,
    hardware_uuid: details.hardware_uuid ?? known.hardware_uuid,
    osquery_version: details.osquery_version ?? known.osquery_version,
  }
}

function toOwner(secret: LiveSecret, known: Device, at: Date) {
  return secret.personId === null || secret.personId === known.owner_person_id
    ? {}
    : { owner_person_id: secret.personId, registered_at: at }
}

function refuseClone(change: Change, known: Device, claimed: HostDetails): Enrollment {
  change.recordAudit({
    action: 'device.enrollment_refused',
    target: { type: 'device', id: known.id },
    description: `refused the enrollment of another machine under the host identifier of ${known.name}`,
    before: { hardware_uuid: known.hardware_uuid, serial: known.serial },
    after: { hardware_uuid: claimed.hardware_uuid, serial: claimed.serial },
  })
  return { kind: 'cloned_identifier', deviceId: known.id }
}

/** `device` is as it was before, if it was known. */
function recordEnrollmentEvents(
  change: Change,
  device: Device,
  secret: LiveSecret,
  isAgain: boolean,
): void {
  const deviceId = device.id
  if (!isAgain) change.recordEvent({ type: 'devices.created', deviceId })
  if (secret.personId === null) return
  const previousId = isAgain ? device.owner_person_id : null
  if (previousId === secret.personId) return
  change.recordEvent({ type: 'devices.registered', deviceId })
  if (previousId !== null) change.recordEvent({ type: 'devices.reassigned', deviceId })
}

function recordEnrollment(
  change: Change,
  device: Device,
  secret: LiveSecret,
  isAgain: boolean,
): void {
  change.recordAudit({
    action: 'device.enrolled',
    target: { type: 'device', id: device.id },
    description: `enrolled ${device.name}${isAgain ? ' again' : ''}`,
    after: {
      host_identifier: device.host_identifier,
      enrollment_secret_id: secret.id,
      owner_person_id: secret.personId ?? device.owner_person_id,
    },
  })
}

/*
 * A device enrolls: the secret that it comes with, the record that it gets or finds again, its node key. Whether
 * a machine may take the place of a device that is known is decided in enrollment/reenrollment.
 */
import type { Change } from '../../changes/change.ts'
import { spendFirstDeviceTrust } from '../../people/people/person-store.ts'
import { newSecret } from '../../platform/ids.ts'
import { AppError } from '../../platform/app-error.ts'
import { applyCheckScope } from '../checks/apply-check-scope.ts'
import { holdCheckScope } from '../checks/check-scope-store.ts'
import { deleteDeviceRow } from '../devices/device-deletion-store.ts'
import { notifyDeviceChanged, updateDevice, type Device } from '../devices/device-store.ts'
import { lockHardware, type Hardware } from '../devices/hardware-duplicate-store.ts'
import { deleteRemovedHost, findRemovedHost } from '../devices/removed-host-store.ts'
import { settleHardwareDuplicates } from '../devices/settle-hardware-duplicates.ts'
import {
  admitMachine,
  completeRequest,
  type Admission,
} from '../enrollment/reenrollment/admit-machine.ts'
import {
  findKnownHost,
  listTwins,
  type ContactedDevice,
} from '../enrollment/reenrollment/known-host-store.ts'
import { countSecretUse } from '../enrollment/secrets/count-secret-use.ts'
import { hashEnrollmentSecret } from '../enrollment/secrets/create-enrollment-secret.ts'
import type { EnrollmentRequest } from './agent-message.ts'
import { findLiveSecret, insertDevice, type LiveSecret } from './enrollment-store.ts'
import {
  isOtherHardware,
  lacksHardware,
  readHostDetails,
  type HostDetails,
} from './host-details.ts'
import { hashNodeKey } from './node-cache.ts'
import { recordEnrollment, recordRefusal } from './record-enrollment.ts'

/** What came of a request to enroll; each refusal is told to the agent in its own words. */
export type Enrollment =
  | { readonly kind: 'enrolled'; readonly deviceId: string; readonly nodeKey: string }
  /** The enrollment secret is unknown, revoked, expired or used up. */
  | { readonly kind: 'unknown_secret' }
  | { readonly kind: 'unsupported_platform' }
  | { readonly kind: 'agent_disabled'; readonly deviceId: string }
  /** The device of this host was deleted, and its enrollment secret is older than that. */
  | { readonly kind: 'removed_host' }
  /** Another machine already goes by the host identifier. */
  | { readonly kind: 'cloned_identifier'; readonly deviceId: string }
  /** The machine leaves out hardware that is known of the device. */
  | { readonly kind: 'missing_hardware'; readonly deviceId: string }
  /** The device, or one with its hardware, is alive: an admin has to approve. */
  | { readonly kind: 'approval_needed'; readonly deviceId: string; readonly requestId: string }

const NODE_KEY_BYTES = 32

/** A request that has passed its secret and platform. */
interface Arrival {
  readonly request: EnrollmentRequest
  readonly secret: LiveSecret
  readonly details: HostDetails
  readonly options: EnrollmentOptions
}

export interface EnrollmentOptions {
  /** For how long after its last use a node key is alive. */
  readonly nodeKeyAliveMs: number
  /** Whether machines that are not shown to be the device are audited; somebody who tries on would fill the log. */
  readonly auditsRefusals: boolean
}

/**
 * Enrolls a device with a live enrollment secret: creates its record, or finds it again by its host identifier
 * and replaces the node key, which ends the old one. Its checks become pending and are due at once. A secret
 * that is bound to a person registers a device that nobody owns to that person, and never moves one that
 * somebody owns.
 *
 * A machine that claims to be a device whose node key is alive, or to have its hardware, is held until an admin
 * approves; `judgeReenrollment` says what else lets it in. Refused and audited is a machine whose hardware is
 * not that of the device, or left out; refused is the host of a deleted device with a secret that is older than
 * the deletion.
 *
 * @throws AppError `unavailable` when the device was deleted in between: the agent tries again
 */
export async function enrollDevice(
  change: Change,
  request: EnrollmentRequest,
  options: EnrollmentOptions,
): Promise<Enrollment> {
  const { tx, at } = change
  await holdCheckScope(tx)
  const secret = await findLiveSecret(tx, hashEnrollmentSecret(request.secret), at)
  if (secret === undefined) return { kind: 'unknown_secret' }
  const details = readHostDetails(request)
  if (details === undefined) return { kind: 'unsupported_platform' }
  await lockHardware(tx, details)
  const arrival = { request, secret, details, options }
  const known = await findKnownHost(tx, request.hostIdentifier)
  return known === undefined ? enrollNew(change, arrival) : enrollAgain(change, arrival, known)
}

async function enrollNew(change: Change, arrival: Arrival): Promise<Enrollment> {
  const { tx, at } = change
  const { request, secret, details } = arrival
  if (secret.isUsedUp) return { kind: 'unknown_secret' }
  const admission = await admit(change, arrival, undefined, details)
  if (admission.kind === 'held') return toHeld(change, secret, admission)
  const { nodeKey, columns } = toEnrollment(change, secret)
  const device = await insertDevice(tx, {
    ...details,
    ...columns,
    hostIdentifier: request.hostIdentifier,
    note: null,
    ownerPersonId: secret.personId,
    registeredAt: secret.personId === null ? null : at,
    lastAuthenticatedAt: null,
    agentDisabledAt: null,
    willBlockAt: null,
    evaluatedAt: null,
    statusChangedAt: null,
    reevaluateAt: null,
    createdAt: at,
  })
  if (device === undefined) {
    // Another attempt under the same host identifier was first.
    const known = await findKnownHost(tx, request.hostIdentifier)
    if (known !== undefined) return enrollAgain(change, arrival, known)
    throw new AppError('unavailable', 'The device has just been deleted.')
  }
  if (await isKeptOut(change, device, secret)) {
    await deleteDeviceRow(tx, device.id)
    return { kind: 'removed_host' }
  }
  recordEnrollment(change, device, { secret, again: undefined })
  await settle(change, { device, secret, admission, hardware: details, isCounted: true })
  return { kind: 'enrolled', deviceId: device.id, nodeKey }
}

async function enrollAgain(
  change: Change,
  arrival: Arrival,
  known: ContactedDevice,
): Promise<Enrollment> {
  const { tx } = change
  const { secret, details } = arrival
  if (known.agentDisabledAt !== null) return { kind: 'agent_disabled', deviceId: known.id }
  if (isOtherHardware(known, details)) return refuse(change, known, arrival, 'cloned_identifier')
  if (lacksHardware(known, details)) return refuse(change, known, arrival, 'missing_hardware')
  const newHardware = {
    serial: known.serial === null ? details.serial : null,
    hardwareUuid: known.hardwareUuid === null ? details.hardwareUuid : null,
  }
  const admission = await admit(change, arrival, known, newHardware)
  // The answer of its enrollment was lost: the same enrollment once more is no further use.
  const isRepeated =
    admission.kind === 'admitted' &&
    admission.basis === 'node_key_unused' &&
    known.enrollmentSecretId === secret.id
  if (secret.isUsedUp && !isRepeated) return { kind: 'unknown_secret' }
  if (admission.kind === 'held') return toHeld(change, secret, admission)
  const { nodeKey, columns } = toEnrollment(change, secret)
  const isRegistered = known.ownerPersonId === null && secret.personId !== null
  const device = await updateDevice(tx, known.id, {
    ...keepKnown(details, known),
    ...columns,
    ...(isRegistered ? { ownerPersonId: secret.personId, registeredAt: change.at } : {}),
  })
  await notifyDeviceChanged(tx, known.id)
  recordEnrollment(change, device, { secret, again: { known, basis: admission.basis } })
  await settle(change, {
    device,
    secret,
    admission,
    hardware: newHardware,
    isCounted: !isRepeated,
  })
  return { kind: 'enrolled', deviceId: device.id, nodeKey }
}

async function admit(
  change: Change,
  { request, secret, details, options }: Arrival,
  known: ContactedDevice | undefined,
  newHardware: Hardware,
): Promise<Admission> {
  const { hostIdentifier, nodeKey } = request
  const machine = {
    hostIdentifier,
    name: details.name,
    serial: details.serial,
    hardwareUuid: details.hardwareUuid,
    secret,
    nodeKeyHash: nodeKey === undefined ? undefined : hashNodeKey(nodeKey),
  }
  const twins = await listTwins(change.tx, newHardware, hostIdentifier)
  return admitMachine(change, machine, { known, twins }, options.nodeKeyAliveMs)
}

/** What follows from an enrollment, of a new device and of a known one. */
async function settle(
  change: Change,
  enrolled: {
    readonly device: Device
    readonly secret: LiveSecret
    readonly admission: Admission & { readonly kind: 'admitted' }
    /** What it did not have before. */
    readonly hardware: Hardware
    readonly isCounted: boolean
  },
): Promise<void> {
  const { tx, at } = change
  const { device, secret, admission } = enrolled
  if (secret.personId !== null && device.ownerPersonId === secret.personId) {
    await spendFirstDeviceTrust(tx, secret.personId, at)
  }
  if (admission.request !== undefined) await completeRequest(change, admission.request)
  await settleHardwareDuplicates(change, enrolled.hardware)
  await applyCheckScope(change, { deviceIds: [device.id] }, ENROLLED)
  if (enrolled.isCounted) await countSecretUse(change, secret.id, { isEnrollment: true })
}

const ENROLLED = { initiatingEntity: 'system', reason: 'The device enrolled.' } as const

async function toHeld(
  change: Change,
  secret: LiveSecret,
  { deviceId, requestId }: Admission & { readonly kind: 'held' },
): Promise<Enrollment> {
  await countSecretUse(change, secret.id, { isEnrollment: false })
  return { kind: 'approval_needed', deviceId, requestId }
}

function toEnrollment({ at, origin }: Change, secret: LiveSecret) {
  const nodeKey = newSecret(NODE_KEY_BYTES)
  const columns = {
    enrollmentSecretId: secret.id,
    enrolledAt: at,
    enrolledFrom: origin.ipAddress ?? null,
    nodeKeyHash: hashNodeKey(nodeKey),
    checksRanAt: null,
    updatedAt: at,
  }
  return { nodeKey, columns }
}

/**
 * Looks at the hosts that are kept out only now: while the row was inserted, the deletion of its
 * predecessor may have been committed. A newer secret lets a host in again.
 */
async function isKeptOut(change: Change, created: Device, secret: LiveSecret): Promise<boolean> {
  const host = await findRemovedHost(change.tx, created.hostIdentifier)
  if (host === undefined) return false
  if (secret.createdAt <= host.removedAt) return true
  await deleteRemovedHost(change.tx, host.hostIdentifier)
  return false
}

/** An admin may have renamed the device, and unknown hardware must not erase what is known. */
function keepKnown(details: HostDetails, known: Device): Partial<HostDetails> {
  return {
    platform: details.platform,
    operatingSystem: details.operatingSystem || known.operatingSystem,
    hardwareModel: details.hardwareModel || known.hardwareModel,
    serial: details.serial ?? known.serial,
    hardwareUuid: details.hardwareUuid ?? known.hardwareUuid,
    osqueryVersion: details.osqueryVersion ?? known.osqueryVersion,
  }
}

function refuse(
  change: Change,
  known: Device,
  { details, options }: Arrival,
  kind: 'cloned_identifier' | 'missing_hardware',
): Enrollment {
  if (options.auditsRefusals) recordRefusal(change, known, details, kind)
  return { kind, deviceId: known.id }
}

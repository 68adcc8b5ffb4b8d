/*
 * Whether a machine with a live secret is let in: as a new device, or in the place of the one that goes by its host
 * identifier already, which then gets its new node key.
 */
import type { Device } from '../devices/device-store.ts'
import { notifyDeviceChanged, updateDevice } from '../devices/device-store.ts'
import type { Hardware } from '../devices/hardware-duplicate-store.ts'
import { admitMachine, type Admission } from '../enrollment/reenrollment/admit-machine.ts'
import type { ContactedDevice, Newcomer } from '../enrollment/reenrollment/known-host-store.ts'
import { toEnrollmentColumns } from './enrollment-columns.ts'
import type { Candidate, EnrolledCandidate, RefusedEnrollment } from './enrollment.ts'
import { isOtherHardware, lacksHardware, type HostDetails } from './host-details.ts'
import { hashNodeKey } from './node-cache.ts'
import { recordEnrollment, recordRefusal } from './record-enrollment.ts'

/** A candidate, with the hardware that the device of its host identifier is not known to have. */
export interface CandidateNewcomer extends Newcomer {
  readonly candidate: Candidate
  /** The device of its host identifier, locked. */
  readonly known: ContactedDevice | undefined
}

/** A candidate beside the devices that it could be taken for. */
export interface Place {
  readonly newcomer: CandidateNewcomer
  /** The devices that have its hardware. */
  readonly twins: readonly ContactedDevice[]
  readonly nodeKeyAliveMs: number
}

export type Admitted = Admission & { readonly kind: 'admitted' }

export function toNewcomer(
  candidate: Candidate,
  known: ContactedDevice | undefined,
): CandidateNewcomer {
  const { arrival, details } = candidate
  const { hostIdentifier } = arrival.attempt.request
  return {
    candidate,
    known,
    hostIdentifier,
    serial: (known?.serial ?? null) === null ? details.serial : null,
    hardwareUuid: (known?.hardwareUuid ?? null) === null ? details.hardwareUuid : null,
  }
}

/** Decides about a machine whose host identifier no device has. */
export async function admitNew(place: Place): Promise<Admitted | RefusedEnrollment> {
  if (place.newcomer.candidate.secret.usesLeft === 0) return { kind: 'unknown_secret' }
  const admission = await admit(place, undefined)
  return admission.kind === 'held' ? toHeld(admission) : admission
}

/** Enrolls a machine as the device of its host identifier, or refuses it. */
export async function enrollKnown(
  place: Place & { readonly known: ContactedDevice },
): Promise<EnrolledCandidate | RefusedEnrollment> {
  const { known, newcomer } = place
  const { candidate } = newcomer
  const { arrival, details, secret } = candidate
  const { change } = arrival
  if (known.agentDisabledAt !== null) return { kind: 'agent_disabled', deviceId: known.id }
  if (isOtherHardware(known, details)) return refuse(candidate, known, 'cloned_identifier')
  if (lacksHardware(known, details)) return refuse(candidate, known, 'missing_hardware')
  const admission = await admit(place, known)
  // The answer of its enrollment was lost: the same enrollment once more is no further use.
  const isRepeated =
    admission.kind === 'admitted' &&
    admission.basis === 'node_key_unused' &&
    known.enrollmentSecretId === secret.id
  if (secret.usesLeft === 0 && !isRepeated) return { kind: 'unknown_secret' }
  if (admission.kind === 'held') return toHeld(admission)
  const { nodeKey, columns } = toEnrollmentColumns(change, secret)
  const isRegistered = known.ownerPersonId === null && secret.personId !== null
  const device = await updateDevice(change.tx, known.id, {
    ...keepKnown(details, known),
    ...columns,
    checksRanAt: null,
    ...(isRegistered ? { ownerPersonId: secret.personId, registeredAt: change.at } : {}),
  })
  await notifyDeviceChanged(change.tx, known.id)
  recordEnrollment(change, device, { secret, again: { known, basis: admission.basis } })
  const hardware: Hardware = newcomer
  return { candidate, device, nodeKey, admission, hardware, isCounted: !isRepeated }
}

async function admit(
  { newcomer, nodeKeyAliveMs, twins }: Place,
  known: ContactedDevice | undefined,
): Promise<Admission> {
  const { arrival, details, secret } = newcomer.candidate
  const { hostIdentifier, nodeKey } = arrival.attempt.request
  const machine = {
    hostIdentifier,
    name: details.name,
    serial: details.serial,
    hardwareUuid: details.hardwareUuid,
    secret,
    nodeKeyHash: nodeKey === undefined ? undefined : hashNodeKey(nodeKey),
  }
  return admitMachine(arrival.change, machine, { known, twins }, nodeKeyAliveMs)
}

function toHeld({ deviceId, requestId }: Admission & { readonly kind: 'held' }): RefusedEnrollment {
  return { kind: 'approval_needed', deviceId, requestId }
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
  { arrival, details }: Candidate,
  known: Device,
  kind: 'cloned_identifier' | 'missing_hardware',
): RefusedEnrollment {
  if (arrival.attempt.auditsRefusals) recordRefusal(arrival.change, known, details, kind)
  return { kind, deviceId: known.id }
}

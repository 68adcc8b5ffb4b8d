import type { Change } from '../../../changes/change.ts'
import type { Hardware } from '../../devices/hardware-duplicate-store.ts'
import {
  judgeReenrollment,
  type Claim,
  type Judgement,
  type KnownHost,
  type ReenrollmentBasis,
} from './judge-reenrollment.ts'
import type { ContactedDevice } from './known-host-store.ts'
import type { ReenrollmentRequest } from './reenrollment-request-read.ts'
import {
  deleteSurplusRequests,
  findOpenRequest,
  insertReenrollmentRequest,
  updateReenrollmentRequest,
} from './reenrollment-request-store.ts'

/** A machine that comes with an enrollment secret. */
export interface Machine extends Hardware {
  readonly hostIdentifier: string
  /** What it calls itself. */
  readonly name: string
  readonly secret: { readonly id: string; readonly personId: string | null }
  readonly nodeKeyHash: Buffer | undefined
}

/** Whether a machine may enroll. */
export type Admission =
  | {
      readonly kind: 'admitted'
      /** Why it may take the place of the device that it claims to be; undefined for a new device. */
      readonly basis: ReenrollmentBasis | undefined
      /** What it had asked for, which has come about. */
      readonly request: ReenrollmentRequest | undefined
    }
  /** It waits for the approval of an admin. */
  | { readonly kind: 'held'; readonly deviceId: string; readonly requestId: string }

/** Undecided requests that are kept for one device; somebody who tries more pushes out the oldest. */
const REQUESTS_PER_DEVICE_MAX = 10

/**
 * Decides whether a machine may enroll as the device of its host identifier (`known`), and beside devices that
 * have its hardware (`twins`). A machine that may not asks an admin thereby: its first attempt is a request, an
 * audit entry and an event, each further one is counted.
 */
export async function admitMachine(
  change: Change,
  machine: Machine,
  hosts: {
    readonly known: ContactedDevice | undefined
    readonly twins: readonly ContactedDevice[]
  },
  aliveMs: number,
): Promise<Admission> {
  const { known, twins } = hosts
  if (known === undefined && twins.length === 0) return admitted(undefined, undefined)
  const request = await findOpenRequest(change.tx, {
    hostIdentifier: machine.hostIdentifier,
    ipAddress: change.origin.ipAddress ?? null,
    secretId: machine.secret.id,
  })
  const claim: Claim = {
    at: change.at,
    ipAddress: change.origin.ipAddress ?? null,
    secretPersonId: machine.secret.personId,
    nodeKeyHash: machine.nodeKeyHash,
    // What was approved is this machine with this hardware, and no other that goes by its name.
    request:
      request === undefined || isOf(request, machine)
        ? request
        : { ...request, status: toUndecided(request) },
  }
  const judge = (device: ContactedDevice): Judgement =>
    judgeReenrollment(toKnownHost(device), claim, aliveMs)
  let basis: ReenrollmentBasis | undefined
  if (known !== undefined) {
    const own = judge(known)
    if (own.kind === 'held') {
      return hold(change, machine, { device: known, reason: own.reason, request })
    }
    basis = own.basis
  }
  const twin = twins.find((device) => judge(device).kind === 'held')
  if (twin !== undefined) {
    return hold(change, machine, { device: twin, reason: 'known_hardware', request })
  }
  return admitted(basis, request?.status === 'denied' ? undefined : request)
}

/** Ends the request of a machine that was let in. */
export async function completeRequest(change: Change, request: ReenrollmentRequest): Promise<void> {
  await updateReenrollmentRequest(change.tx, request.id, {
    status: 'completed',
    approvedUntil: null,
    updatedAt: change.at,
  })
}

/** A denial stays. */
function toUndecided({ status }: ReenrollmentRequest): 'pending' | 'denied' {
  return status === 'denied' ? 'denied' : 'pending'
}

function isOf(request: ReenrollmentRequest, machine: Machine): boolean {
  return (
    !differs(request.serial, machine.serial) && !differs(request.hardwareUuid, machine.hardwareUuid)
  )
}

function differs(a: string | null, b: string | null): boolean {
  return a?.toLowerCase() !== b?.toLowerCase()
}

function admitted(
  basis: ReenrollmentBasis | undefined,
  request: ReenrollmentRequest | undefined,
): Admission {
  return { kind: 'admitted', basis, request }
}

function toKnownHost(device: ContactedDevice): KnownHost {
  return {
    ownerPersonId: device.ownerPersonId,
    nodeKeyHash: device.nodeKeyHash,
    enrolledAt: device.enrolledAt,
    enrolledFrom: device.enrolledFrom,
    lastSeenAt: device.lastSeenAt,
  }
}

interface HeldFor {
  readonly device: ContactedDevice
  readonly reason: ReenrollmentRequest['reason']
  /** What the machine asked for before. */
  readonly request: ReenrollmentRequest | undefined
}

async function hold(change: Change, machine: Machine, held: HeldFor): Promise<Admission> {
  const { device } = held
  const request =
    held.request === undefined
      ? await openRequest(change, machine, held)
      : await countAttempt(change, machine, held, held.request)
  return { kind: 'held', deviceId: device.id, requestId: request?.id ?? '' }
}

/** An approval that has run out, or was another machine's, is asked for once more. */
async function countAttempt(
  { tx, at }: Change,
  { name, serial, hardwareUuid }: Machine,
  { device, reason }: HeldFor,
  request: ReenrollmentRequest,
): Promise<ReenrollmentRequest> {
  return updateReenrollmentRequest(tx, request.id, {
    deviceId: device.id,
    reason,
    hostName: name,
    serial,
    hardwareUuid,
    attemptsCount: String(BigInt(request.attemptsCount) + 1n),
    lastRequestedAt: at,
    status: toUndecided(request),
    approvedUntil: null,
    updatedAt: at,
  })
}

async function openRequest(
  change: Change,
  machine: Machine,
  { device, reason }: HeldFor,
): Promise<ReenrollmentRequest | undefined> {
  const { tx, at, origin } = change
  const known = device.contactAddress ?? device.enrolledFrom
  const { serial, hardwareUuid } = machine
  const request = await insertReenrollmentRequest(tx, {
    deviceId: device.id,
    reason,
    hostIdentifier: machine.hostIdentifier,
    hostName: machine.name,
    serial,
    hardwareUuid,
    ipAddress: origin.ipAddress ?? null,
    knownIpAddress: known,
    enrollmentSecretId: machine.secret.id,
    requestedAt: at,
    lastRequestedAt: at,
    updatedAt: at,
  })
  // Another attempt of the same machine has asked meanwhile.
  if (request === undefined) return undefined
  await deleteSurplusRequests(tx, device.id, REQUESTS_PER_DEVICE_MAX)
  change.recordAudit({
    action: 'device.reenrollment_requested',
    target: { type: 'device', id: device.id },
    description: `held the enrollment of a machine as ${device.name}, whose ${DESCRIPTIONS[reason]}`,
    before: { ip_address: known, last_seen_at: device.lastSeenAt?.toISOString() ?? null },
    after: {
      reenrollment_request_id: request.id,
      reason,
      host_identifier: machine.hostIdentifier,
      serial,
      hardware_uuid: hardwareUuid,
      ip_address: request.ipAddress,
      enrollment_secret_id: machine.secret.id,
    },
  })
  change.recordEvent({
    type: 'requests.reenrollment',
    requestId: request.id,
    deviceId: device.id,
    reason,
    hostIdentifier: machine.hostIdentifier,
    ipAddress: request.ipAddress,
    previousIpAddress: known,
  })
  return request
}

const DESCRIPTIONS: Readonly<Record<ReenrollmentRequest['reason'], string>> = {
  live_node_key: 'node key is in use',
  known_hardware: 'hardware it claims to have',
  other_owner: 'owner is not the one of its enrollment secret',
}

import type { Change } from '../../changes/change.ts'
import type { Device } from '../devices/device-store.ts'
import type { ReenrollmentBasis } from '../enrollment/reenrollment/judge-reenrollment.ts'
import type { ContactedDevice } from '../enrollment/reenrollment/known-host-store.ts'
import type { LiveSecret } from './enrollment-store.ts'
import type { HostDetails } from './host-details.ts'

/** How a device came to be enrolled. */
export interface EnrollmentCause {
  readonly secret: LiveSecret
  /** The device before, and why its node key was replaced; undefined for a new device. */
  readonly again:
    { readonly known: ContactedDevice; readonly basis: ReenrollmentBasis | undefined } | undefined
}

/**
 * Records the audit entry and the events of an enrollment. One of a known device tells where the device was
 * last heard of and where it enrolled from now.
 */
export function recordEnrollment(change: Change, device: Device, cause: EnrollmentCause): void {
  const { secret, again } = cause
  const after = {
    host_identifier: device.hostIdentifier,
    enrollment_secret_id: secret.id,
    owner_person_id: device.ownerPersonId,
    ip_address: device.enrolledFrom,
  }
  const target = { type: 'device', id: device.id }
  if (again === undefined) {
    const description = `enrolled ${device.name}`
    change.recordAudit({ action: 'device.enrolled', target, description, after })
    change.recordEvent({ type: 'devices.created', deviceId: device.id })
  } else {
    const { known, basis } = again
    const previousIpAddress = known.contactAddress ?? known.enrolledFrom
    change.recordAudit({
      action: 'device.reenrolled',
      target,
      description: `enrolled ${device.name} again`,
      before: {
        enrollment_secret_id: known.enrollmentSecretId,
        ip_address: previousIpAddress,
        last_seen_at: known.lastSeenAt?.toISOString() ?? null,
      },
      after: { ...after, basis: basis ?? null },
    })
    change.recordEvent({
      type: 'devices.reenrolled',
      deviceId: device.id,
      ipAddress: device.enrolledFrom,
      previousIpAddress,
      reason: basis ?? 'node_key_ended',
    })
  }
  const wasRegistered = again !== undefined && again.known.ownerPersonId !== null
  if (device.ownerPersonId !== null && !wasRegistered) {
    change.recordEvent({ type: 'devices.registered', deviceId: device.id })
  }
}

const REFUSALS = {
  cloned_identifier: 'refused the enrollment of another machine under the host identifier of',
  missing_hardware: 'refused the enrollment of a machine that tells no hardware as',
} as const

/** Records that a machine which is not shown to be the device was refused. */
export function recordRefusal(
  change: Change,
  known: Device,
  claimed: HostDetails,
  refusal: keyof typeof REFUSALS,
): void {
  change.recordAudit({
    action: 'device.enrollment_refused',
    target: { type: 'device', id: known.id },
    description: `${REFUSALS[refusal]} ${known.name}`,
    before: { hardware_uuid: known.hardwareUuid, serial: known.serial },
    after: {
      hardware_uuid: claimed.hardwareUuid,
      serial: claimed.serial,
      ip_address: change.origin.ipAddress ?? null,
    },
  })
}

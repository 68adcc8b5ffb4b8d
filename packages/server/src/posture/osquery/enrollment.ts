import type { Change, PartOrigin } from '../../changes/change.ts'
import type { Device } from '../devices/device-store.ts'
import type { Hardware } from '../devices/hardware-duplicate-store.ts'
import type { Admission } from '../enrollment/reenrollment/admit-machine.ts'
import type { EnrollmentRequest } from './agent-message.ts'
import type { LiveSecret } from './enrollment-store.ts'
import type { HostDetails } from './host-details.ts'

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

export type RefusedEnrollment = Exclude<Enrollment, { readonly kind: 'enrolled' }>

/** A request to enroll, and where it comes from. */
export interface EnrollmentAttempt {
  readonly request: EnrollmentRequest
  readonly origin: PartOrigin
  /** Whether a machine that is not shown to be the device is audited; somebody who tries on would fill the log. */
  readonly auditsRefusals: boolean
}

/** An attempt under way, with the part of the change that is its own. */
export interface Arrival {
  readonly attempt: EnrollmentAttempt
  readonly change: Change
}

/** An arrival that has passed its secret and platform. */
export interface Candidate {
  readonly arrival: Arrival
  readonly secret: LiveSecret
  readonly details: HostDetails
}

/** A candidate that has become a device. */
export interface EnrolledCandidate {
  readonly candidate: Candidate
  readonly device: Device
  readonly nodeKey: string
  readonly admission: Admission & { readonly kind: 'admitted' }
  /** What the device did not have before. */
  readonly hardware: Hardware
  /** Whether it is a use of its secret. */
  readonly isCounted: boolean
}

/*
 * What happens in the service, as the use cases record it: the name of the event and which records it is
 * about. Publishers decide at the commit what is sent of it, and to whom. Webhooks name every type in a
 * table, so that a new event does not compile before they have an answer to it; streams hear of changes of
 * status only.
 */
import type { AuthState, Compliance, InitiatingEntity } from '../schema/status-values.ts'
import type { Platform } from '../schema/tables/device-tables.ts'
import type { OrganisationTables } from '../schema/tables/organisation-tables.ts'
import type { GrantedSessionTables } from '../schema/tables/granted-session-tables.ts'

/** A record that may be gone by the time the change commits. */
interface EventDevice {
  readonly id: string
  readonly name: string
}

/** The two values that a device's status consists of. */
export interface DeviceStatus {
  readonly authState: AuthState
  readonly compliance: Compliance
}

/** An open issue that counts for the status of a device. */
export interface StatusReason {
  readonly issueId: string
  readonly issueTitle: string
  readonly checkId: string
  readonly checkSlug: string
  readonly checkName: string
  readonly blocksDeviceAt: Date | null
}

/** A device's state or compliance has become another; one of the two may be the same as before. */
export interface DeviceStatusChange {
  readonly device: EventDevice & {
    readonly platform: Platform
    /** Null when nobody owns the device. */
    readonly owner: { readonly personId: string; readonly email: string } | null
  }
  readonly previous: DeviceStatus
  readonly current: DeviceStatus
  /** When the status changed: for a grace period its exact end, not when it was noticed. */
  readonly occurredAt: Date
  readonly initiatingEntity: InitiatingEntity
  /** The open issues that decide the present status, worst first; empty when the device is Good. */
  readonly reasons: readonly StatusReason[]
  /** Nothing changed: it is told because receivers may know another status. */
  readonly isRestated?: true
}

/** An end user signed in with a browser, or began to and did not. */
interface SignIn {
  /** The record of the sign-in. */
  readonly sessionId: string
  /** Null when nobody, or no device, was recognised. */
  readonly personId: string | null
  readonly device: EventDevice | null
  readonly browserName: string | null
  readonly browserVersion: string | null
  /** The version of the agent on the device. */
  readonly agentVersion: string | null
}

/** The last that is known of a device that was deleted. */
interface DestroyedDevice {
  readonly device: EventDevice
  readonly authState: AuthState
  readonly ownerPersonId: string | null
}

/** The node key of a device was replaced. */
interface DeviceReenrolled {
  readonly deviceId: string
  /** Where it enrolled from. */
  readonly ipAddress: string | null
  /** Where it was last heard of before. */
  readonly previousIpAddress: string | null
  /** Why the machine was let in. */
  readonly reason: string
}

/** A machine waits for an approval to enroll as a device, or with its hardware. */
interface ReenrollmentRequested {
  readonly requestId: string
  readonly deviceId: string
  readonly reason: string
  readonly hostIdentifier: string
  readonly ipAddress: string | null
  readonly previousIpAddress: string | null
}

/** An enrollment secret is nearly used up, used up, or used unusually often. */
interface SecretAlarm {
  readonly secretId: string
  readonly name: string
  readonly reason: string
  readonly useCount: number
  readonly usesMax: number | null
  readonly usesWithinHour: number
}

/** What somebody was granted who signed in here. */
interface GrantedSession {
  readonly sessionId: string
  /** Null for the pages of the person. */
  readonly applicationId: string | null
  readonly person: { readonly id: string; readonly email: string }
  /** Null where no device had to be proven, or it is gone. */
  readonly deviceId: string | null
}

/** Why a granted session ended before its time. */
export type SessionEndReason = NonNullable<
  GrantedSessionTables['sign_in_granted_session']['end_reason']
>

/** What is told of a session that ended before its time. */
interface EndedSession extends GrantedSession {
  /** What its application knows it by. */
  readonly sid: string
  readonly reason: SessionEndReason
}

/** The registration of a device has ended, because of an end of it or in favour of another person. */
interface EndedRegistration {
  readonly deviceId: string
  /** Whose registration it was. */
  readonly personId: string
  /** Null when the device belongs to nobody now. */
  readonly nextPersonId: string | null
}

interface IssueMoment {
  readonly issueId: string
  readonly occurredAt: Date
}

interface WebhookTrouble {
  readonly webhookId: string
  readonly reason: string
}

interface WebhookReturn {
  readonly webhookId: string
  /** Why it was off, as the API words it, and since when. */
  readonly disabledReason: string | null
  readonly disabledAt: Date | null
}

type AdminAccess = OrganisationTables['admin_user']['access']

/** An admin, as known when the change commits or removes it. */
interface EventAdmin {
  readonly adminId: string
  readonly firstName: string
  readonly lastName: string
  readonly email: string
  readonly access: AdminAccess
}

/** The events by their names, each with what it carries. */
interface EventContents {
  'admin_users.created': { readonly adminId: string }
  'admin_users.access_changed': EventAdmin & { readonly previousAccess: AdminAccess }
  'admin_users.destroyed': EventAdmin
  'auth_logs.failure': SignIn
  'auth_logs.success': SignIn
  'device.status_changed': DeviceStatusChange
  'devices.created': { readonly deviceId: string }
  'devices.destroyed': DestroyedDevice
  'devices.registered': { readonly deviceId: string }
  /** Somebody decided that the device is registered to whoever asked for it. */
  'registration_request.approved': {
    readonly requestId: string
    readonly deviceId: string
    readonly personId: string
  }
  /** Somebody decided that it is not. */
  'registration_request.denied': { readonly deviceId: string }
  /** Registered to another person than before. */
  'devices.reassigned': { readonly deviceId: string }
  /** Its agent neither reports nor enrolls any more: it is to be deleted, or was disabled. */
  'device.dismissed': { readonly deviceId: string }
  'device.registration_ended': EndedRegistration
  'devices.reenrolled': DeviceReenrolled
  /** Another device with its serial or hardware UUID has become known. */
  'devices.hardware_duplicated': { readonly deviceId: string }
  'enrollment_secrets.alarm': SecretAlarm
  'issues.new': IssueMoment
  'issues.resolved': IssueMoment
  /** Switched off, by an admin or the identity provider. */
  'person.deprovisioned': { readonly personId: string }
  'requests.issue_exemption': { readonly requestId: string }
  'requests.registration': { readonly requestId: string }
  'requests.reenrollment': ReenrollmentRequested
  'sign_in_session.granted': GrantedSession
  /** Ended before its time. */
  'sign_in_session.ended': EndedSession
  /** Nothing was accepted by a webhook for days. */
  'webhook.failing': WebhookTrouble
  /** A webhook was switched off after days without success, or because its receiver is gone. */
  'webhook.disabled': WebhookTrouble
  /** A webhook that was off was switched on, by whomever it had been switched off. */
  'webhook.enabled': WebhookReturn
}

/** The names of the events. */
export type DomainEventType = keyof EventContents

/** The event of a name. */
export type DomainEventOf<Type extends DomainEventType> = {
  readonly [Name in Type]: { readonly type: Name } & EventContents[Name]
}[Type]

/** Something that happened, recorded in the change that makes it so. */
export type DomainEvent = DomainEventOf<DomainEventType>

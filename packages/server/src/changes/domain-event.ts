/*
 * What happens in the service and may be told to the outside, as the use cases say it: the name and
 * which records it is about. What is told of it, and to whom, is decided where events are published.
 */
import type { AuthState } from '../schema/status-values.ts'

/** A record that may be gone by the time the change commits. */
interface EventDevice {
  readonly id: string
  readonly name: string
}

/** An end user signed in with a browser, or began to and did not. */
export interface SignInEvent {
  readonly type: 'auth_logs.success' | 'auth_logs.failure'
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

/** The state in which a device may sign in has become another. */
export interface DeviceStatusEvent {
  readonly type: 'device_trust.status_changed'
  readonly device: EventDevice
  readonly authState: AuthState
  readonly occurredAt: Date
}

/** The last that is known of a device that was deleted. */
export interface DeviceDestroyedEvent {
  readonly type: 'devices.destroyed'
  readonly device: EventDevice
  readonly authState: AuthState
  readonly ownerPersonId: string | null
}

/** Something that happened, told in the change that makes it so. */
export type DomainEvent =
  | SignInEvent
  | DeviceStatusEvent
  | DeviceDestroyedEvent
  | { readonly type: 'admin_users.created'; readonly adminId: string }
  | {
      /** `reassigned`: registered to another person than before. */
      readonly type: 'devices.created' | 'devices.registered' | 'devices.reassigned'
      readonly deviceId: string
    }
  | {
      readonly type: 'issues.new' | 'issues.resolved'
      readonly issueId: string
      readonly occurredAt: Date
    }
  | {
      readonly type: 'requests.issue_exemption' | 'requests.registration'
      readonly requestId: string
    }
  | {
      /** Nothing was accepted by a webhook for days; or it was switched off for that, or at its receiver's wish. */
      readonly type: 'webhook.failing' | 'webhook.disabled'
      readonly webhookId: string
      readonly reason: string
    }

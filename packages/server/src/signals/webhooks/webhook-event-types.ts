import type { DomainEventType } from '../../changes/domain-event.ts'

/** The events that a webhook can subscribe to, with when each is sent. */
export const WEBHOOK_EVENTS = {
  'admin_users.created': 'A new admin exists.',
  'admin_users.access_changed': 'An admin may do more or less than before.',
  'admin_users.destroyed': 'An admin was removed.',
  'audit_log.recorded': 'An entry was added to the audit log.',
  'auth_logs.success': 'An end user has signed in.',
  'auth_logs.failure': 'An end user began to sign in and did not finish.',
  'device_trust.status_changed': 'The state in which a device may sign in has become another.',
  'devices.created': 'A device has enrolled for the first time.',
  'devices.registered': 'A device was registered to a person.',
  'devices.reassigned': 'A device that was registered was registered to another person.',
  'devices.destroyed': 'A device was deleted.',
  'devices.reenrolled':
    'A device that was known has enrolled again; its former node key has ended.',
  'devices.hardware_duplicated':
    'Another device with the serial or hardware UUID of a device has become known.',
  'enrollment_secrets.alarm':
    'An enrollment secret is nearly used up, is used up, or was used unusually often within an hour.',
  'issues.new': 'A check has opened an issue.',
  'issues.resolved': 'An issue was resolved.',
  'requests.issue_exemption': 'A person asked for an exemption from issues.',
  'requests.registration': 'A person asked to register a device.',
  'requests.reenrollment':
    'A machine that claims to be a device which is in use waits for the approval of an admin.',
  'webhook.failing': 'A webhook has accepted nothing for one day, and again for three days.',
  'webhook.disabled': 'The service has switched a webhook off.',
  'webhook.enabled': 'A webhook that was off was switched on.',
  'failures.new': 'As `issues.new`, for older receivers; of devices only.',
  'failures.resolved': 'As `issues.resolved`, for older receivers; of devices only.',
} as const satisfies Record<string, string>

/** An event that a webhook can subscribe to. */
export type SubscribableEvent = keyof typeof WEBHOOK_EVENTS

/** Every event that a webhook can subscribe to. */
export const SUBSCRIBABLE_EVENTS = Object.keys(WEBHOOK_EVENTS) as [
  SubscribableEvent,
  ...SubscribableEvent[],
]

/** The name under which webhooks hear of a changed status; other events have the names of their types. */
export const NAME_OF_STATUS_CHANGE = 'device_trust.status_changed'

/** The older names under which webhooks hear of events besides. */
export const OLDER_NAMES = {
  'issues.new': 'failures.new',
  'issues.resolved': 'failures.resolved',
} as const satisfies Partial<Record<DomainEventType, SubscribableEvent>>

/** Every name under which webhooks hear of the events of a type. */
export function namesOf(type: DomainEventType): readonly SubscribableEvent[] {
  if (type === 'device.status_changed') return [NAME_OF_STATUS_CHANGE]
  if (isUntold(type)) return []
  return type === 'issues.new' || type === 'issues.resolved' ? [type, OLDER_NAMES[type]] : [type]
}

/** Streams and the application itself are told of sessions; the others are causes within the service. */
const UNTOLD = [
  'device.dismissed',
  'registration_request.approved',
  'registration_request.denied',
  'device.registration_ended',
  'person.deprovisioned',
  'sign_in_session.ended',
  'sign_in_session.granted',
] as const satisfies readonly DomainEventType[]

function isUntold(type: DomainEventType): type is (typeof UNTOLD)[number] {
  return (UNTOLD as readonly DomainEventType[]).includes(type)
}

/** What the test of a webhook sends; to that webhook, whatever it subscribes to. */
export const TEST_EVENT = 'webhook.test'

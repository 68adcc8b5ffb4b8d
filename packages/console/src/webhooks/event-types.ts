import type { CreateWebhookInput } from '../api/generated/types.gen.ts'

type EventType = CreateWebhookInput['events'][number]

/** The compiler sees when the API learns another one. */
const ALL: Readonly<Record<EventType, true>> = {
  'device_trust.status_changed': true,
  'devices.created': true,
  'devices.registered': true,
  'devices.reassigned': true,
  'devices.reenrolled': true,
  'devices.hardware_duplicated': true,
  'devices.destroyed': true,
  'issues.new': true,
  'issues.resolved': true,
  'failures.new': true,
  'failures.resolved': true,
  'auth_logs.success': true,
  'auth_logs.failure': true,
  'requests.issue_exemption': true,
  'requests.registration': true,
  'requests.reenrollment': true,
  'enrollment_secrets.alarm': true,
  'admin_users.created': true,
  'admin_users.access_changed': true,
  'admin_users.destroyed': true,
  'audit_log.recorded': true,
  'webhook.failing': true,
  'webhook.disabled': true,
  'webhook.enabled': true,
}

/** What a webhook can be told of, kept together by what it is about. */
export const EVENT_TYPES = Object.keys(ALL) as readonly EventType[]

/*
 * The payloads of webhooks: the `data` member for each event, as clients of the K2 service know it. Ids
 * are integers here and states are in lower case, unlike in the REST API.
 */
import type { AuditFields } from '../../changes/audit/audit-entry.ts'
import type { DomainEvent, DomainEventOf } from '../../changes/domain-event.ts'
import type { AuthState } from '../../schema/status-values.ts'
import type { EventDevice, EventIssue, EventPerson, EventSubjects } from './event-subject-store.ts'
import { WEBHOOK_NAMES, type SubscribableEvent } from './webhook-event-types.ts'

/** What is sent of an event under one of its names. */
export interface WebhookPayload {
  readonly type: SubscribableEvent
  /** The record that events are searched by. */
  readonly object: { readonly type: string; readonly id: string } | null
  readonly occurredAt: Date
  readonly data: object
}

/** What payloads are made with. */
export interface PayloadContext {
  readonly subjects: EventSubjects
  readonly baseUrl: string
  /** The time of the change, for events without one of their own. */
  readonly at: Date
}

/** A device's state as webhooks word it. */
export const STATE_WORDS = {
  Good: 'good',
  Notified: 'notified',
  'Will Block': 'will_block',
  Blocked: 'blocked',
} as const satisfies Record<AuthState, string>

/**
 * The payloads of an event: none when its record is gone by the end of the change, and one under the
 * older name besides where the event has one.
 */
export function toPayloads(event: DomainEvent, context: PayloadContext): WebhookPayload[] {
  const { subjects, at } = context
  switch (event.type) {
    case 'admin_users.created':
      return toAdminPayloads(event, context)
    case 'auth_logs.failure':
    case 'auth_logs.success':
      return [payload(event.type, ['auth_log', event.sessionId], at, toSignInData(event, context))]
    case 'device.status_changed':
      return toStatusPayloads(event, context)
    case 'devices.destroyed':
      return [toDestroyedPayload(event, context)]
    case 'enrollment_secrets.alarm':
    case 'requests.reenrollment':
      return toEnrollmentPayloads(event, context)
    case 'issues.new':
    case 'issues.resolved':
      return toIssuePayloads(event, subjects.issues.get(event.issueId))
    case 'requests.issue_exemption':
      return toExemptionPayloads(event, context)
    case 'requests.registration':
      return toRegistrationPayloads(event, context)
    case 'webhook.failing':
    case 'webhook.disabled':
      return toWebhookPayloads(event, context)
    default:
      return toDevicePayloads(event, context)
  }
}

/** The payload of an entry of the audit log. */
export function toAuditPayload(entry: AuditFields, at: Date): WebhookPayload {
  const { target_type: type, target_id: id } = entry
  return {
    type: 'audit_log.recorded',
    object: type === null || id === null ? null : { type, id },
    occurredAt: at,
    data: {
      actor_name: entry.actor_name,
      actor_type: entry.actor_type,
      actor_email: entry.actor_email,
      ip_address: entry.ip_address,
      description: entry.description,
    },
  }
}

function payload(
  type: SubscribableEvent,
  [objectType, objectId]: readonly [type: string, id: string],
  occurredAt: Date,
  data: object,
): WebhookPayload {
  return { type, object: { type: objectType, id: objectId }, occurredAt, data }
}

function toUrl({ baseUrl }: PayloadContext, collection: string, id: string): string {
  return `${baseUrl}/${collection}/${id}`
}

function toAdminPayloads(
  { type, adminId }: DomainEventOf<'admin_users.created'>,
  { subjects, at }: PayloadContext,
): WebhookPayload[] {
  const admin = subjects.admins.get(adminId)
  if (admin === undefined) return []
  const data = {
    admin_user_id: Number(admin.id),
    first_name: admin.firstName,
    last_name: admin.lastName,
    email: admin.email,
    access: admin.access,
  }
  return [payload(type, ['admin_user', adminId], at, data)]
}

function toStatusPayloads(
  { type, device, previous, current, occurredAt }: DomainEventOf<'device.status_changed'>,
  context: PayloadContext,
): WebhookPayload[] {
  if (previous.authState === current.authState) return []
  const data = {
    device_id: Number(device.id),
    device_name: device.name,
    device_status: STATE_WORDS[current.authState],
    device_url: toUrl(context, 'devices', device.id),
  }
  return [payload(WEBHOOK_NAMES[type][0], ['device', device.id], occurredAt, data)]
}

function toWebhookPayloads(
  { type, webhookId, reason }: DomainEventOf<'webhook.failing' | 'webhook.disabled'>,
  { subjects, at }: PayloadContext,
): WebhookPayload[] {
  const webhook = subjects.webhooks.get(webhookId)
  if (webhook === undefined) return []
  const { id, name, url } = webhook
  return [payload(type, ['webhook', id], at, { webhook_id: Number(id), name, url, reason })]
}

function toDevicePayloads(
  event: DomainEventOf<
    | 'devices.created'
    | 'devices.registered'
    | 'devices.reassigned'
    | 'devices.reenrolled'
    | 'devices.hardware_duplicated'
  >,
  context: PayloadContext,
): WebhookPayload[] {
  const device = context.subjects.devices.get(event.deviceId)
  if (device === undefined) return []
  const { registered_owner, ...facts } = toDeviceData(device, context)
  const data = {
    ...facts,
    device_url: toUrl(context, 'devices', device.id),
    registered_owner,
    ...(event.type === 'devices.reenrolled' ? toAddresses(event) : {}),
  }
  return [payload(event.type, ['device', device.id], context.at, data)]
}

function toAddresses(event: DomainEventOf<'devices.reenrolled'>) {
  const { ipAddress, previousIpAddress, reason } = event
  return { ip_address: ipAddress, previous_ip_address: previousIpAddress, reason }
}

function toEnrollmentPayloads(
  event: DomainEventOf<'enrollment_secrets.alarm' | 'requests.reenrollment'>,
  context: PayloadContext,
): WebhookPayload[] {
  return event.type === 'requests.reenrollment'
    ? toReenrollmentPayloads(event, context)
    : [toSecretPayload(event, context)]
}

function toReenrollmentPayloads(
  { type, requestId, deviceId, ...event }: DomainEventOf<'requests.reenrollment'>,
  context: PayloadContext,
): WebhookPayload[] {
  const device = context.subjects.devices.get(deviceId)
  if (device === undefined) return []
  const data = {
    request_id: Number(requestId),
    request_url: toUrl(context, 'reenrollment_requests', requestId),
    device: { id: Number(device.id), name: device.name, url: toUrl(context, 'devices', device.id) },
    reason: event.reason,
    host_identifier: event.hostIdentifier,
    ip_address: event.ipAddress,
    previous_ip_address: event.previousIpAddress,
  }
  return [payload(type, ['reenrollment_request', requestId], context.at, data)]
}

function toSecretPayload(
  { type, secretId, ...event }: DomainEventOf<'enrollment_secrets.alarm'>,
  { at }: PayloadContext,
): WebhookPayload {
  return payload(type, ['enrollment_secret', secretId], at, {
    enrollment_secret_id: Number(secretId),
    name: event.name,
    reason: event.reason,
    use_count: event.useCount,
    uses_max: event.usesMax,
    uses_within_hour: event.usesWithinHour,
  })
}

function toDestroyedPayload(
  { type, device, authState, ownerPersonId }: DomainEventOf<'devices.destroyed'>,
  context: PayloadContext,
): WebhookPayload {
  const owner = context.subjects.people.get(ownerPersonId ?? '') ?? null
  const data = toDeviceData({ ...device, authState, owner }, context)
  return payload(type, ['device', device.id], context.at, data)
}

function toDeviceData(device: EventDevice, context: PayloadContext) {
  return {
    device_id: Number(device.id),
    device_name: device.name,
    device_status: STATE_WORDS[device.authState],
    registered_owner: device.owner === null ? null : toOwner(device.owner, context),
  }
}

function toOwner({ id, name, email }: EventPerson, context: PayloadContext) {
  return { id: Number(id), name, email, owner_url: toUrl(context, 'people', id) }
}

function toIssuePayloads(
  { type, occurredAt }: DomainEventOf<'issues.new' | 'issues.resolved'>,
  issue: EventIssue | undefined,
): WebhookPayload[] {
  if (issue === undefined) return []
  const { id, title, device, person, check } = issue
  const checkId = Number(check.id)
  const object = ['issue', id] as const
  const data = {
    issue_id: Number(id),
    title,
    check_id: checkId,
    ...(device === null ? {} : { device_id: Number(device.id) }),
    device: device === null ? null : { id: Number(device.id), name: device.name },
    ...(person === null ? {} : { person: { ...person, id: Number(person.id) } }),
    check: { id: checkId, name: check.name, tags: check.tags },
  }
  if (device === null) return [payload(type, object, occurredAt, data)]
  const [name, olderName] = WEBHOOK_NAMES[type]
  const olderData = {
    check_id: checkId,
    failure_id: Number(id),
    title,
    device_id: Number(device.id),
  }
  return [
    payload(name, object, occurredAt, data),
    payload(olderName, object, occurredAt, olderData),
  ]
}

function toExemptionPayloads(
  { type, requestId }: DomainEventOf<'requests.issue_exemption'>,
  context: PayloadContext,
): WebhookPayload[] {
  const request = context.subjects.exemptionRequests.get(requestId)
  if (request === undefined) return []
  const data = {
    device_id: Number(request.device.id),
    device_name: request.device.name,
    person_email: request.requester?.email ?? null,
    message: request.message,
    issues: request.issueIds.map((id) => ({
      issue_id: Number(id),
      issue_url: toUrl(context, 'issues', id),
    })),
  }
  return [payload(type, ['exemption_request', request.id], context.at, data)]
}

function toRegistrationPayloads(
  { type, requestId }: DomainEventOf<'requests.registration'>,
  context: PayloadContext,
): WebhookPayload[] {
  const request = context.subjects.registrationRequests.get(requestId)
  if (request === undefined) return []
  const { device, requester, message } = request
  const data = {
    device: { id: Number(device.id), name: device.name, url: toUrl(context, 'devices', device.id) },
    requester:
      requester === null
        ? null
        : {
            id: Number(requester.id),
            email: requester.email,
            url: toUrl(context, 'people', requester.id),
          },
    message,
  }
  return [payload(type, ['registration_request', request.id], context.at, data)]
}

function toSignInData(
  event: DomainEventOf<'auth_logs.success' | 'auth_logs.failure'>,
  context: PayloadContext,
) {
  const { sessionId, personId, device } = event
  return {
    auth_log_url: toUrl(context, 'auth_logs', sessionId),
    browser_name: event.browserName,
    browser_version: event.browserVersion,
    device_id: device === null ? null : Number(device.id),
    device_name: device?.name ?? null,
    launcher_version: event.agentVersion,
    person_id: personId === null ? null : Number(personId),
  }
}

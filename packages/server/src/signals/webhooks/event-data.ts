/*
 * What webhooks tell of an event: the `data` member, as clients of the K2 service know it. Ids are
 * integers here and states are in lower case, unlike in the REST API.
 */
import type { AuditFields } from '../../changes/audit/audit-entry.ts'
import type { DeviceStatusEvent, DomainEvent, SignInEvent } from '../../changes/domain-event.ts'
import type { AuthState } from '../../schema/status-values.ts'
import type { EventDevice, EventIssue, EventPerson, EventRequest } from './event-subject-store.ts'
import type { EventSubjects } from './load-event-subjects.ts'
import type { SubscribableEvent } from './webhook-event-types.ts'

/** An event with what is told of it. */
export interface ToldEvent {
  readonly type: SubscribableEvent
  /** The record that events are searched by. */
  readonly object: { readonly type: string; readonly id: string } | null
  readonly occurredAt: Date
  readonly data: object
}

/** What events are told with. */
export interface EventContext {
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
 * What is told of an event: nothing when its record is gone by the end of the change, and the older
 * name besides where an event has one.
 */
export function toToldEvents(event: DomainEvent, context: EventContext): ToldEvent[] {
  const { subjects, at } = context
  if ('adminId' in event) return toldAdmin(event.adminId, context)
  if ('deviceId' in event) {
    return toldDevice(event.type, subjects.devices.get(event.deviceId), context)
  }
  if ('issueId' in event) return toldIssue(event, subjects.issues.get(event.issueId))
  if ('webhookId' in event) return toldWebhook(event, context)
  if ('requestId' in event) {
    return event.type === 'requests.issue_exemption'
      ? toldExemptionRequest(subjects.exemptionRequests.get(event.requestId), context)
      : toldRegistrationRequest(subjects.registrationRequests.get(event.requestId), context)
  }
  switch (event.type) {
    case 'devices.destroyed': {
      const { device, authState, ownerPersonId } = event
      const owner = subjects.people.get(ownerPersonId ?? '') ?? null
      const data = toDeviceData({ ...device, authState, owner }, context)
      return [told(event.type, ['device', device.id], at, data)]
    }
    case 'device_trust.status_changed':
      return [toldStatus(event, context)]
    case 'auth_logs.success':
    case 'auth_logs.failure': {
      const data = toSignInData(event, context)
      return [told(event.type, ['auth_log', event.sessionId], at, data)]
    }
  }
}

/** What is told of an entry of the audit log. */
export function toToldAuditEntry(entry: AuditFields, at: Date): ToldEvent {
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

function told(
  type: SubscribableEvent,
  [objectType, objectId]: readonly [type: string, id: string],
  occurredAt: Date,
  data: object,
): ToldEvent {
  return { type, object: { type: objectType, id: objectId }, occurredAt, data }
}

function toUrl({ baseUrl }: EventContext, collection: string, id: string): string {
  return `${baseUrl}/${collection}/${id}`
}

function toldAdmin(id: string, { subjects, at }: EventContext): ToldEvent[] {
  const admin = subjects.admins.get(id)
  if (admin === undefined) return []
  const data = {
    admin_user_id: Number(admin.id),
    first_name: admin.firstName,
    last_name: admin.lastName,
    email: admin.email,
    access: admin.access,
  }
  return [told('admin_users.created', ['admin_user', id], at, data)]
}

function toldStatus(
  { type, device, authState, occurredAt }: DeviceStatusEvent,
  context: EventContext,
): ToldEvent {
  return told(type, ['device', device.id], occurredAt, {
    device_id: Number(device.id),
    device_name: device.name,
    device_status: STATE_WORDS[authState],
    device_url: toUrl(context, 'devices', device.id),
  })
}

function toldWebhook(
  event: { type: 'webhook.failing' | 'webhook.disabled'; webhookId: string; reason: string },
  { subjects, at }: EventContext,
): ToldEvent[] {
  const webhook = subjects.webhooks.get(event.webhookId)
  if (webhook === undefined) return []
  const { id, name, url } = webhook
  const data = { webhook_id: Number(id), name, url, reason: event.reason }
  return [told(event.type, ['webhook', id], at, data)]
}

function toldDevice(
  type: SubscribableEvent,
  device: EventDevice | undefined,
  context: EventContext,
): ToldEvent[] {
  if (device === undefined) return []
  const { registered_owner, ...data } = toDeviceData(device, context)
  const device_url = toUrl(context, 'devices', device.id)
  return [told(type, ['device', device.id], context.at, { ...data, device_url, registered_owner })]
}

function toDeviceData(device: EventDevice, context: EventContext) {
  return {
    device_id: Number(device.id),
    device_name: device.name,
    device_status: STATE_WORDS[device.authState],
    registered_owner: device.owner === null ? null : toOwner(device.owner, context),
  }
}

function toOwner({ id, name, email }: EventPerson, context: EventContext) {
  return { id: Number(id), name, email, owner_url: toUrl(context, 'people', id) }
}

function toldIssue(
  { type, occurredAt }: { type: 'issues.new' | 'issues.resolved'; occurredAt: Date },
  issue: EventIssue | undefined,
): ToldEvent[] {
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
  if (device === null) return [told(type, object, occurredAt, data)]
  const olderType = type === 'issues.new' ? 'failures.new' : 'failures.resolved'
  const olderData = {
    check_id: checkId,
    failure_id: Number(id),
    title,
    device_id: Number(device.id),
  }
  return [told(type, object, occurredAt, data), told(olderType, object, occurredAt, olderData)]
}

function toldExemptionRequest(
  request: EventRequest | undefined,
  context: EventContext,
): ToldEvent[] {
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
  return [told('requests.issue_exemption', ['exemption_request', request.id], context.at, data)]
}

function toldRegistrationRequest(
  request: EventRequest | undefined,
  context: EventContext,
): ToldEvent[] {
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
  return [told('requests.registration', ['registration_request', request.id], context.at, data)]
}

function toSignInData(event: SignInEvent, context: EventContext) {
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

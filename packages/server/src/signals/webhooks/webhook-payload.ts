/*
 * The payloads of webhooks: the `data` member for each event, as clients of the K2 service know it. Ids
 * are integers here and states are in lower case, unlike in the REST API.
 */
import type { DomainEvent, DomainEventOf, DomainEventType } from '../../changes/domain-event.ts'
import type { AuthState } from '../../schema/status-values.ts'
import type {
  EventAdmin,
  EventDevice,
  EventIssue,
  EventPerson,
  EventRequest,
  EventWebhook,
  SubjectKind,
  SubjectOf,
} from './event-subject-store.ts'
import { payload, toUrl, type PayloadContext, type WebhookPayload } from './payload-parts.ts'
import { toSignInPayloads } from './sign-in-payload.ts'
import { NAME_OF_STATUS_CHANGE, OLDER_NAMES } from './webhook-event-types.ts'

/** A device's state as webhooks word it. */
export const STATE_WORDS = {
  Good: 'good',
  Notified: 'notified',
  'Will Block': 'will_block',
  Blocked: 'blocked',
} as const satisfies Record<AuthState, string>

/** The record that an event is about. */
type Subject = readonly [kind: SubjectKind, id: string]

/** How webhooks are told of the events of one type. */
interface EventForm<Event> {
  /** The record that has to be read; undefined where the event says it all. */
  readonly subject: (event: Event) => Subject | undefined
  readonly toPayloads: (event: Event, context: PayloadContext) => WebhookPayload[]
}

const SIGN_IN = alone(toSignInPayloads)
const DEVICE = about('devices', ({ deviceId }) => deviceId, toDevicePayloads)
const ISSUE = about('issues', ({ issueId }) => issueId, toIssuePayloads)
const UNTOLD = alone(() => [])
const WEBHOOK = about('webhooks', ({ webhookId }) => webhookId, toWebhookPayloads)

/** A type of event that webhooks are not told of does not compile. */
const FORMS: { readonly [Type in DomainEventType]: EventForm<DomainEventOf<Type>> } = {
  'admin_users.created': about('admins', ({ adminId }) => adminId, toNewAdminPayloads),
  'admin_users.access_changed': alone(toAccessPayloads),
  'admin_users.destroyed': alone(toRemovedAdminPayloads),
  'auth_logs.failure': SIGN_IN,
  'auth_logs.success': SIGN_IN,
  'device.status_changed': alone(toStatusPayloads),
  'devices.created': DEVICE,
  'devices.destroyed': {
    subject: ({ ownerPersonId: id }) => (id === null ? undefined : ['people', id]),
    toPayloads: toDestroyedPayloads,
  },
  'devices.registered': DEVICE,
  'devices.reassigned': DEVICE,
  'device.dismissed': UNTOLD,
  'registration_request.approved': UNTOLD,
  'registration_request.denied': UNTOLD,
  'device.registration_ended': UNTOLD,
  'devices.reenrolled': DEVICE,
  'devices.hardware_duplicated': DEVICE,
  'enrollment_secrets.alarm': alone(toSecretPayloads),
  'issues.new': ISSUE,
  'issues.resolved': ISSUE,
  'requests.issue_exemption': about(
    'exemptionRequests',
    ({ requestId }) => requestId,
    toExemptionPayloads,
  ),
  'requests.registration': about(
    'registrationRequests',
    ({ requestId }) => requestId,
    toRegistrationPayloads,
  ),
  'requests.reenrollment': about('devices', ({ deviceId }) => deviceId, toReenrollmentPayloads),
  'person.deprovisioned': UNTOLD,
  'sign_in_session.granted': UNTOLD,
  'sign_in_session.ended': UNTOLD,
  'webhook.failing': WEBHOOK,
  'webhook.disabled': WEBHOOK,
  'webhook.enabled': about('webhooks', ({ webhookId }) => webhookId, toReturnPayloads),
}

/** An event that says it all. */
function alone<Event>(toPayloads: EventForm<Event>['toPayloads']): EventForm<Event> {
  return { subject: () => undefined, toPayloads }
}

/** An event about a record: nothing is told when that is gone by the end of the change. */
function about<Event, Kind extends SubjectKind>(
  kind: Kind,
  idOf: (event: Event) => string,
  toPayloads: (event: Event, subject: SubjectOf<Kind>, context: PayloadContext) => WebhookPayload[],
): EventForm<Event> {
  return {
    subject: (event) => [kind, idOf(event)],
    toPayloads: (event, context) => {
      const subject = context.subjects[kind].get(idOf(event))
      return subject === undefined ? [] : toPayloads(event, subject as SubjectOf<Kind>, context)
    },
  }
}

/** The record that has to be read for the payloads of an event; undefined where the event says it all. */
export function subjectOf(event: DomainEvent): Subject | undefined {
  // The form that stands under a type takes the events of that type.
  return FORMS[event.type].subject(event as never)
}

/**
 * The payloads of an event: none when its record is gone by the end of the change, and one under the
 * older name besides where the event has one.
 */
export function toPayloads(event: DomainEvent, context: PayloadContext): WebhookPayload[] {
  return FORMS[event.type].toPayloads(event as never, context)
}

function toNewAdminPayloads(
  { type }: DomainEventOf<'admin_users.created'>,
  { id, ...admin }: EventAdmin,
  { at }: PayloadContext,
): WebhookPayload[] {
  return [payload(type, ['admin_user', id], at, toAdminData({ ...admin, adminId: id }))]
}

function toAccessPayloads(
  { type, previousAccess, ...admin }: DomainEventOf<'admin_users.access_changed'>,
  { at }: PayloadContext,
): WebhookPayload[] {
  const data = { ...toAdminData(admin), previous_access: previousAccess }
  return [payload(type, ['admin_user', admin.adminId], at, data)]
}

function toRemovedAdminPayloads(
  { type, ...admin }: DomainEventOf<'admin_users.destroyed'>,
  { at }: PayloadContext,
): WebhookPayload[] {
  return [payload(type, ['admin_user', admin.adminId], at, toAdminData(admin))]
}

function toAdminData(
  admin: Record<'adminId' | 'firstName' | 'lastName' | 'email' | 'access', string>,
) {
  return {
    admin_user_id: Number(admin.adminId),
    first_name: admin.firstName,
    last_name: admin.lastName,
    email: admin.email,
    access: admin.access,
  }
}

function toStatusPayloads(
  { device, previous, current, occurredAt }: DomainEventOf<'device.status_changed'>,
  context: PayloadContext,
): WebhookPayload[] {
  if (previous.authState === current.authState) return []
  const data = {
    device_id: Number(device.id),
    device_name: device.name,
    device_status: STATE_WORDS[current.authState],
    device_url: toUrl(context, 'devices', device.id),
  }
  return [payload(NAME_OF_STATUS_CHANGE, ['device', device.id], occurredAt, data)]
}

function toWebhookPayloads(
  { type, reason }: DomainEventOf<'webhook.failing' | 'webhook.disabled'>,
  { id, name, url }: EventWebhook,
  { at }: PayloadContext,
): WebhookPayload[] {
  return [payload(type, ['webhook', id], at, { webhook_id: Number(id), name, url, reason })]
}

function toReturnPayloads(
  { type, disabledReason, disabledAt }: DomainEventOf<'webhook.enabled'>,
  { id, name, url }: EventWebhook,
  { at }: PayloadContext,
): WebhookPayload[] {
  const data = {
    webhook_id: Number(id),
    name,
    url,
    disabled_reason: disabledReason,
    disabled_at: disabledAt?.toISOString() ?? null,
  }
  return [payload(type, ['webhook', id], at, data)]
}

function toDevicePayloads(
  event: DomainEventOf<
    | 'devices.created'
    | 'devices.registered'
    | 'devices.reassigned'
    | 'devices.reenrolled'
    | 'devices.hardware_duplicated'
  >,
  device: EventDevice,
  context: PayloadContext,
): WebhookPayload[] {
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

function toReenrollmentPayloads(
  { type, requestId, ...event }: DomainEventOf<'requests.reenrollment'>,
  device: EventDevice,
  context: PayloadContext,
): WebhookPayload[] {
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

function toSecretPayloads(
  { type, secretId, ...event }: DomainEventOf<'enrollment_secrets.alarm'>,
  { at }: PayloadContext,
): WebhookPayload[] {
  const data = {
    enrollment_secret_id: Number(secretId),
    name: event.name,
    reason: event.reason,
    use_count: event.useCount,
    uses_max: event.usesMax,
    uses_within_hour: event.usesWithinHour,
  }
  return [payload(type, ['enrollment_secret', secretId], at, data)]
}

function toDestroyedPayloads(
  { type, device, authState, ownerPersonId }: DomainEventOf<'devices.destroyed'>,
  context: PayloadContext,
): WebhookPayload[] {
  const owner = context.subjects.people.get(ownerPersonId ?? '') ?? null
  const data = toDeviceData({ ...device, authState, owner }, context)
  return [payload(type, ['device', device.id], context.at, data)]
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
  { id, title, device, person, check }: EventIssue,
): WebhookPayload[] {
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
  const olderData = {
    check_id: checkId,
    failure_id: Number(id),
    title,
    device_id: Number(device.id),
  }
  return [
    payload(type, object, occurredAt, data),
    payload(OLDER_NAMES[type], object, occurredAt, olderData),
  ]
}

function toExemptionPayloads(
  { type }: DomainEventOf<'requests.issue_exemption'>,
  request: EventRequest,
  context: PayloadContext,
): WebhookPayload[] {
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
  { type }: DomainEventOf<'requests.registration'>,
  { id, device, requester, message }: EventRequest,
  context: PayloadContext,
): WebhookPayload[] {
  const data = {
    device: { id: Number(device.id), name: device.name, url: toUrl(context, 'devices', device.id) },
    requester: requester && {
      id: Number(requester.id),
      email: requester.email,
      url: toUrl(context, 'people', requester.id),
    },
    message,
  }
  return [payload(type, ['registration_request', id], context.at, data)]
}

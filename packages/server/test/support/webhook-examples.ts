/*
 * One event of each kind as webhooks tell it: what the guide shows, and what tests of the guide compare
 * it with.
 */
import type { DomainEvent } from '../../src/changes/domain-event.ts'
import type { WebhookPayload } from '../../src/signals/webhooks/payload-parts.ts'
import { toPayloads } from '../../src/signals/webhooks/webhook-payload.ts'
import { toAuditPayload, toNewEvent } from '../../src/signals/webhooks/webhook-publisher.ts'
import { TEST_EVENT } from '../../src/signals/webhooks/webhook-event-types.ts'

const AT = new Date('2026-01-02T03:04:05.678Z')
const BASE_URL = 'https://trust.example.com'
const EVENT_ID = '01KDYAKAM6FT1557RP526WFAX9'

const owner = { id: '12', name: 'Ada Lovelace', email: 'ada@example.com' }
const device = { id: '41', name: 'ada-macbook' }
const NEW_DEVICE_ID = '42'
const check = { id: '17', name: 'Disk encryption', tags: ['Critical'] }
const mapOf = <Row extends { readonly id: string }>(...rows: Row[]) =>
  new Map(rows.map((row) => [row.id, row]))

const subjects = {
  devices: mapOf(
    { ...device, authState: 'Good' as const, owner },
    // As long as it has answered no checks.
    { ...device, id: NEW_DEVICE_ID, authState: 'Blocked' as const, owner },
  ),
  people: mapOf(owner),
  issues: mapOf({ id: '803', title: 'The disk is not encrypted', device, person: null, check }),
  admins: mapOf({
    id: '3',
    firstName: 'Grace',
    lastName: 'Hopper',
    email: 'grace@example.com',
    access: 'full',
  }),
  exemptionRequests: mapOf({
    id: '9',
    message: 'The disk is replaced next week.',
    device,
    requester: owner,
    issueIds: ['803'],
  }),
  registrationRequests: mapOf({
    id: '5',
    message: 'My new laptop.',
    device,
    requester: owner,
    issueIds: [],
  }),
  webhooks: mapOf({ id: '2', name: 'Tickets', url: 'https://receiver.example.com/webhooks' }),
}

const signIn = {
  sessionId: '71',
  personId: owner.id,
  device,
  browserName: 'Firefox',
  browserVersion: '140.0',
  agentVersion: '5.23.0',
} as const
const grace = {
  adminId: '3',
  firstName: 'Grace',
  lastName: 'Hopper',
  email: 'grace@example.com',
} as const
const failing = 'Nothing has been accepted since 2026-01-01T02:00:00.000Z'

const EVENTS: readonly DomainEvent[] = [
  { type: 'admin_users.created', adminId: '3' },
  { type: 'admin_users.access_changed', ...grace, access: 'limited', previousAccess: 'full' },
  { type: 'admin_users.destroyed', ...grace, access: 'limited' },
  { type: 'auth_logs.success', ...signIn },
  { type: 'auth_logs.failure', ...signIn, agentVersion: null },
  {
    type: 'device.status_changed',
    device: { ...device, platform: 'darwin', owner: null },
    previous: { authState: 'Good', compliance: 'compliant' },
    current: { authState: 'Will Block', compliance: 'compliant' },
    occurredAt: AT,
    initiatingEntity: 'policy',
    reasons: [],
  },
  { type: 'devices.created', deviceId: NEW_DEVICE_ID },
  { type: 'devices.registered', deviceId: '41' },
  { type: 'devices.reassigned', deviceId: '41' },
  {
    type: 'devices.reenrolled',
    deviceId: '41',
    ipAddress: '192.0.2.7',
    previousIpAddress: '192.0.2.44',
    reason: 'node_key_silent',
  },
  { type: 'devices.hardware_duplicated', deviceId: '41' },
  {
    type: 'enrollment_secrets.alarm',
    secretId: '6',
    name: 'packages',
    reason: 'nearly_used_up',
    useCount: 90,
    usesMax: 100,
    usesWithinHour: 12,
  },
  { type: 'devices.destroyed', device, authState: 'Good', ownerPersonId: owner.id },
  { type: 'issues.new', issueId: '803', occurredAt: AT },
  { type: 'issues.resolved', issueId: '803', occurredAt: AT },
  { type: 'requests.issue_exemption', requestId: '9' },
  { type: 'requests.registration', requestId: '5' },
  {
    type: 'requests.reenrollment',
    requestId: '8',
    deviceId: '41',
    reason: 'live_node_key',
    hostIdentifier: '4C4C4544-0042-3510-8051-B7C04F4A3132',
    ipAddress: '198.51.100.66',
    previousIpAddress: '192.0.2.44',
  },
  { type: 'webhook.failing', webhookId: '2', reason: failing },
  { type: 'webhook.disabled', webhookId: '2', reason: 'The receiver answered 410' },
  {
    type: 'webhook.enabled',
    webhookId: '2',
    disabledReason: 'gone',
    disabledAt: new Date('2026-01-02T02:00:00.000Z'),
  },
]

const AUDIT_ENTRY = {
  recorded_at: AT.toISOString(),
  actor_type: 'ApiKey',
  actor_id: '4',
  actor_name: 'Ticket sync',
  actor_email: null,
  action: 'device_group.created',
  target_type: 'device_group',
  target_id: '6',
  description: 'created the device group Laptops',
  before: null,
  after: null,
  txn: EVENT_ID,
  request_id: null,
  ip_address: '192.0.2.7',
}

const payloads: readonly (Omit<WebhookPayload, 'type'> & { type: string })[] = [
  ...EVENTS.flatMap((event) => toPayloads(event, { subjects, baseUrl: BASE_URL, at: AT })),
  toAuditPayload(AUDIT_ENTRY, AT),
  {
    type: TEST_EVENT,
    object: null,
    occurredAt: AT,
    data: { message: 'This is a test of the webhook.' },
  },
]

/** The bodies by the name of the event, exactly as they are sent. */
export const EXAMPLE_BODIES: ReadonlyMap<string, string> = new Map(
  payloads.map((event) => [event.type, toNewEvent(event, EVENT_ID).body]),
)

/*
 * The publisher of webhooks: turns the events of a change into queued webhooks, in its transaction. Owns
 * who gets which event and the bytes; the dispatcher sends them. Writes no audit entries: the entry of a
 * change is itself an event.
 */
import type { ChangePublisher, ChangeRecord } from '../../changes/change.ts'
import type { DomainEvent, DomainEventOf, DomainEventType } from '../../changes/domain-event.ts'
import { toEpochSeconds, type Clock } from '../../platform/clock.ts'
import { newUlids } from '../../platform/ids.ts'
import { toStorableJson } from '../../platform/storable-text.ts'
import { listEventSubjects, type SubjectKind } from './event-subject-store.ts'
import {
  insertEventsForSubscribers,
  listSubscribedEvents,
  type NewWebhookEvent,
} from './webhook-event-store.ts'
import { WEBHOOK_NAMES } from './webhook-event-types.ts'
import { toAuditPayload, toPayloads, type WebhookPayload } from './webhook-payload.ts'

export interface WebhookPublisherDependencies {
  readonly clock: Clock
  /** For the addresses of records. */
  readonly baseUrl: string
}

/** Events that one statement writes. */
const BATCH_SIZE = 500

/**
 * Creates the publisher of changes to webhooks. Costs one small statement when nobody subscribes to what
 * happened. Subscriptions are read as the last thing before the commit, so that a webhook which was
 * created in another process meanwhile gets the event too.
 */
export function createWebhookPublisher({
  clock,
  baseUrl,
}: WebhookPublisherDependencies): ChangePublisher {
  return async (record) => {
    const subscribed = await listSubscribedEvents(record.tx)
    if (subscribed.size === 0) return
    const payloads = await listPayloads(record, subscribed, baseUrl)
    // The time of now, not of the change: under the lock of a record, ids sort as its events do.
    const ids = newUlids(clock.now(), payloads.length)
    const events = payloads.map((payload, index) => toNewEvent(payload, ids[index] ?? ''))
    for (let start = 0; start < events.length; start += BATCH_SIZE) {
      const batch = events.slice(start, start + BATCH_SIZE)
      await insertEventsForSubscribers(record.tx, batch, record)
    }
  }
}

async function listPayloads(
  { tx, at, events, auditEntries }: ChangeRecord,
  subscribed: ReadonlySet<string>,
  baseUrl: string,
): Promise<WebhookPayload[]> {
  const wanted = events.filter((event) => isSubscribed(event, subscribed))
  const context = { subjects: await listEventSubjects(tx, collectIds(wanted)), baseUrl, at }
  const payloads = wanted
    .flatMap((event) => toPayloads(event, context))
    .filter(({ type }) => subscribed.has(type))
  if (!subscribed.has('audit_log.recorded')) return payloads
  return [...payloads, ...auditEntries.map((entry) => toAuditPayload(entry, at))]
}

/** A record that an event is about. */
type Subject = readonly [kind: SubjectKind, id: string]

/** The record that has to be read for an event of each type; none where the event says it all. */
const SUBJECTS: {
  readonly [Type in DomainEventType]: (event: DomainEventOf<Type>) => Subject | undefined
} = {
  'admin_users.created': ({ adminId }) => ['admins', adminId],
  'auth_logs.failure': () => undefined,
  'auth_logs.success': () => undefined,
  'device.status_changed': () => undefined,
  'devices.created': ({ deviceId }) => ['devices', deviceId],
  'devices.destroyed': ({ ownerPersonId: id }) => (id === null ? undefined : ['people', id]),
  'devices.registered': ({ deviceId }) => ['devices', deviceId],
  'devices.reassigned': ({ deviceId }) => ['devices', deviceId],
  'devices.reenrolled': ({ deviceId }) => ['devices', deviceId],
  'devices.hardware_duplicated': ({ deviceId }) => ['devices', deviceId],
  'enrollment_secrets.alarm': () => undefined,
  'issues.new': ({ issueId }) => ['issues', issueId],
  'issues.resolved': ({ issueId }) => ['issues', issueId],
  'requests.issue_exemption': ({ requestId }) => ['exemptionRequests', requestId],
  'requests.registration': ({ requestId }) => ['registrationRequests', requestId],
  'requests.reenrollment': ({ deviceId }) => ['devices', deviceId],
  'webhook.failing': ({ webhookId }) => ['webhooks', webhookId],
  'webhook.disabled': ({ webhookId }) => ['webhooks', webhookId],
}

function collectIds(events: readonly DomainEvent[]): Map<SubjectKind, Set<string>> {
  const ids = new Map<SubjectKind, Set<string>>()
  for (const event of events) {
    // The function that stands under a type takes the events of that type.
    const [kind, id] = SUBJECTS[event.type](event as never) ?? []
    if (kind === undefined || id === undefined) continue
    ids.set(kind, (ids.get(kind) ?? new Set()).add(id))
  }
  return ids
}

function isSubscribed({ type }: DomainEvent, subscribed: ReadonlySet<string>): boolean {
  return WEBHOOK_NAMES[type].some((name) => subscribed.has(name))
}

/** An event under its id with the bytes that are sent of it, which never change again. */
export function toNewEvent(
  { type, object, occurredAt, data }: Omit<WebhookPayload, 'type'> & { type: string },
  eventId: string,
) {
  return {
    eventId,
    eventType: type,
    object,
    occurredAt,
    body: JSON.stringify({
      event: type,
      id: eventId,
      timestamp: toWholeSeconds(occurredAt),
      data: toStorableJson(data),
    }),
  } satisfies NewWebhookEvent
}

/** RFC 3339 without a fraction, as receivers of the K2 service parse it. */
function toWholeSeconds(time: Date): string {
  return new Date(toEpochSeconds(time) * 1_000).toISOString().replace('.000Z', 'Z')
}

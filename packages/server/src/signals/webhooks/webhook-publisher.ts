/*
 * The publisher of webhooks: turns the events of a change into queued webhooks, in its transaction. Owns
 * who gets which event and the bytes; the dispatcher sends them. Writes no audit entries: the entry of a
 * change is itself an event.
 */
import type { AuditFields } from '../../changes/audit/audit-entry.ts'
import type { ChangePublisher, ChangeRecord } from '../../changes/change.ts'
import type { DomainEvent } from '../../changes/domain-event.ts'
import { toEpochSeconds, type Clock } from '../../platform/clock.ts'
import { newUlids } from '../../platform/ids.ts'
import { toStorableJson } from '../../platform/storable-text.ts'
import { tellDestinations } from '../dispatch/delivery-store.ts'
import {
  findSubscribedSubjects,
  type AskedSubjects,
  type SubjectKind,
} from './event-subject-store.ts'
import { insertEventsForSubscribers, type NewWebhookEvent } from './webhook-event-store.ts'
import { namesOf } from './webhook-event-types.ts'
import type { PayloadContext, WebhookPayload } from './payload-parts.ts'
import { subjectOf, toPayloads } from './webhook-payload.ts'

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
    const { subscribed, destinationIds, subjects } = await findSubscribedSubjects(
      record.tx,
      collectSubjects(record.events),
      typesOf(record),
    )
    if (subscribed.size === 0) return
    const payloads = listPayloads(record, subscribed, { subjects, baseUrl, at: record.at })
    if (payloads.length === 0) return
    // The time of now, not of the change: under the lock of a record, ids sort as its events do.
    const ids = newUlids(clock.now(), payloads.length)
    const events = payloads.map(({ payload, txn }, index): NewWebhookEvent => {
      return { ...toNewEvent(payload, ids[index] ?? ''), txn }
    })
    for (let start = 0; start < events.length; start += BATCH_SIZE) {
      const batch = events.slice(start, start + BATCH_SIZE)
      await insertEventsForSubscribers(record.tx, batch, record)
    }
    // One that began to ask for it at this very moment is found by the sweep.
    tellDestinations(record, destinationIds)
  }
}

/** What is told of an event or entry, and the cause of it. */
interface CausedPayload {
  readonly payload: WebhookPayload
  readonly txn: string
}

function listPayloads(
  { at, events, auditEntries, txnOf }: ChangeRecord,
  subscribed: ReadonlySet<string>,
  context: PayloadContext,
): CausedPayload[] {
  const payloads = events
    .filter((event) => isSubscribed(event, subscribed))
    .flatMap((event) => {
      const txn = txnOf(event)
      return toPayloads(event, context).map((payload) => ({ payload, txn }))
    })
    .filter(({ payload }) => subscribed.has(payload.type))
  if (!subscribed.has('audit_log.recorded')) return payloads
  const ofEntries = auditEntries.map((entry) => {
    return { payload: toAuditPayload(entry, at), txn: entry.txn }
  })
  return [...payloads, ...ofEntries]
}

function collectSubjects(events: readonly DomainEvent[]): Map<SubjectKind, AskedSubjects> {
  const asked = new Map<SubjectKind, { ids: Set<string>; eventTypes: Set<string> }>()
  for (const event of events) {
    const [kind, id] = subjectOf(event) ?? []
    const names = namesOf(event.type)
    if (kind === undefined || id === undefined || names.length === 0) continue
    const ofKind = asked.get(kind) ?? { ids: new Set(), eventTypes: new Set() }
    ofKind.ids.add(id)
    for (const name of names) ofKind.eventTypes.add(name)
    asked.set(kind, ofKind)
  }
  return asked
}

/** What the payloads of a change may be called. */
function typesOf({ events, auditEntries }: ChangeRecord): string[] {
  const types = new Set<string>(events.flatMap(({ type }) => namesOf(type)))
  if (auditEntries.length > 0) types.add('audit_log.recorded')
  return [...types]
}

function isSubscribed({ type }: DomainEvent, subscribed: ReadonlySet<string>): boolean {
  return namesOf(type).some((name) => subscribed.has(name))
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

/*
 * Turns what happened in a change into queued webhooks, in the same transaction. Owns who is told and
 * the bytes; sending them is the delivery engine's. Writes no audit entries: the entry of a change is
 * itself an event.
 */
import type { ChangeRecord, PublishChange } from '../../changes/change.ts'
import type { DomainEvent } from '../../changes/domain-event.ts'
import { toEpochSeconds, type Clock } from '../../platform/clock.ts'
import { newUlids } from '../../platform/ids.ts'
import { toStorableJson } from '../../platform/storable-text.ts'
import { toToldAuditEntry, toToldEvents, type ToldEvent } from './event-data.ts'
import { loadEventSubjects } from './load-event-subjects.ts'
import {
  insertEventsForSubscribers,
  listSubscribedEvents,
  type NewWebhookEvent,
} from './webhook-event-store.ts'

export interface PublishChangeDependencies {
  readonly clock: Clock
  /** For the addresses of records. */
  readonly baseUrl: string
}

/** Events that one statement writes. */
const BATCH_SIZE = 500

const OLDER_NAMES: Readonly<Record<string, string>> = {
  'issues.new': 'failures.new',
  'issues.resolved': 'failures.resolved',
}

/**
 * Creates the publisher of changes to webhooks. Costs one small statement when nobody asks for what
 * happened. Who asks is read as the last thing before the commit, so that a webhook which was created
 * in another process meanwhile is told too.
 */
export function createPublishChange({ clock, baseUrl }: PublishChangeDependencies): PublishChange {
  return async (record) => {
    const subscribed = await listSubscribedEvents(record.tx)
    if (subscribed.size === 0) return
    const told = await listToldEvents(record, subscribed, baseUrl)
    // The time of now, not of the change: under the lock of a record, ids sort as its events do.
    const ids = newUlids(clock.now(), told.length)
    const events = told.map((event, index) => toNewEvent(event, ids[index] ?? ''))
    for (let start = 0; start < events.length; start += BATCH_SIZE) {
      const batch = events.slice(start, start + BATCH_SIZE)
      await insertEventsForSubscribers(record.tx, batch, record)
    }
  }
}

async function listToldEvents(
  { tx, at, events, auditEntries }: ChangeRecord,
  subscribed: ReadonlySet<string>,
  baseUrl: string,
): Promise<ToldEvent[]> {
  const wanted = events.filter((event) => isAskedFor(event, subscribed))
  const context = { subjects: await loadEventSubjects(tx, wanted), baseUrl, at }
  const told = wanted
    .flatMap((event) => toToldEvents(event, context))
    .filter(({ type }) => subscribed.has(type))
  if (!subscribed.has('audit_log.recorded')) return told
  return [...told, ...auditEntries.map((entry) => toToldAuditEntry(entry, at))]
}

function isAskedFor({ type }: DomainEvent, subscribed: ReadonlySet<string>): boolean {
  return subscribed.has(type) || subscribed.has(OLDER_NAMES[type] ?? type)
}

/** An event under its id with the bytes that are sent of it, which never change again. */
export function toNewEvent(event: Omit<ToldEvent, 'type'> & { type: string }, eventId: string) {
  const { type, object, occurredAt, data } = event
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

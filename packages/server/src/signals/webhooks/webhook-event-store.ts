/*
 * Events as rows, and the deliveries that follow from them. An event is written once, with the exact
 * bytes that are sent; its deliveries refer to it by its id and keep no copy.
 */
import { sql, type Kysely } from 'kysely'
import { elementsOf } from '../../platform/db/planned-once.ts'
import { UNAWAITED } from '../../platform/db/unawaited.ts'
import type { StoredRecord } from '../../schema/define-table.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'

export type WebhookEvent = StoredRecord<'webhook_event'>

/** An event to write. */
export interface NewWebhookEvent {
  readonly eventId: string
  readonly eventType: string
  readonly object: { readonly type: string; readonly id: string } | null
  readonly occurredAt: Date
  readonly body: string
  /** Of a cause of its own; that of the change by default. */
  readonly txn?: string
}

/** What the rows of a change share. */
export interface EventCause {
  readonly txn: string
  readonly at: Date
}

/**
 * Writes events and queues a delivery of each for every enabled webhook that asks for it. One statement. Whoever
 * commits it tells the engines (DELIVERY_CHANNEL).
 */
export async function insertEventsForSubscribers(
  db: Kysely<Schema>,
  events: readonly NewWebhookEvent[],
  cause: EventCause,
): Promise<void> {
  await sql`${UNAWAITED}
    with ${insertedEvents(events, cause)},
    queued as (
      insert into delivery (destination_id, event_id, event_type, body, state, next_attempt_at, txn,
        created_at)
      select w.destination_id, e.event_id, e.event_type, '', 'queued', now(), e.txn,
        ${cause.at}::timestamptz
      from event e join webhook w on w.enabled and e.event_type = any(w.events)
      order by e.id
    )
    select from event where false`.execute(db)
}

/** Writes an event that is for one webhook alone; its delivery is the caller's to queue. */
export async function insertEvent(
  db: Kysely<Schema>,
  event: NewWebhookEvent,
  cause: EventCause,
): Promise<void> {
  await sql`with ${insertedEvents([event], cause)} select from event`.execute(db)
}

function insertedEvents(events: readonly NewWebhookEvent[], { txn, at }: EventCause) {
  const rows = events.map((event) => ({
    event_id: event.eventId,
    event_type: event.eventType,
    object_type: event.object?.type ?? null,
    object_id: event.object?.id ?? null,
    occurred_at: event.occurredAt,
    body: event.body,
    txn: event.txn ?? txn,
  }))
  return sql`event as (
      insert into webhook_event (event_id, event_type, object_type, object_id, occurred_at, body, txn,
        created_at)
      select r.event_id, r.event_type, r.object_type, r.object_id, r.occurred_at, r.body,
        r.txn, ${at}::timestamptz
      from json_to_recordset(${JSON.stringify(rows)}::json) as r (event_id text, event_type text,
        object_type text, object_id text, occurred_at timestamptz, body text, txn text)
      order by r.event_id
      returning id, event_id, event_type, txn
    )`
}

/** Of rows of `delivery`: the contents of their event are still kept. */
export const EVENT_IS_KEPT = sql<boolean>`exists (
  select from webhook_event
  where webhook_event.event_id = delivery.event_id and webhook_event.body is not null)`

/** Whose events, and of which time. */
export interface MissedEvents {
  readonly destinationId: DestinationId
  /** What the webhook asks for. */
  readonly events: readonly string[]
  readonly since: Date
  readonly until: Date
  /** At most so many. */
  readonly limit: number
}

/**
 * Queues for one webhook the events of a time that it was never sent; answers how many. They are due
 * now, in their order.
 */
export async function insertMissedDeliveries(
  db: Kysely<Schema>,
  missed: MissedEvents,
  at: Date,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    insert into delivery (destination_id, event_id, event_type, body, state, next_attempt_at, txn,
      created_at)
    select ${missed.destinationId}::bigint, event_id, event_type, '', 'queued', now(), txn,
      ${at}::timestamptz
    from (${missedEvents(missed)}) as missed
    order by id`.execute(db)
  return Number(numAffectedRows)
}

/** How many events {@link insertMissedDeliveries} would queue. */
export async function countMissedEvents(db: Kysely<Schema>, missed: MissedEvents): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) from (${missedEvents(missed)}) as missed`.execute(db)
  return Number(rows[0]?.count ?? 0)
}

function missedEvents({ destinationId, events, since, until, limit }: MissedEvents) {
  return sql`
    select e.id, e.event_id, e.event_type, e.txn
    from webhook_event e
    where e.created_at >= ${since} and e.created_at <= ${until}
      and e.event_type = any(${events}::text[]) and e.body is not null
      and not exists (select from delivery d
        where d.event_id = e.event_id and d.destination_id = ${destinationId})
    order by e.id
    limit ${limit}`
}

/** The bodies of events by their id; those whose retention is over are absent. */
async function findEventBodies(
  db: Kysely<Schema>,
  eventIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ event_id: string; body: string }>`
    select event_id, body from webhook_event
    where event_id = any(${elementsOf(eventIds, 'text')}) and body is not null`.execute(db)
  return new Map(rows.map((row) => [row.event_id, row.body]))
}

/** What a delivery of a webhook carries; null once its retention is over. */
export async function findWebhookContent(
  db: Kysely<Schema>,
  { eventId }: { readonly eventId: string },
): Promise<string | null> {
  return (await findEventBodies(db, [eventId])).get(eventId) ?? null
}

/*
 * The ends of webhook events: their contents are deleted after one retention, that they happened after
 * another. Bounded batches, so that no statement holds locks for long.
 */
import { sql, type Kysely } from 'kysely'
import { DAY_MS } from '../../platform/clock.ts'
import { BATCH_SIZE, repeatInBatches } from '../dispatch/delivery-retention-store.ts'
import type { Schema } from '../../schema/schema.ts'

/** Why a delivery cannot be made any more. */
const PAYLOAD_DELETED = 'What the event carried was deleted after its retention'

export interface EventRetention {
  readonly now: Date
  readonly payloadDays: number
  readonly recordDays: number
}

/**
 * Deletes contents and records whose retention is over; answers how many of each. Deliveries that are
 * still queued die with the content. Idempotent.
 */
export async function expireWebhookEvents(
  db: Kysely<Schema>,
  { now, payloadDays, recordDays }: EventRetention,
): Promise<{ readonly payloads: number; readonly records: number }> {
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS)
  return {
    payloads: await repeatInBatches(() => deletePayloads(db, before(payloadDays), now)),
    records: await repeatInBatches(() => deleteRecords(db, before(recordDays))),
  }
}

async function deletePayloads(db: Kysely<Schema>, before: Date, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with emptied as (
      update webhook_event set body = null where id in (
        select id from webhook_event where body is not null and created_at < ${before}
        order by created_at, id limit ${BATCH_SIZE} for update skip locked)
      returning event_id
    ),
    given_up as (${givenUp(sql`select event_id from emptied`, now)} returning 1)
    select (select count(*)::int from emptied) as count,
      (select count(*)::int from given_up) as given_up`.execute(db)
  return rows[0]?.count ?? 0
}

/** With its deliveries gone, nothing refers to an event; they go by the retention of deliveries. */
async function deleteRecords(db: Kysely<Schema>, before: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from webhook_event where id in (
      select e.id from webhook_event e where e.created_at < ${before}
        and not exists (select from delivery d where d.event_id = e.event_id)
      order by e.created_at, e.id limit ${BATCH_SIZE} for update skip locked)`.execute(db)
  return Number(numAffectedRows)
}

/** Gives up the queued deliveries of events without content. */
export async function giveUpWithoutPayload(
  db: Kysely<Schema>,
  eventIds: readonly string[],
  now: Date,
): Promise<void> {
  await givenUp(sql`select unnest(${eventIds}::text[])`, now).execute(db)
}

function givenUp(eventIds: ReturnType<typeof sql>, now: Date) {
  return sql`update delivery d set state = 'dead', finished_at = ${now}::timestamptz,
      last_error = ${PAYLOAD_DELETED}::text, claimed_by = null, claim_expires_at = null
    from delivery_destination o
    where o.id = d.destination_id and o.kind = 'webhook' and d.state = 'queued'
      and d.event_id in (${eventIds})`
}

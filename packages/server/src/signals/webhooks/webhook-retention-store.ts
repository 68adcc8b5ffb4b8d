/*
 * The ends of webhook events: their contents are deleted after one retention, that they happened after
 * another. Bounded batches, so that no statement holds locks for long.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { RetentionPolicy } from '../../platform/retention/retention-policy.ts'
import { retention } from '../../schema/retention.ts'
import type { Schema } from '../../schema/schema.ts'

/** Why a delivery cannot be made any more. */
const PAYLOAD_DELETED = 'What the event carried was deleted after its retention'

export interface WebhookRetentionSettings {
  readonly webhookPayloadRetentionDays: number
  readonly deliveryRetentionDays: number
}

/**
 * Contents are deleted first; deliveries that still wait die with them, except those that are on their way. That
 * an event happened is kept while one of its deliveries is.
 */
export function webhookRetention({
  webhookPayloadRetentionDays,
  deliveryRetentionDays,
}: WebhookRetentionSettings): RetentionPolicy[] {
  return [
    retention('webhook payloads', webhookPayloadRetentionDays, {
      within: sql`r.body is not null`,
      end: (keys) => sql`
        ended as (update webhook_event set body = null where id = any(${keys}) returning event_id),
        given_up as (${givenUp(sql`select event_id from ended`, sql`now()`)}
          and (d.claim_expires_at is null or d.claim_expires_at <= now()))`,
    }),
    retention('webhook events', deliveryRetentionDays, {
      when: sql`not exists (select from delivery d where d.event_id = r.event_id)`,
    }),
  ]
}

/** Gives up the queued deliveries of events without content. */
export async function giveUpWithoutPayload(
  db: Kysely<Schema>,
  eventIds: readonly string[],
  now: Date,
): Promise<void> {
  await givenUp(sql`select unnest(${eventIds}::text[])`, sql`${now}::timestamptz`).execute(db)
}

function givenUp(eventIds: RawBuilder<unknown>, at: RawBuilder<unknown>) {
  return sql`update delivery d set state = 'dead', finished_at = ${at},
      last_error = ${PAYLOAD_DELETED}::text, claimed_by = null, claim_expires_at = null
    from delivery_destination o
    where o.id = d.destination_id and o.kind = 'webhook' and d.state = 'queued'
      and d.event_id in (${eventIds})`
}

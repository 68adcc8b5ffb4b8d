/*
 * The ends of webhook events: their contents are deleted after one retention, that they happened after
 * another. Bounded batches, so that no statement holds locks for long.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { RetentionPolicy } from '../../platform/retention/retention-policy.ts'
import { retention } from '../../schema/retention.ts'
import type { Schema } from '../../schema/schema.ts'
import { lockedById } from '../dispatch/delivery-store.ts'

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
        given_up as (${givenUp(
          sql`event_id in (select event_id from ended)
            and (claim_expires_at is null or claim_expires_at <= now())`,
          sql`now()`,
        )})`,
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
  await givenUp(sql`event_id = any(${eventIds}::text[])`, sql`${now}::timestamptz`).execute(db)
}

function givenUp(condition: RawBuilder<unknown>, at: RawBuilder<unknown>) {
  return sql`update delivery set state = 'dead', finished_at = ${at},
      last_error = ${PAYLOAD_DELETED}::text, claimed_by = null, claim_expires_at = null
    where id in (${lockedById(sql`
      state = 'queued' and ${condition}
        and destination_id in (select id from delivery_destination where kind = 'webhook')`)})`
}

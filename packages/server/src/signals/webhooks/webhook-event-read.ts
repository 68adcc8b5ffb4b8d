import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import { findRecord, listRecords } from '../../platform/db/record-table.ts'
import type { Schema } from '../../schema/schema.ts'
import { notFound } from '../../platform/app-error.ts'
import { RecordList } from '../../platform/search/record-list.ts'
import type { WebhookEvent } from './webhook-event-store.ts'

/** Events that webhooks are sent, oldest first. */
export const EVENT_LIST = new RecordList({
  noun: 'webhook event',
  table: 'webhook_event',
  fields: {
    id: { type: 'text', operators: [':'], list: true, column: 'event_id' },
    event: { type: 'text', operators: [':'], list: true, column: 'event_type' },
    object_type: { type: 'text', operators: [':'], list: true },
    object_id: { type: 'text', operators: [':'], list: true },
    txn: { type: 'text', operators: [':'], list: true },
    timestamp: { type: 'timestamp', column: 'occurred_at' },
  },
  timeKey: sql`(webhook_event.id + 0)`,
  select: (db: Kysely<Schema>) => db.selectFrom('webhook_event').selectAll(),
})

/** Events of none of these types. */
export function isOfNone(types: readonly string[]): Expression<SqlBool> {
  return types.length === 0
    ? sql<SqlBool>`true`
    : sql<SqlBool>`not (event_type = any(${[...types]}::text[]))`
}

/** What became of an event at one webhook. */
export interface EventDelivery {
  readonly webhookId: string
  readonly state: 'queued' | 'delivered' | 'dead' | 'discarded'
  readonly attemptCount: number
  readonly lastError: string | null
  readonly finishedAt: Date | null
}

/**
 * An event with what became of it.
 *
 * @throws AppError `not_found`
 */
export async function getWebhookEvent(
  db: Kysely<Schema>,
  eventId: string,
): Promise<WebhookEvent & { readonly deliveries: EventDelivery[] }> {
  const row = /^[0-9A-Z]{26}$/.test(eventId)
    ? await findRecord(db.selectFrom('webhook_event').selectAll().where('event_id', '=', eventId))
    : undefined
  if (row === undefined) throw notFound('webhook event', eventId)
  const deliveries = await listRecords(
    db
      .selectFrom('delivery')
      .innerJoin('webhook', 'webhook.destination_id', 'delivery.destination_id')
      .select([
        'webhook.id as webhook_id',
        'delivery.state',
        'delivery.attempt_count',
        'delivery.last_error',
        'delivery.finished_at',
      ])
      .where('delivery.event_id', '=', eventId)
      .orderBy('webhook.id'),
  )
  return { ...row, deliveries }
}

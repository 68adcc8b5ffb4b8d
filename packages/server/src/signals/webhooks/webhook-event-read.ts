import { sql, type Kysely } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import { notFound } from '../../platform/app-error.ts'
import type { SearchExpression, SearchField } from '../../platform/search/search-field.ts'
import type { SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'
import type { WebhookEvent } from './webhook-event-store.ts'

/** What events can be searched by. */
export const WEBHOOK_EVENT_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'id', type: 'text', operators: [':'], list: true },
  { name: 'event', type: 'text', operators: [':'], list: true },
  { name: 'object_type', type: 'text', operators: [':'], list: true },
  { name: 'object_id', type: 'text', operators: [':'], list: true },
  { name: 'txn', type: 'text', operators: [':'], list: true },
  { name: 'timestamp', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  id: sql.ref('webhook_event.event_id'),
  event: sql.ref('webhook_event.event_type'),
  object_type: sql.ref('webhook_event.object_type'),
  object_id: sql.ref('webhook_event.object_id'),
  txn: sql.ref('webhook_event.txn'),
  timestamp: sql.ref('webhook_event.occurred_at'),
}

/** Where the fields of the list are. */
export const EVENT_LIST: SearchedList = {
  table: 'webhook_event',
  key: 'id',
  fields: WEBHOOK_EVENT_SEARCH_FIELDS,
  columns: COLUMNS,
}

/** A page of events, oldest first. */
export async function listWebhookEvents(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<WebhookEvent[]> {
  return readPage(db, EVENT_LIST, { search, window }, (source, isOnPage) =>
    source
      .selectFrom('webhook_event')
      .selectAll()
      .where(isOnPage)
      .orderBy('webhook_event.id')
      .limit(window.limit)
      .execute(),
  )
}

/** What became of an event at one webhook. */
export interface EventDelivery {
  readonly webhook_id: string
  readonly state: 'queued' | 'delivered' | 'dead' | 'discarded'
  readonly attempt_count: number
  readonly last_error: string | null
  readonly finished_at: Date | null
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
    ? await db
        .selectFrom('webhook_event')
        .selectAll()
        .where('event_id', '=', eventId)
        .executeTakeFirst()
    : undefined
  if (row === undefined) throw notFound('webhook event', eventId)
  const deliveries = await db
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
    .orderBy('webhook.id')
    .execute()
  return { ...row, deliveries }
}

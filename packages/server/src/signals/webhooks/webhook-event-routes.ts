import type { Kysely } from 'kysely'
import { z } from 'zod'
import { parseContent } from '../dispatch/delivery-json.ts'
import { DELIVERY_STATES } from '../dispatch/delivery-read.ts'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, route, type ApiRoute } from '../../schema/operations.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { EVENT_LIST, getWebhookEvent } from './webhook-event-read.ts'
import type { WebhookEvent } from './webhook-event-store.ts'
import { WEBHOOK_ACCESS } from './webhook-routes.ts'

const eventShape = {
  id: z.string().describe('The `webhook-id` of its deliveries.'),
  event: z.string(),
  timestamp: timestampSchema.describe('When it happened.'),
  object_type: z.string().nullable(),
  object_id: z.string().nullable().describe('The record that it is about.'),
  txn: z.string().describe('The cause, shared by the events, SETs and audit entries that it had.'),
  payload: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('What is sent; null once its retention is over.'),
  created_at: timestampSchema,
} as const

/** An event on the wire. */
export const webhookEventSchema = z
  .object(eventShape)
  .meta({ id: 'WebhookEvent', description: 'Something that webhooks are told of.' })

const eventDetailsSchema = z
  .object({
    ...eventShape,
    deliveries: z.array(
      z.object({
        webhook_id: z.string(),
        state: z.enum(DELIVERY_STATES),
        attempts: z.int(),
        last_error: z.string().nullable(),
        finished_at: timestampSchema.nullable(),
      }),
    ),
  })
  .meta({ id: 'WebhookEventDetails', description: 'An event and what became of it.' })

const EXAMPLE_EVENT = '01ARZ3NDEKTSV4RRFFQ69G5FAV'

/** Reading the events that webhooks receive. */
export function webhookEventRoutes(db: Kysely<Schema>): ApiRoute[] {
  const events = { db, list: EVENT_LIST, item: webhookEventSchema, toJson: toWebhookEventJson }
  return [
    listRecords(events, {
      ...WEBHOOK_ACCESS,
      path: '/webhook_events',
      summary: 'List webhook events',
      description:
        'Oldest first: all that happened while at least one webhook asked for it, whether or not that one was on.',
    }),
    route({
      ...WEBHOOK_ACCESS,
      method: 'GET',
      path: '/webhook_events/:id',
      summary: 'Show a webhook event',
      description: 'With what became of it at each webhook.',
      responses: { 200: eventDetailsSchema },
      example: { params: { id: EXAMPLE_EVENT } },
      handler: async ({ params }) => {
        const event = await getWebhookEvent(db, params.id)
        return {
          ...toWebhookEventJson(event),
          deliveries: event.deliveries.map((delivery) => ({
            webhook_id: delivery.webhook_id,
            state: delivery.state,
            attempts: delivery.attempt_count,
            last_error: delivery.last_error,
            finished_at: toTimestamp(delivery.finished_at),
          })),
        }
      },
    }),
  ]
}

/** The wire form of an event. */
export function toWebhookEventJson(event: WebhookEvent): z.input<typeof webhookEventSchema> {
  return {
    id: event.event_id,
    event: event.event_type,
    timestamp: toTimestamp(event.occurred_at),
    object_type: event.object_type,
    object_id: event.object_id,
    txn: event.txn,
    payload: event.body === null ? null : parseContent(event.body),
    created_at: toTimestamp(event.created_at),
  }
}

import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { parseContent } from '../dispatch/delivery-json.ts'
import { DELIVERY_STATES } from '../dispatch/delivery-read.ts'
import type { WebhookEvent } from './webhook-event-store.ts'

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

/** What became of an event at a webhook. */
export const eventDeliverySchema = z.object({
  webhook_id: z.string(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.int(),
  last_error: z.string().nullable(),
  finished_at: timestampSchema.nullable(),
})

/** With what became of it at each webhook. */
export const eventDetailsSchema = z
  .object({
    ...eventShape,
    deliveries: z.array(eventDeliverySchema),
  })
  .meta({ id: 'WebhookEventDetails', description: 'An event and what became of it.' })

/** The wire form of an event. */
export function toWebhookEventJson(event: WebhookEvent) {
  return toWire(webhookEventSchema, event, {
    id: event.eventId,
    event: event.eventType,
    timestamp: toTimestamp(event.occurredAt),
    payload: event.body === null ? null : parseContent(event.body),
  })
}

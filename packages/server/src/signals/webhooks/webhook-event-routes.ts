import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, route, type ApiRoute } from '../../schema/operations.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import {
  eventDeliverySchema,
  eventDetailsSchema,
  toWebhookEventJson,
  webhookEventSchema,
} from './webhook-event-json.ts'
import { assertMayHear, listClosedEvents } from './webhook-event-areas.ts'
import { EVENT_LIST, getWebhookEvent, isOfNone } from './webhook-event-read.ts'
import { WEBHOOK_ACCESS } from './webhook-routes.ts'

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
        'Oldest first: all that happened while at least one webhook asked for it, whether or not that one was on. Admins see none of what their access level does not open.',
      scope: (_params, caller) => Promise.resolve(isOfNone(listClosedEvents(caller))),
    }),
    route({
      ...WEBHOOK_ACCESS,
      method: 'GET',
      path: '/webhook_events/:id',
      summary: 'Show a webhook event',
      description: 'With what became of it at each webhook.',
      responses: { 200: eventDetailsSchema },
      example: { params: { id: EXAMPLE_EVENT } },
      handler: async ({ params, principal }) => {
        const event = await getWebhookEvent(db, params.id)
        assertMayHear(principal, [event.eventType])
        return {
          ...toWebhookEventJson(event),
          deliveries: event.deliveries.map((delivery) =>
            toWire(eventDeliverySchema, delivery, { attempts: delivery.attemptCount }),
          ),
        }
      },
    }),
  ]
}

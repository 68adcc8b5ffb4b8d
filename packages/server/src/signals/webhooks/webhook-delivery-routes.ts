import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import type { DeliveryLogDependencies } from '../dispatch/delivery-log-endpoints.ts'
import { deliveryLogRoutes } from '../dispatch/delivery-log-routes.ts'
import { timestampInput } from '../../platform/wire/body-values.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import type { ApiRoute } from '../../schema/operations.ts'
import { previewRecovery, recoverWebhook } from './recover-webhook.ts'
import { assertMayHear } from './webhook-event-areas.ts'
import { findWebhookContent } from './webhook-event-store.ts'
import { toWebhookOwner } from './webhook-owner.ts'
import { WEBHOOK_ACCESS } from './webhook-routes.ts'
import { getWebhook } from './webhook-store.ts'

const recoverBody = z
  .strictObject({
    since: timestampInput.describe('Events of this time or later.'),
    until: timestampInput.optional().describe('Events of this time or earlier; now when left out.'),
    dry_run: z.boolean().optional().describe('Only tells what would be queued.'),
  })
  .meta({ id: 'RecoverWebhook' })

const recoveredSchema = z
  .object({
    dry_run: z.boolean().describe('Whether nothing was queued, because this was only a preview.'),
    since: timestampSchema.describe(
      'The beginning of the time that counted: never before the webhook was created.',
    ),
    count: z.int().describe('Both together.'),
    failed_count: z.int().describe('Events that had failed for good.'),
    missed_count: z.int().describe('Events that happened while the webhook was off.'),
    has_more: z
      .boolean()
      .describe('One call moves 10,000 of each at most: repeat it until nothing is left.'),
  })
  .meta({ id: 'RecoveredWebhook', description: 'How many events were queued, or would be.' })

/** The log of the deliveries of webhooks, and the recovery of what they have not got. */
export function webhookDeliveryRoutes(dependencies: DeliveryLogDependencies): ApiRoute[] {
  const log = deliveryLogRoutes(
    {
      path: '/webhooks',
      noun: 'webhook',
      access: WEBHOOK_ACCESS,
      findOwner: async (db, id, purpose) => toWebhookOwner(await getWebhook(db, id), purpose),
      findContent: findWebhookContent,
      assertMayRead: (caller, eventType) => assertMayHear(caller, [eventType]),
    },
    dependencies,
  )
  return [...log, recoverRoute(dependencies)]
}

function recoverRoute({ runChange }: DeliveryLogDependencies): ApiRoute {
  return changeRoute(runChange, {
    ...WEBHOOK_ACCESS,
    method: 'POST',
    path: '/webhooks/:id/recover',
    summary: 'Send a webhook what it has not got',
    description:
      'Of a time: events that failed for good, and events that happened while it was off; none from before it was created.',
    body: recoverBody,
    responses: { 200: recoveredSchema },
    example: { body: { since: '2026-01-02T03:04:05Z' } },
    handler: async ({ change, params, body }) => {
      const isPreview = body.dry_run === true
      const recovered = isPreview
        ? await previewRecovery(change.tx, params.id, body, change.at)
        : await recoverWebhook(change, params.id, body)
      const count = recovered.failedCount + recovered.missedCount
      return toWire(recoveredSchema, recovered, { count, dry_run: isPreview })
    },
  })
}

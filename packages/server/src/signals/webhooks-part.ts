import type { Foundation, ServicePart } from '../changes/foundation.ts'
import { periodicJob } from '../schema/jobs.ts'
import type { Outbound } from '../platform/net/outbound.ts'
import type { DeliverySender } from './dispatch/delivery-sender.ts'
import { webhookRetention } from './webhooks/webhook-retention-store.ts'
import { watchFailingWebhooks } from './webhooks/watch-failing-webhooks.ts'
import { webhookDeliveryRoutes } from './webhooks/webhook-delivery-routes.ts'
import { webhookEventRoutes } from './webhooks/webhook-event-routes.ts'
import { webhookSignatureRoutes } from './webhooks/webhook-signature-routes.ts'
import { webhookRoutes } from './webhooks/webhook-routes.ts'

export interface WebhookSettings {
  readonly webhooksMax: number
  readonly webhookPayloadRetentionDays: number
  readonly deliveryRetentionDays: number
}

export interface WebhookPartDependencies {
  readonly outbound: Pick<Outbound, 'policy'>
  /** Sends test events. */
  readonly sender: DeliverySender
}

/** Webhooks, their deliveries and their events. */
export function createWebhooksPart(
  { clock, db, runChange, sealer }: Foundation,
  settings: WebhookSettings,
  { outbound, sender }: WebhookPartDependencies,
): ServicePart {
  const { policy: targetPolicy } = outbound
  const { webhooksMax } = settings
  return {
    name: 'webhooks',
    roles: ['api'],
    operations: [
      ...webhookRoutes({ db, clock, runChange, sealer, sender, targetPolicy, webhooksMax }),
      ...webhookDeliveryRoutes({ db, runChange }),
      ...webhookEventRoutes(db),
      ...webhookSignatureRoutes({ clock, db, sealer }),
    ],
    jobs: [periodicJob('failing webhooks', () => watchFailingWebhooks({ db, runChange }))],
    retention: webhookRetention(settings),
  }
}

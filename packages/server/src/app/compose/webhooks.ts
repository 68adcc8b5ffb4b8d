import type { WakeDelivery } from '../../signals/dispatch/enqueue-deliveries.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/clock.ts'
import type { ApiRoute } from '../../platform/http/route.ts'
import { startPeriodicJob, type PeriodicJob } from '../../platform/jobs/periodic-job.ts'
import type { Services } from '../services.ts'
import { expireWebhookEvents } from '../../signals/webhooks/expire-webhook-events.ts'
import { watchFailingWebhooks } from '../../signals/webhooks/watch-failing-webhooks.ts'
import { webhookDeliveryRoutes } from '../../signals/webhooks/webhook-delivery-routes.ts'
import { webhookEventRoutes } from '../../signals/webhooks/webhook-event-routes.ts'
import { webhookRoutes } from '../../signals/webhooks/webhook-routes.ts'
import type { Outbound } from './outbound.ts'

/** The routes of webhooks, of their deliveries and of their events. */
export function composeWebhookRoutes(
  services: Pick<Services, 'config' | 'db' | 'clock' | 'sealer' | 'runChange'>,
  outbound: Outbound,
  wake: WakeDelivery,
): ApiRoute[] {
  const { config, clock, db, runChange, sealer } = services
  const { client, policy: targetPolicy } = outbound
  const { webhooksMax } = config
  return [
    ...webhookRoutes({ db, clock, runChange, sealer, client, targetPolicy, webhooksMax, wake }),
    ...webhookDeliveryRoutes({ db, runChange, wake }),
    ...webhookEventRoutes(db),
  ]
}

/** Starts what a worker does about webhooks from time to time. */
export function startWebhookJobs(services: Services): PeriodicJob[] {
  const { clock, config, db, log, runChange } = services
  const logError = (error: unknown, message: string) => log.error({ err: error }, message)
  const start = (name: string, intervalMs: number, run: () => Promise<unknown>) =>
    startPeriodicJob({ name, intervalMs, run, logError })
  return [
    start('failing webhooks', MINUTE_MS, () => watchFailingWebhooks({ db, runChange })),
    start('webhook payload retention', HOUR_MS, () =>
      expireWebhookEvents(db, {
        now: clock.now(),
        payloadDays: config.webhookPayloadRetentionDays,
        recordDays: config.deliveryRetentionDays,
      }),
    ),
  ]
}

import type { WakeDelivery } from '../delivery/enqueue-deliveries.ts'
import type { ApiRoute } from '../platform/http/route.ts'
import type { Services } from '../services.ts'
import { webhookRoutes } from '../webhooks/webhook-routes.ts'
import type { Outbound } from './outbound.ts'

/** The routes of webhooks and of their events. */
export function composeWebhookRoutes(
  services: Pick<Services, 'config' | 'db' | 'clock' | 'sealer' | 'runChange'>,
  outbound: Outbound,
  wake: WakeDelivery,
): ApiRoute[] {
  const { config, clock, db, runChange, sealer } = services
  const { client, policy: targetPolicy } = outbound
  const { webhooksMax } = config
  return webhookRoutes({ db, clock, runChange, sealer, client, targetPolicy, webhooksMax, wake })
}

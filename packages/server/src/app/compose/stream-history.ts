import type { Config } from '../config/load-config.ts'
import type { WakeDelivery } from '../../signals/dispatch/enqueue-deliveries.ts'
import type { Listener } from '../../platform/db/listener.ts'
import type { ApiRoute } from '../../platform/http/route.ts'
import { startDueJob, type DueJob } from '../../platform/jobs/due-job.ts'
import type { Services } from '../services.ts'
import { BACKFILL_CHANNEL } from '../../signals/history/backfill-store.ts'
import { backfillStreams } from '../../signals/history/backfill-streams.ts'
import { historyRoutes } from '../../signals/history/history-routes.ts'
import { historyEndpoints } from '../../surfaces/standard-ssf/history-endpoints.ts'
import type { StrictEndpoint } from '../../surfaces/standard-ssf/strict-endpoint.ts'
import type { StrictSettings } from '../../surfaces/standard-ssf/strict-settings.ts'

/** The routes of what streams have told. */
export function composeHistoryRoutes(
  services: Pick<Services, 'config' | 'db' | 'clock' | 'sealer' | 'runChange'>,
  wake: WakeDelivery,
): ApiRoute[] {
  const { config, clock, db, runChange, sealer } = services
  const retentionDays = findReplayDays(config)
  return historyRoutes({ db, clock, sealer, runChange, wake, retentionDays })
}

/** State and replay for the receivers of the strict face. */
export function composeStrictHistory(
  services: Services,
  settings: StrictSettings,
  wake: WakeDelivery,
): StrictEndpoint[] {
  const { config, clock, db, runChange, sealer } = services
  const retentionDays = findReplayDays(config)
  return historyEndpoints({ db, clock, sealer, runChange, wake, retentionDays, settings })
}

/** Tells streams the last change of every device, when any process has asked for it. */
export function startBackfills(services: Services, listener: Listener, wake: WakeDelivery): DueJob {
  const { clock, db, log, runChange, sealer } = services
  const job = startDueJob({
    name: 'stream backfill',
    clock,
    run: () => backfillStreams({ db, runChange, sealer, wake }),
    logError: (error, message) => log.error({ err: error }, message),
  })
  listener.subscribe(BACKFILL_CHANNEL, () => job.wake(clock.now()))
  return job
}

/** An event can be replayed for as long as what it carried is kept. */
function findReplayDays({ deliveryPayloadRetentionDays, deliveryRetentionDays }: Config): number {
  return Math.min(deliveryPayloadRetentionDays, deliveryRetentionDays)
}

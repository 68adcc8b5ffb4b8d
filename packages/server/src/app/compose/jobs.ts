import {
  deadLetterUnreachable,
  deleteMarkedDestinations,
  deleteOldDeliveries,
  deleteOldPayloads,
} from '../../signals/dispatch/sweep-deliveries.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { deleteExpiredIdempotencyRecords } from '../../platform/http/idempotency/idempotency-store.ts'
import { deleteStaleRateLimits } from '../../platform/http/rate-limit-store.ts'
import { startPeriodicJob, type PeriodicJob } from '../../platform/jobs/periodic-job.ts'
import type { Services } from '../services.ts'
import { deleteExpiredTokens } from '../../signals/clients/access-token-store.ts'
import { startWebhookJobs } from './webhooks.ts'

/** Work of a process that others bring along. */
export interface JobDependencies {
  readonly isWorker: boolean
  readonly flushKeyUsage: () => Promise<void>
  readonly refreshKeyRing: () => Promise<void>
  readonly renewTls: () => Promise<void>
}

/** Starts what a process does from time to time. */
export function startJobs(services: Services, dependencies: JobDependencies): PeriodicJob[] {
  const { config, clock, db, log } = services
  const logError = (error: unknown, message: string) => log.error({ err: error }, message)
  const start = (name: string, intervalMs: number, run: () => Promise<unknown>) =>
    startPeriodicJob({ name, intervalMs, run, logError })
  const jobs = [
    start('key usage', 5 * SECOND_MS, dependencies.flushKeyUsage),
    start('signing keys', MINUTE_MS, dependencies.refreshKeyRing),
    start('certificate', DAY_MS, dependencies.renewTls),
  ]
  if (!dependencies.isWorker) return jobs
  return [
    ...jobs,
    start('rate limits', MINUTE_MS, () => deleteStaleRateLimits(db)),
    start('access tokens', MINUTE_MS, () => deleteExpiredTokens(db, clock.now())),
    start('idempotency records', MINUTE_MS, () => deleteExpiredIdempotencyRecords(db, clock.now())),
    start('unreachable receivers', 5 * MINUTE_MS, () => deadLetterUnreachable(db, clock.now())),
    start('deleted streams', MINUTE_MS, () => deleteMarkedDestinations(db)),
    start('delivery retention', HOUR_MS, () =>
      deleteOldDeliveries(db, { now: clock.now(), retentionDays: config.deliveryRetentionDays }),
    ),
    start('payload retention', HOUR_MS, createPayloadSweep(services)),
    ...startWebhookJobs(services),
  ]
}

/** Goes on where it ended before; after a restart it looks through everything once. */
function createPayloadSweep({ config, clock, db }: Services): () => Promise<void> {
  const { deliveryPayloadRetentionDays: days, deliveryRetentionDays } = config
  let after: Date | null = null
  return async () => {
    // The deliveries themselves go first.
    if (days >= deliveryRetentionDays) return
    const before = new Date(clock.now().getTime() - days * DAY_MS)
    await deleteOldPayloads(db, { before, after })
    after = before
  }
}

import type { Schema } from '../schema/schema.ts'
import { toLogError, type Foundation, type ServicePart } from '../changes/foundation.ts'
import { DAY_MS, type Clock } from '../platform/clock.ts'
import { pingDatabase, type Database } from '../platform/db/database.ts'
import type { Listener } from '../platform/db/listener.ts'
import type { PeriodicJob } from '../platform/jobs/job.ts'
import type { Outbound } from '../platform/net/outbound.ts'
import { periodicJob } from '../schema/jobs.ts'
import type { ProcessRole } from '../schema/process-role.ts'
import { releaseEveryClaim } from './dispatch/claim-store.ts'
import { createDeliveryChannels } from './delivery-channels.ts'
import { createDeliveryEngine } from './dispatch/delivery-engine.ts'
import { DELIVERY_CHANNEL, toDestinationId } from './dispatch/delivery-store.ts'
import type { DeliverySettings as EngineSettings } from './dispatch/delivery-settings.ts'
import {
  deadLetterUnreachable,
  deleteMarkedDestinations,
  deleteOldDeliveries,
  deleteOldPayloads,
} from './dispatch/delivery-retention-store.ts'
import { createWorkerPresence } from './dispatch/worker-presence.ts'
import { reviewFallbacks } from './push/review-fallbacks.ts'
import type { SigningPart } from './signing-part.ts'

export interface DeliverySettings {
  readonly baseUrl: string
  /** Undefined while the service runs the database for itself alone. */
  readonly databaseUrl?: string | undefined
  readonly deliveryConcurrency: number
  readonly deliveryRetentionDays: number
  readonly deliveryPayloadRetentionDays: number
  readonly pushFallbackMinutes: number
}

export interface DeliveryDependencies {
  readonly foundation: Foundation
  /** Connections of its own: a flood of reports from devices does not hold up what is delivered. */
  readonly database: Database<Schema>
  readonly listener: Listener
  readonly outbound: Outbound
  readonly signing: Pick<SigningPart, 'keyRing' | 'refusedKeys'>
}

/** The engine that delivers queued events, and what becomes of events that are done or given up. */
export function createDeliveryPart(
  dependencies: DeliveryDependencies,
  settings: DeliverySettings,
  engineSettings: Partial<EngineSettings> = {},
): ServicePart {
  const { foundation, database, listener, outbound, signing } = dependencies
  const { client } = outbound
  const { clock, log, runChange } = foundation
  const { preparedDb: db } = database
  const logError = toLogError(log)
  const { baseUrl } = settings
  const engine = createDeliveryEngine({
    db,
    clock,
    log,
    runChange,
    presence: createWorkerPresence({ db: database.db, listener }),
    client,
    channels: createDeliveryChannels({ ...foundation, db }, { signing, outbound, baseUrl }),
    settings: { concurrency: settings.deliveryConcurrency, ...engineSettings },
  })
  return {
    name: 'delivery',
    roles: ['worker'],
    // What a commit has queued, in any process, comes back from PostgreSQL here.
    channels: { [DELIVERY_CHANNEL]: (payload) => engine.wake(toDestinationId(payload)) },
    onReconnect: () => {
      engine.sweep().catch((error: unknown) => logError(error, 'a delivery sweep failed'))
    },
    jobs: [
      periodicJob('push fallback', () =>
        reviewFallbacks({
          ...foundation,
          baseUrl,
          fallbackMinutes: settings.pushFallbackMinutes,
        }),
      ),
      ...retentionJobs(foundation, settings),
    ],
    // Its connections are its own: those of the API may be well when these are not.
    health: () => pingDatabase(database.db),
    start: async () => {
      // The embedded database belongs to one service, so that no other process can be delivering.
      if (settings.databaseUrl === undefined) await releaseEveryClaim(db)
      await engine.start()
    },
    stop: async () => {
      try {
        await engine.close()
        await signing.refusedKeys.idle()
      } finally {
        await database.close()
      }
    },
  }
}

function retentionJobs(
  { clock, db }: Pick<Foundation, 'clock' | 'db'>,
  settings: DeliverySettings,
): PeriodicJob<ProcessRole>[] {
  const { deliveryRetentionDays: retentionDays } = settings
  return [
    periodicJob('unreachable receivers', () => deadLetterUnreachable(db)),
    periodicJob('deleted streams', () => deleteMarkedDestinations(db)),
    periodicJob('delivery retention', () =>
      deleteOldDeliveries(db, { now: clock.now(), retentionDays }),
    ),
    periodicJob('payload retention', createPayloadSweep({ clock, db }, settings)),
  ]
}

/** Goes on where it ended before; after a restart it looks through everything once. */
function createPayloadSweep(
  { clock, db }: { readonly clock: Clock; readonly db: Foundation['db'] },
  { deliveryPayloadRetentionDays: days, deliveryRetentionDays }: DeliverySettings,
): () => Promise<void> {
  let after: Date | null = null
  return async () => {
    // The deliveries themselves go first.
    if (days >= deliveryRetentionDays) return
    const before = new Date(clock.now().getTime() - days * DAY_MS)
    await deleteOldPayloads(db, { before, after })
    after = before
  }
}

import type { Schema } from '../schema/schema.ts'
import { toLogError, type Foundation, type ServicePart } from '../changes/foundation.ts'
import { pingDatabase, type Database } from '../platform/db/database.ts'
import type { Listener } from '../platform/db/listener.ts'
import { askingDatabase } from '../platform/http/health.ts'
import type { Outbound } from '../platform/net/outbound.ts'
import { periodicJob } from '../schema/jobs.ts'
import { releaseEveryClaim } from './dispatch/release-store.ts'
import { createDeliveryChannels } from './delivery-channels.ts'
import { DeliveryEngine } from './dispatch/delivery-engine.ts'
import {
  DELIVERY_CHANNEL,
  DELIVERY_TARGET_CHANNEL,
  toDestinationId,
} from './dispatch/delivery-store.ts'
import type { DeliverySettings as EngineSettings } from './dispatch/delivery-settings.ts'
import {
  deadLetterUnreachable,
  deleteMarkedDestinations,
  deliveryRetention,
} from './dispatch/delivery-retention-store.ts'
import { raiseQueuedFrom } from './dispatch/queued-from-store.ts'
import { createWorkerPresence } from './dispatch/worker-presence.ts'
import { reviewFallbacks } from './push/review-fallbacks.ts'
import { waitingEventRetention } from './streams/waiting-event-store.ts'
import type { SigningPart } from './signing-part.ts'

export interface DeliverySettings {
  readonly baseUrl: string
  /** Undefined while the service runs the database for itself alone. */
  readonly databaseUrl?: string | undefined
  readonly deliveryConcurrency: number
  readonly deliveryRetentionDays: number
  readonly deliveryPayloadRetentionDays: number
  readonly waitingEventRetentionDays: number
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
  const { clock, log, runChange, topics } = foundation
  const { preparedDb: db } = database
  const logError = toLogError(log)
  const { baseUrl } = settings
  const engine = new DeliveryEngine({
    db,
    clock,
    log,
    runChange,
    topics,
    presence: createWorkerPresence({ db: database.db, listener }),
    client,
    channels: createDeliveryChannels({ ...foundation, db }, { signing, outbound, baseUrl }),
    settings: { concurrency: settings.deliveryConcurrency, ...engineSettings },
  })
  return {
    name: 'delivery',
    roles: ['worker'],
    // What a commit has queued, in any process, comes back from PostgreSQL here.
    channels: {
      [DELIVERY_CHANNEL]: (payload) => engine.wake(toDestinationId(payload)),
      [DELIVERY_TARGET_CHANNEL]: (payload) => engine.onTargetChanged(toDestinationId(payload)),
    },
    onReconnect: () => {
      engine.onTargetChanged()
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
      periodicJob('unreachable receivers', () => deadLetterUnreachable(foundation.db)),
      periodicJob('waiting deliveries', () => raiseQueuedFrom(foundation.db)),
      periodicJob('deleted streams', () => deleteMarkedDestinations(foundation.db)),
    ],
    retention: [...deliveryRetention(settings), waitingEventRetention(foundation.db, settings)],
    // Its connections are its own: those of the API may be well when these are not.
    health: askingDatabase(() => pingDatabase(database.db)),
    start: async () => {
      // The embedded database belongs to one service, so that no other process can be delivering.
      if (settings.databaseUrl === undefined) await releaseEveryClaim(db)
      await engine.start()
    },
    // What the other parts wait for when they stop, this one needs for what is in flight.
    endWaiting: () => void engine.beginEnd(),
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

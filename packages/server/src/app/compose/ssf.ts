import { releaseEveryClaim } from '../../signals/dispatch/claim-store.ts'
import { watchClock } from '../../signals/dispatch/clock-steps.ts'
import {
  createDeliveryEngine,
  type DeliveryEngine,
} from '../../signals/dispatch/delivery-engine.ts'
import { createWorkerPresence } from '../../signals/dispatch/worker-presence.ts'
import { openDatabase } from '../../platform/db/database.ts'
import type { Listener } from '../../platform/db/listener.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { startPeriodicJob, type PeriodicJob } from '../../platform/jobs/periodic-job.ts'
import type { Services } from '../services.ts'
import { createPushChannel } from '../../signals/push/push-channel.ts'
import { createPushConnections } from '../../signals/push/push-connection.ts'
import { reviewFallbacks } from '../../signals/push/review-fallbacks.ts'
import { createKeyRing, type KeyRing } from '../../signals/signing/key-ring.ts'
import { createRefusedKeys, type RefusedKeys } from '../../signals/signing/refused-keys.ts'
import { createSigningPool, type SigningPool } from '../../signals/signing/signing-pool.ts'
import { createWebhookChannel } from '../../signals/webhooks/webhook-channel.ts'
import type { Outbound } from './outbound.ts'

/** The signing keys of a process and the threads that use them. */
export interface Signing {
  readonly pool: SigningPool
  readonly keyRing: KeyRing
  readonly refusedKeys: RefusedKeys
}

/** Opens the signing keys. */
export async function composeSigning(services: Services): Promise<Signing> {
  const { clock, db, log, runChange, sealer } = services
  const pool = createSigningPool()
  const keyRing = createKeyRing({ db, clock, sealer, pool })
  await keyRing.refresh()
  const refusedKeys = createRefusedKeys({
    runChange,
    clock,
    keyRing,
    logError: (error, message) => log.error({ err: error }, message),
  })
  return { pool, keyRing, refusedKeys }
}

/** The engine that delivers queued events, with the database connections that it works on. */
export interface Delivery {
  readonly engine: DeliveryEngine
  start(): Promise<void>
  close(): Promise<void>
}

/** Enough for the claims and outcomes of many receivers: each statement handles a batch. */
const DELIVERY_POOL_MAX = 6
/** How often it is asked which streams fall back, and which need not any more. */
const FALLBACK_REVIEW_MS = 15 * SECOND_MS

/**
 * Creates the engine that delivers queued events. It has connections of its own, so that a flood of
 * reports from devices does not hold up what is to be delivered.
 */
export function composeDelivery(
  services: Services,
  { keyRing, refusedKeys }: Signing,
  outbound: Outbound,
  listener: Listener,
): Delivery {
  const { config, clock, connection, log, sealer } = services
  const { pushFallbackMinutes: fallbackMinutes } = config
  const database = openDatabase(connection, {
    poolMax: DELIVERY_POOL_MAX,
    applicationName: 'heliograph delivery',
    logError: (error) => log.warn({ err: error }, 'a database connection broke'),
  })
  const { preparedDb: db } = database
  const { client } = outbound
  const openConnection = createPushConnections({ db, clock, sealer, keyRing, client })
  const fallback = {
    baseUrl: config.baseUrl,
    wake: (destinationId: string) => engine.wake(destinationId),
  }
  let fallbacks: PeriodicJob | undefined
  const engine = createDeliveryEngine({
    db,
    clock,
    log,
    runChange: services.runChange,
    presence: createWorkerPresence({ db: database.db, clock, listener }),
    clockWatch: watchClock(clock),
    client: outbound.client,
    channels: [
      createPushChannel({ db, sealer, keyRing, refusedKeys, openConnection, fallback }),
      createWebhookChannel({ db, clock, sealer }),
    ],
    settings: { concurrency: config.deliveryConcurrency },
  })
  listener.onReconnect(() => {
    engine.sweep().catch((error: unknown) => log.error({ err: error }, 'a delivery sweep failed'))
  })
  return {
    engine,
    start: async () => {
      // The embedded database belongs to one service, so that no other process can be delivering.
      if (config.databaseUrl === undefined) await releaseEveryClaim(db)
      await engine.start()
      fallbacks = startPeriodicJob({
        name: 'push fallback',
        intervalMs: FALLBACK_REVIEW_MS,
        run: () => reviewFallbacks({ ...services, ...fallback, fallbackMinutes }),
        logError: (error, message) => log.error({ err: error }, message),
      })
    },
    close: async () => {
      await fallbacks?.stop()
      await engine.close()
      await refusedKeys.idle()
      await database.close()
    },
  }
}

/*
 * The part of the service that delivers events, composed as the service does, on an embedded database
 * of its own: fsync on, the database in its own process.
 */
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { createChangeRunner, type RunChange } from '../src/changes/change.ts'
import { loadConfig } from '../src/app/config/load-config.ts'
import {
  createDeliveryEngine,
  type DeliveryEngine,
} from '../src/signals/dispatch/delivery-engine.ts'
import type { DeliverySettings } from '../src/signals/dispatch/delivery-settings.ts'
import { systemClock } from '../src/platform/clock.ts'
import { openDatabase } from '../src/platform/db/database.ts'
import { startEmbeddedPostgres } from '../src/platform/db/embedded/embedded-postgres.ts'
import { migrateDatabase } from '../src/schema/migrate.ts'
import type { Schema } from '../src/schema/schema.ts'
import { createGuardedClient } from '../src/platform/net/guarded-client.ts'
import { parseAllowedTargets, type TargetPolicy } from '../src/platform/net/target-policy.ts'
import { loadMasterKey } from '../src/platform/secrets/master-key.ts'
import { createSealer, type Sealer } from '../src/platform/secrets/sealed-box.ts'
import { createPushChannel } from '../src/signals/push/push-channel.ts'
import { createKeyRing, type KeyRing } from '../src/signals/signing/key-ring.ts'
import { ensureSigningKey } from '../src/signals/signing/signing-keys.ts'
import { createSigningPool } from '../src/signals/signing/signing-pool.ts'
import { createWebhookChannel } from '../src/signals/webhooks/webhook-channel.ts'
import { createTemporaryDataFolder } from './data-folder.ts'
import type { BenchRun } from './scenario.ts'

export interface SenderServices {
  readonly db: Kysely<Schema>
  readonly keyRing: KeyRing
  readonly sealer: Sealer
  readonly targetPolicy: TargetPolicy
  readonly runChange: RunChange
  /** A new engine on the shared database, client and threads. */
  createEngine(settings?: Partial<DeliverySettings>): DeliveryEngine
}

/** Attempts are logged as in production, to where nobody reads. */
const NOWHERE = '/dev/null'

/** Starts database, signing threads and client; everything ends with the run. */
export async function startSenderServices(run: BenchRun): Promise<SenderServices> {
  const { cleanup } = run
  const dataDir = await createTemporaryDataFolder(run)
  const config = loadConfig({ HELIOGRAPH_DATA_DIR: dataDir })
  const log = pino({ level: config.logLevel }, pino.destination({ dest: NOWHERE, sync: false }))
  const postgres = await startEmbeddedPostgres({ dataDir, log })
  cleanup.add(() => postgres.stop())
  await migrateDatabase(postgres.connection, { log })
  const database = openDatabase(postgres.connection, {
    poolMax: config.databasePoolMax,
    logError: () => undefined,
  })
  cleanup.add(() => database.close())
  const { db, preparedDb } = database

  const sealer = createSealer(await loadMasterKey({ filePath: `${dataDir}/master.key` }))
  const runChange = createChangeRunner(preparedDb, systemClock, [])
  await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    ensureSigningKey(change, { sealer, modulusBits: config.signingKeyBits }),
  )
  const pool = createSigningPool()
  cleanup.add(() => pool.close())
  const keyRing = createKeyRing({ db, clock: systemClock, sealer, pool })
  await keyRing.refresh()

  const allowed = parseAllowedTargets('127.0.0.1')
  if (!allowed.ok) throw new Error(allowed.reason)
  const concurrency = config.deliveryConcurrency
  const client = createGuardedClient({
    policy: allowed.policy,
    userAgent: 'heliograph-bench',
    limits: { connectionsPerOriginMax: concurrency },
  })
  cleanup.add(() => client.close(0))
  const channels = [
    createPushChannel({ db: preparedDb, sealer, keyRing }),
    createWebhookChannel({ db: preparedDb, clock: systemClock, sealer }),
  ]
  return {
    db,
    keyRing,
    sealer,
    targetPolicy: allowed.policy,
    runChange,
    createEngine: (settings) =>
      createDeliveryEngine({
        db: preparedDb,
        clock: systemClock,
        log,
        client,
        channels,
        settings: { concurrency, ...settings },
      }),
  }
}

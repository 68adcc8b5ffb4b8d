/*
 * The part of the service that delivers events, composed as the service does, on an embedded database
 * of its own: fsync on, the database in its own process.
 */
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { SYSTEM_ACTOR } from '../audit/audit-entry.ts'
import { createChangeRunner, type RunChange } from '../audit/change.ts'
import { loadConfig } from '../config/load-config.ts'
import { createDeliveryEngine, type DeliveryEngine } from '../delivery/delivery-engine.ts'
import type { DeliverySettings } from '../delivery/delivery-settings.ts'
import { systemClock } from '../platform/clock.ts'
import { openDatabase } from '../platform/db/database.ts'
import { startEmbeddedPostgres } from '../platform/db/embedded/embedded-postgres.ts'
import { migrateDatabase } from '../platform/db/migrate.ts'
import type { Schema } from '../platform/db/schema.ts'
import { createGuardedClient } from '../platform/net/guarded-client.ts'
import { parseAllowedTargets, type TargetPolicy } from '../platform/net/target-policy.ts'
import { loadMasterKey } from '../platform/secrets/master-key.ts'
import { createSealer, type Sealer } from '../platform/secrets/sealed-box.ts'
import { createPushChannel } from '../ssf/push/push-channel.ts'
import { createKeyRing, type KeyRing } from '../ssf/signing/key-ring.ts'
import { ensureSigningKey } from '../ssf/signing/signing-keys.ts'
import { createSigningPool } from '../ssf/signing/signing-pool.ts'
import { createWebhookChannel } from '../webhooks/webhook-channel.ts'
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
  const runChange = createChangeRunner(preparedDb, systemClock)
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

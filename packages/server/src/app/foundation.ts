/*
 * What the service and every command work with: the database with its schema up to date, the keys
 * that seal secrets, and the runner of changes. Makes no parts; parts.ts does.
 */
import type { Schema } from '../schema/schema.ts'
import { join, resolve } from 'node:path'
import type { Pool } from 'pg'
import { createChangeRunner, type Change } from '../changes/change.ts'
import { CHECK_CATALOGUE } from '../posture/checks/catalogue/index.ts'
import { syncCatalogue } from '../posture/checks/sync-catalogue.ts'
import { createPublishers } from './publishers.ts'
import type { Foundation } from '../changes/foundation.ts'
import { ConfigError, type Config } from './config/load-config.ts'
import { SYSTEM_ACTOR } from '../changes/audit/audit-entry.ts'
import { reevaluateEveryDevice } from '../posture/devices/reevaluate-every-device.ts'
import { insertOrganisation } from '../organisation/settings/organisation-store.ts'
import { systemClock, type Clock } from '../platform/clock.ts'
import { createDataFolder } from '../platform/data-folder.ts'
import type { DatabaseConnection } from '../platform/db/connection.ts'
import { openDatabase, type Database } from '../platform/db/database.ts'
import { openDataFolder } from '../platform/db/embedded/open-data-folder.ts'
import { migrateDatabase } from '../schema/migrate.ts'
import { createLogger, type Logger } from '../platform/logger.ts'
import { loadMasterKey, type MasterKeys } from '../platform/secrets/master-key.ts'
import { createSealer, UnsealError } from '../platform/secrets/sealed-box.ts'
import { syncReportingViews } from '../posture/reporting/sync-reporting-views.ts'
import { assertSigningKeysOpen, ensureSigningKey } from '../signals/signing/signing-keys.ts'

/** What everything in a process stands on. */
export interface ServiceFoundation extends Foundation {
  readonly config: Config
  readonly connection: DatabaseConnection
  readonly pool: Pool
  readonly masterKeys: MasterKeys
  /** Derives the status of every device anew: after a change of what counts for all. */
  readonly reevaluateAllDevices: (change: Change) => Promise<void>
  /** Closes the database, and stops it if this process started it. Safe to call twice. */
  close(): Promise<void>
}

export interface OpenFoundationOptions {
  /** A service takes the data folder for itself; a command shares it with a service that runs. */
  readonly purpose: 'service' | 'command'
  readonly log?: Logger
  readonly clock?: Clock
}

const COMMAND_POOL_MAX = 4
/** Connections beside the pool of the service: the listener, commands, backups. */
const OTHER_CONNECTIONS = 40
const DEFAULT_ORGANISATION_NAME = 'My organisation'

/**
 * Opens the database of the configuration, brings its schema and the built-in checks up to date, and
 * makes what works on it.
 *
 * @throws DatabaseStartError when the embedded database cannot be opened; ConfigError for a data folder
 * or master key that cannot be used, or a master key that is not that of the database; MigrationError
 */
export async function openFoundation(
  config: Config,
  options: OpenFoundationOptions,
): Promise<ServiceFoundation> {
  const clock = options.clock ?? systemClock
  const log = options.log ?? createLogger(options.purpose === 'command' ? 'fatal' : config.logLevel)
  const masterKeys = await openMasterKeys(config)
  const folder = await openFolder(config, options.purpose, log)
  const connection = folder.connection
  let database: Database<Schema> | undefined
  try {
    await migrateDatabase(connection, { log })
    database = openDatabase<Schema>(connection, {
      poolMax: options.purpose === 'command' ? COMMAND_POOL_MAX : config.databasePoolMax,
      logError: (error) => log.warn({ err: error }, 'a database connection broke'),
    })
    const foundation = createFoundation(config, { clock, log, masterKeys, connection, ...database })
    await prepareRecords(foundation)
    const opened = database
    return {
      ...foundation,
      close: async () => {
        try {
          await opened.close()
        } finally {
          await folder.stop()
        }
      },
    }
  } catch (error) {
    await database?.close()
    await folder.stop()
    throw error
  }
}

interface OpenFolder {
  readonly connection: DatabaseConnection
  stop(): Promise<void>
}

async function openFolder(
  config: Config,
  purpose: OpenFoundationOptions['purpose'],
  log: Logger,
): Promise<OpenFolder> {
  if (config.databaseUrl !== undefined) {
    return { connection: { url: config.databaseUrl }, stop: async () => undefined }
  }
  const connectionsMax = config.databasePoolMax + OTHER_CONNECTIONS
  return openDataFolder({ dataDir: config.dataDir, purpose, log, connectionsMax })
}

async function openMasterKeys(config: Config): Promise<MasterKeys> {
  const { masterKey: fromSetting } = config
  const dataDir = resolve(config.dataDir)
  try {
    if (fromSetting === undefined) await createDataFolder(dataDir)
    return await loadMasterKey({ fromSetting, filePath: masterKeyFile(config) })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const setting = fromSetting === undefined ? 'HELIOGRAPH_DATA_DIR' : 'HELIOGRAPH_MASTER_KEY'
    throw new ConfigError([`${setting}: ${error.message}`])
  }
}

function masterKeyFile(config: Config): string {
  return join(resolve(config.dataDir), 'master.key')
}

/** Under another key, what this process seals could be opened by nobody else, and the reverse. */
async function assertMasterKeyFits({
  config,
  db,
  sealer,
}: Omit<ServiceFoundation, 'close'>): Promise<void> {
  try {
    await assertSigningKeysOpen(db, sealer)
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    const origin = config.masterKey === undefined ? masterKeyFile(config) : 'HELIOGRAPH_MASTER_KEY'
    throw new ConfigError([
      `The master key from ${origin} is not the one that the secrets in the database are sealed under. Give that one as HELIOGRAPH_MASTER_KEY, or put its file back.`,
    ])
  }
}

/** What the foundation of a process is made of. */
export interface FoundationMaterial extends Omit<Database<Schema>, 'close'> {
  readonly clock: Clock
  readonly log: Logger
  readonly masterKeys: MasterKeys
  readonly connection: DatabaseConnection
}

/** Makes the foundation of an open database whose schema is up to date; nothing is read or written. */
export function createFoundation(
  config: Config,
  material: FoundationMaterial,
): Omit<ServiceFoundation, 'close'> {
  const { clock, connection, db, log, masterKeys, pool, preparedDb } = material
  const sealer = createSealer(masterKeys)
  const publishers = createPublishers({ clock, sealer, baseUrl: config.baseUrl })
  return {
    config,
    clock,
    connection,
    db,
    log,
    masterKeys,
    pool,
    preparedDb,
    sealer,
    runChange: createChangeRunner(preparedDb, clock, publishers),
    reevaluateAllDevices: (change) => reevaluateEveryDevice(change),
  }
}

/** What must exist before anything else works. Idempotent, also between processes. */
async function prepareRecords(foundation: Omit<ServiceFoundation, 'close'>): Promise<void> {
  const { config, clock, db, runChange, sealer } = foundation
  await assertMasterKeyFits(foundation)
  await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    ensureSigningKey(change, { sealer, modulusBits: config.signingKeyBits }),
  )
  await insertOrganisation(db, DEFAULT_ORGANISATION_NAME, clock.now())
  await runChange({ actor: SYSTEM_ACTOR }, (change) => syncCatalogue(change, CHECK_CATALOGUE))
  await syncReportingViews(db)
}

/*
 * What the service and every command work with: the database with its schema up to date, the keys
 * that seal secrets, and the runner of changes. Builds no servers and no workers; compose.ts does.
 */
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { createChangeRunner, type Change, type RunChange } from './audit/change.ts'
import { CHECK_CATALOGUE } from './checks/catalogue/index.ts'
import { syncCatalogue } from './checks/sync-catalogue.ts'
import { composeStatus } from './compose/status.ts'
import type { Config } from './config/load-config.ts'
import { SYSTEM_ACTOR } from './audit/audit-entry.ts'
import type { StatusDependencies } from './devices/change-device-status.ts'
import { reevaluateEveryDevice } from './devices/reevaluate-every-device.ts'
import { insertOrganisation } from './organisation/organisation-store.ts'
import { systemClock, type Clock } from './platform/clock.ts'
import type { DatabaseConnection } from './platform/db/connection.ts'
import { openDatabase } from './platform/db/database.ts'
import { openDataFolder } from './platform/db/embedded/open-data-folder.ts'
import { migrateDatabase } from './platform/db/migrate.ts'
import type { Schema } from './platform/db/schema.ts'
import { createLogger, type Logger } from './platform/logger.ts'
import { loadMasterKey, type MasterKeys } from './platform/secrets/master-key.ts'
import { createSealer, type Sealer } from './platform/secrets/sealed-box.ts'
import { syncReportingViews } from './reporting/sync-reporting-views.ts'

export interface Services {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly connection: DatabaseConnection
  readonly db: Kysely<Schema>
  readonly pool: Pool
  readonly masterKeys: MasterKeys
  readonly sealer: Sealer
  readonly runChange: RunChange
  /** What happens when the status of a device changes. */
  readonly status: StatusDependencies
  /** Derives the status of every device anew: after a change of what counts for all. */
  readonly reevaluateAllDevices: (change: Change) => Promise<void>
  /** Closes the database, and stops it if this process started it. Safe to call twice. */
  close(): Promise<void>
}

export interface OpenServicesOptions {
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
 * composes what works on it.
 *
 * @throws DatabaseStartError when the embedded database cannot be opened
 */
export async function openServices(
  config: Config,
  options: OpenServicesOptions,
): Promise<Services> {
  const clock = options.clock ?? systemClock
  const log = options.log ?? createLogger(options.purpose === 'command' ? 'fatal' : config.logLevel)
  const masterKeys = await openMasterKeys(config)
  const folder = await openFolder(config, options.purpose, log)
  const connection = folder.connection
  try {
    await migrateDatabase(connection, { log })
    const database = openDatabase(connection, {
      poolMax: options.purpose === 'command' ? COMMAND_POOL_MAX : config.databasePoolMax,
      logError: (error) => log.warn({ err: error }, 'a database connection broke'),
    })
    const services = compose(config, { clock, log, masterKeys, connection, ...database })
    await prepareRecords(services)
    return {
      ...services,
      close: async () => {
        await database.close()
        await folder.stop()
      },
    }
  } catch (error) {
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
  purpose: OpenServicesOptions['purpose'],
  log: Logger,
): Promise<OpenFolder> {
  if (config.databaseUrl !== undefined) {
    return { connection: { url: config.databaseUrl }, stop: async () => undefined }
  }
  const connectionsMax = config.databasePoolMax + OTHER_CONNECTIONS
  return openDataFolder({ dataDir: config.dataDir, purpose, log, connectionsMax })
}

async function openMasterKeys(config: Config): Promise<MasterKeys> {
  const dataDir = resolve(config.dataDir)
  if (config.masterKey === undefined) await mkdir(dataDir, { recursive: true, mode: 0o711 })
  return loadMasterKey({
    ...(config.masterKey === undefined ? {} : { fromSetting: config.masterKey }),
    filePath: join(dataDir, 'master.key'),
  })
}

interface Foundation {
  readonly clock: Clock
  readonly log: Logger
  readonly masterKeys: MasterKeys
  readonly connection: DatabaseConnection
  readonly db: Kysely<Schema>
  readonly pool: Pool
}

function compose(config: Config, foundation: Foundation): Omit<Services, 'close'> {
  const { clock, db, masterKeys } = foundation
  const runChange = createChangeRunner(db, clock)
  const status = composeStatus()
  return {
    ...foundation,
    config,
    sealer: createSealer(masterKeys),
    runChange,
    status,
    reevaluateAllDevices: (change) => reevaluateEveryDevice(change, status),
  }
}

/** What must exist before anything else works. Idempotent, also between processes. */
async function prepareRecords(services: Omit<Services, 'close'>): Promise<void> {
  const { clock, db, runChange, status } = services
  await insertOrganisation(db, DEFAULT_ORGANISATION_NAME, clock.now())
  await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    syncCatalogue(change, status, CHECK_CATALOGUE),
  )
  await syncReportingViews(db)
}

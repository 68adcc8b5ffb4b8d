/*
 * What the service and every command work with: the database with its schema up to date, the keys
 * that seal secrets, and the runner of changes. Makes no parts; parts.ts does.
 */
import type { Schema } from '../schema/schema.ts'
import { OWNER_ROLE } from '@heliograph/embedded-postgres'
import type { Pool } from 'pg'
import { createAuditChainer, type AuditChainer } from '../changes/audit/chain/audit-chainer.ts'
import { createChangeRunner, type Change } from '../changes/change.ts'
import { assertOneDatabase, leadsReportsToOneDatabase } from './assert-one-database.ts'
import { toConnectionLog } from './connection-log.ts'
import { openMasterKeys } from './master-keys.ts'
import { fingerprintPreparation } from './preparation-fingerprint.ts'
import { createPublishers } from './publishers.ts'
import { openDatabaseFolder, type DatabaseFolder } from './database-folder.ts'
import { toReportingAccess } from './reporting-access.ts'
import { assertSessionKept, toSessionConnection } from './session-connection.ts'
import { toLogError, type Foundation } from '../changes/foundation.ts'
import type { Config } from './config/load-config.ts'
import { findPreparation } from '../organisation/settings/organisation-store.ts'
import { SECOND_MS, type Clock } from '../platform/clock.ts'
import type { DatabaseConnection } from '../platform/db/connection.ts'
import { openDatabase, type Database } from '../platform/db/database.ts'
import { DatabaseNetwork } from '../platform/db/database-network.ts'
import type { ReplicaCounts } from '../platform/db/read-replica.ts'
import { SynchronisedClock, toTimeSource } from '../platform/db/synchronised-clock.ts'
import { CommitNotifier } from '../platform/db/commit-notifier.ts'
import { TopicNotifier } from '../platform/live/topic-notifier.ts'
import type { Logger } from '../platform/logger.ts'
import { SILENT_LOGGER } from '../platform/silent-logger.ts'
import type { MasterKeys } from '../platform/secrets/master-key.ts'
import { hasSealed } from '../platform/secrets/sealed-column-store.ts'
import { createSealer } from '../platform/secrets/sealed-box.ts'
import type { ReportingAccess } from '../posture/reporting/sandbox/reporting-access.ts'

/** What everything in a process stands on. */
export interface ServiceFoundation extends Foundation {
  readonly config: Config
  readonly connection: DatabaseConnection
  /** The same database where a session is kept. */
  readonly sessionConnection: DatabaseConnection
  /** What every connection to the database goes through. */
  readonly network: DatabaseNetwork
  /** As the role that owns the tables; the same where the service does. */
  readonly ownerConnection: DatabaseConnection
  readonly pool: Pool
  /** Who answered the reads that a standby may answer; undefined where there is none. */
  readonly replicaCounts?: ReplicaCounts | undefined
  readonly masterKeys: MasterKeys
  /** Takes the time of the database; the process does it again and again while it serves. */
  readonly synchroniseClock: () => Promise<void>
  readonly reporting: ReportingAccess
  /** Chains the audit entries of this process; a service starts it, and a command lets it run at its end. */
  readonly auditChainer: AuditChainer
  readonly topics: TopicNotifier
  /** Tells of what changes of this process have committed. */
  readonly commitNotifier: CommitNotifier
  /** Derives the status of every device anew: after a change of what counts for all. */
  readonly reevaluateAllDevices: (change: Change) => Promise<void>
  /** Closes the database, and stops it if this process started it. Safe to call twice. */
  readonly close: () => Promise<void>
}

/** The foundation of a database that somebody else closes. */
export type OpenedFoundation = Omit<ServiceFoundation, 'close'>

/** A service takes the data folder for itself; a command shares it with a service that runs. */
export type OpenFoundationOptions = { readonly clock?: Clock } & (
  | {
      readonly purpose: 'service'
      readonly log: Logger
      /** The database where somebody has begun to open it; it is closed with the foundation. */
      readonly folder?: Promise<DatabaseFolder> | undefined
    }
  | { readonly purpose: 'command' }
)

const SIGNING_KEYS = { table: 'signing_key', key: 'kid', column: 'private_key_sealed' }

const COMMAND_POOL_MAX = 4
/** Whoever used the database has stopped; what still waits for an answer waits for a host that is gone. */
const CLOSE_PATIENCE_MS = 2 * SECOND_MS
/** What a command leaves, and a backlog, is for the service. */
const CHAIN_PATIENCE_MS = SECOND_MS

/**
 * Opens the database of the configuration, brings its schema and the built-in checks up to date, and
 * makes what works on it. A service always does; a command only when the database was last prepared for
 * another program or master key.
 *
 * @throws DatabaseStartError when the embedded database cannot be opened; ConfigError for a data folder
 * or master key that cannot be used, or a master key that is not that of the database; MigrationError
 */
export async function openFoundation(
  config: Config,
  options: OpenFoundationOptions,
): Promise<ServiceFoundation> {
  const log = options.purpose === 'service' ? options.log : SILENT_LOGGER
  const folder = await findFolder(config, options)
  const connection = folder.connection
  const network = new DatabaseNetwork()
  let database: Database<Schema> | undefined
  try {
    // Not before the folder is known to be of use: a restore that is not complete brings its own keys.
    const owner = toOwnerConnection(config, connection)
    const masterKeys = await openMasterKeys(config, () => hasSecrets(owner, network))
    database = openDatabase<Schema>(connection, {
      network,
      poolMax: options.purpose === 'command' ? COMMAND_POOL_MAX : config.databasePoolMax,
      ...toConnectionLog(log),
      ...(config.databaseReadUrl !== undefined && {
        readReplica: {
          connection: { url: config.databaseReadUrl },
          logProblem: (reason: string) => {
            log.warn(
              { reason },
              'the standby of DATABASE_READ_URL answers no reads; the primary does',
            )
          },
        },
      }),
    })
    const time = openClock(options.clock, database)
    const foundation = createFoundation(config, {
      ...time,
      log,
      masterKeys,
      connection,
      network,
      ...database,
    })
    await prepare(foundation, options.purpose)
    const opened = database
    return {
      ...foundation,
      close: async () => {
        const timer = setTimeout(() => network.close('the database is closed'), CLOSE_PATIENCE_MS)
        try {
          if (options.purpose === 'command') await chainOwnEntries(foundation)
          foundation.topics.flush()
          await foundation.commitNotifier.close()
          await opened.close()
        } finally {
          clearTimeout(timer)
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

/** As the owner of the tables: the service may still lack its rights. Signing keys are made with every database. */
async function hasSecrets(owner: DatabaseConnection, network: DatabaseNetwork): Promise<boolean> {
  const database = openDatabase<Schema>(owner, { network, poolMax: 1, logError: () => undefined })
  try {
    return await hasSealed(database.db, SIGNING_KEYS)
  } finally {
    await database.close()
  }
}

/** Opens the database, unless that has been begun. */
function findFolder(config: Config, options: OpenFoundationOptions): Promise<DatabaseFolder> {
  if (options.purpose === 'command') {
    return openDatabaseFolder(config, { purpose: 'command', log: SILENT_LOGGER })
  }
  const { folder, log } = options
  return folder ?? openDatabaseFolder(config, { purpose: 'service', log })
}

/** A command does not leave its entries to the service, which may not run. The service tries again. */
async function chainOwnEntries({ auditChainer, log }: OpenedFoundation): Promise<void> {
  if (!auditChainer.isWoken()) return
  const logError = toLogError(log)
  await auditChainer
    .flush(CHAIN_PATIENCE_MS)
    .catch((error: unknown) => logError(error, 'entries of the audit log are not chained yet'))
}

/** What processes compare goes by the clock of the database, unless the caller decides what time it is. */
function openClock(
  given: Clock | undefined,
  { preparedDb }: Database<Schema>,
): Pick<FoundationMaterial, 'clock' | 'synchroniseClock'> {
  if (given !== undefined) return { clock: given, synchroniseClock: async () => undefined }
  const clock = new SynchronisedClock(toTimeSource(preparedDb))
  return { clock, synchroniseClock: () => clock.synchronise() }
}

/** A command finds most databases prepared, and then loads nothing of what prepares them. */
async function prepare(
  foundation: OpenedFoundation,
  purpose: OpenFoundationOptions['purpose'],
): Promise<void> {
  const fingerprint = fingerprintPreparation(foundation.masterKeys)
  if (purpose === 'command' && (await findPreparation(foundation.db)) === fingerprint) {
    await foundation.synchroniseClock()
    return
  }
  if (purpose === 'service') {
    const { config, network, sessionConnection } = foundation
    await assertSessionKept(config, sessionConnection, network)
  }
  await assertOneDatabase(foundation)
  const { prepareDatabase } = await import('./prepare-database.ts')
  await prepareDatabase(foundation, fingerprint)
}

/** Whoever owns the tables: the role of its own setting, that of the embedded database, or the service. */
export function toOwnerConnection(
  { migrationDatabaseUrl: url }: Pick<Config, 'migrationDatabaseUrl'>,
  connection: DatabaseConnection,
): DatabaseConnection {
  if (url !== undefined) return { url }
  return 'url' in connection ? connection : { ...connection, user: OWNER_ROLE }
}

/** What the foundation of a process is made of. */
export interface FoundationMaterial extends Omit<Database<Schema>, 'close'> {
  readonly clock: Clock
  readonly synchroniseClock: () => Promise<void>
  readonly log: Logger
  readonly masterKeys: MasterKeys
  readonly connection: DatabaseConnection
  readonly network: DatabaseNetwork
}

/** Makes the foundation of an open database whose schema is up to date; nothing is read or written. */
export function createFoundation(config: Config, material: FoundationMaterial): OpenedFoundation {
  const { clock, connection, db, log, masterKeys, network, pool, preparedDb, synchroniseClock } =
    material
  const { replicaCounts } = material
  const sealer = createSealer(masterKeys)
  const auditChainer = createAuditChainer(preparedDb, { logError: toLogError(log) })
  const commitNotifier = new CommitNotifier({ db: preparedDb, logError: toLogError(log) })
  const topics = new TopicNotifier(commitNotifier)
  const { baseUrl, reportingDatabaseUrl: reportingUrl } = config
  const publishers = createPublishers({ clock, sealer, baseUrl, auditChainer, topics })
  return {
    config,
    auditChainer,
    clock,
    connection,
    ownerConnection: toOwnerConnection(config, connection),
    db,
    log,
    masterKeys,
    network,
    pool,
    replicaCounts,
    sessionConnection: toSessionConnection(config, connection),
    preparedDb,
    reporting: {
      ...toReportingAccess(config, connection, masterKeys),
      ...(reportingUrl !== undefined && {
        isOneDatabase: (signal: AbortSignal) =>
          leadsReportsToOneDatabase(db, network, { url: reportingUrl, signal }),
      }),
    },
    sealer,
    synchroniseClock,
    topics,
    commitNotifier,
    runChange: createChangeRunner(preparedDb, clock, publishers, commitNotifier),
    reevaluateAllDevices: async (change) => {
      const { reevaluateEveryDevice } =
        await import('../posture/devices/reevaluate-every-device.ts')
      await reevaluateEveryDevice(change)
    },
  }
}

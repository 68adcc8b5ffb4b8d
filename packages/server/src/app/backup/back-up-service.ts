/*
 * A backup of the service's database, beside a service that runs or without one. Nothing is brought up to date
 * first: a backup is what one makes before a new program does that.
 */
import { hasDatabase, openDataFolder, SUPERUSER } from '@heliograph/embedded-postgres'
import { AppError } from '../../platform/app-error.ts'
import { writeBackup, type WrittenBackup } from '../../platform/backup/write-backup.ts'
import type { DatabaseConnection } from '../../platform/db/connection.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'
import { openDatabase } from '../../platform/db/database.ts'
import type { MasterKeys } from '../../platform/secrets/master-key.ts'
import { createSealer } from '../../platform/secrets/sealed-box.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Config } from '../config/load-config.ts'
import { toOwnerConnection } from '../foundation.ts'
import { assertOwnerOfOneDatabase } from '../assert-one-database.ts'
import { assertMasterKeyFits } from '../assert-master-key-fits.ts'
import { findMasterKeys, toMissingKeyError } from '../master-keys.ts'
import { describeKeys, sealKeys } from './backup-keys.ts'

export interface BackUpOptions {
  readonly folder: string
  /** Undefined for a backup without keys. */
  readonly passphrase: string | undefined
  readonly onProgress: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Backs the database of a configuration up.
 *
 * @throws AppError as `writeBackup` does, and `not_found` where there is no database; ConfigError for a master key
 * that is not that of the database, and for an owner's address of another database; DatabaseStartError
 */
export async function backUpService(
  config: Config,
  options: BackUpOptions,
): Promise<WrittenBackup> {
  const { passphrase } = options
  if (config.databaseUrl === undefined && !hasDatabase(config.dataDir)) {
    throw new AppError('not_found', `There is no database in ${config.dataDir}.`)
  }
  const masterKeys = await findMasterKeys(config)
  if (masterKeys === undefined) throw toMissingKeyError(config)
  await assertOwnerOfOneDatabase(config, { isReader: true })
  const opened = await openConnection(config)
  const { connection } = opened
  try {
    await assertKeysFit(connection, config, masterKeys)
    return await writeBackup({
      ...options,
      connection,
      describeKeys: (backupId) => describeKeys(masterKeys, backupId),
      sealKeys:
        passphrase === undefined
          ? undefined
          : (manifestDigest) => sealKeys(masterKeys, passphrase, manifestDigest),
    })
  } finally {
    await opened.stop()
  }
}

/** Keys that open nothing of the backup are noticed when it is made, and not when it is needed. */
async function assertKeysFit(
  connection: DatabaseConnection,
  config: Config,
  masterKeys: MasterKeys,
): Promise<void> {
  const options = { network: new DatabaseNetwork(), poolMax: 1, logError: () => undefined }
  const database = openDatabase<Schema>(connection, options)
  try {
    await assertMasterKeyFits({ config, db: database.db, sealer: createSealer(masterKeys) })
  } finally {
    await database.close()
  }
}

interface OpenConnection {
  readonly connection: DatabaseConnection
  stop(): Promise<void>
}

/**
 * As whoever may read every table, whichever version of the program gave out the rights: the service that runs may be
 * of an earlier one.
 */
async function openConnection(config: Config): Promise<OpenConnection> {
  if (config.databaseUrl !== undefined) {
    const connection = toOwnerConnection(config, { url: config.databaseUrl })
    return { connection, stop: () => Promise.resolve() }
  }
  const folder = await openDataFolder({
    dataDir: config.dataDir,
    purpose: 'command',
    log: SILENT_LOGGER,
    programs: config.postgresPrograms,
  })
  return {
    connection: { ...folder.connection, user: SUPERUSER },
    stop: () => folder.stop(),
  }
}

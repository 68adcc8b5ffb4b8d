/*
 * The database of a process as its configuration names it: that of DATABASE_URL, which somebody else runs, or the
 * embedded one of the data folder. Loads little: a service begins with it and loads the rest meanwhile.
 */
import { openDataFolder } from '@heliograph/embedded-postgres'
import type { DatabaseConnection } from '../platform/db/connection.ts'
import type { Logger } from '../platform/logger.ts'
import type { Config } from './config/load-config.ts'

/** A database that takes connections. */
export interface DatabaseFolder {
  readonly connection: DatabaseConnection
  /** Stops the database if this process started it. Safe to call twice. */
  stop(): Promise<void>
}

export interface OpenDatabaseFolderOptions {
  /** A service takes the data folder for itself; a command shares it with a service that runs. */
  readonly purpose: 'service' | 'command'
  readonly log: Logger
  /** Called when the server's process runs, which takes no connections yet. */
  readonly onLaunch?: () => void
  /** Gives it up: nothing is left running then. */
  readonly signal?: AbortSignal
}

/** Connections beside the pool of the service: the listener, deliveries, reports, commands, backups. */
const OTHER_CONNECTIONS = 40

/** @throws DatabaseStartError when the embedded database cannot be opened */
export async function openDatabaseFolder(
  config: Config,
  options: OpenDatabaseFolderOptions,
): Promise<DatabaseFolder> {
  if (config.databaseUrl !== undefined) {
    return { connection: { url: config.databaseUrl }, stop: async () => undefined }
  }
  const connectionsMax = config.databasePoolMax + OTHER_CONNECTIONS
  const { dataDir, postgresPrograms: programs } = config
  return openDataFolder({ ...options, dataDir, connectionsMax, programs })
}

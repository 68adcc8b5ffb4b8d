import type { DatabaseConnection } from '../platform/db/connection.ts'
import type { DatabaseNetwork } from '../platform/db/database-network.ts'
import { keepsSession } from '../platform/db/session-keeping.ts'
import { ConfigError, type Config } from './config/load-config.ts'

/** The way to the database for what needs a session: notifications, and locks that outlive a transaction. */
export function toSessionConnection(
  { databaseSessionUrl }: Pick<Config, 'databaseSessionUrl'>,
  connection: DatabaseConnection,
): DatabaseConnection {
  return databaseSessionUrl === undefined ? connection : { url: databaseSessionUrl }
}

/**
 * Refuses a way to the database that does not keep its session. The embedded database has nothing before it.
 *
 * @throws ConfigError
 */
export async function assertSessionKept(
  config: Pick<Config, 'databaseSessionUrl' | 'databaseUrl'>,
  connection: DatabaseConnection,
  network: DatabaseNetwork,
): Promise<void> {
  if (config.databaseUrl === undefined) return
  if (await keepsSession(connection, network)) return
  throw new ConfigError([
    config.databaseSessionUrl === undefined
      ? 'DATABASE_URL leads through a connection pooler in transaction mode, which passes no notifications and keeps no locks: give HELIOGRAPH_DATABASE_SESSION_URL too, which leads to the database itself or to a pool in session mode'
      : 'HELIOGRAPH_DATABASE_SESSION_URL leads through a connection pooler in transaction mode: let it lead to the database itself or to a pool in session mode',
  ])
}

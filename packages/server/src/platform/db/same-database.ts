/*
 * Whether two addresses lead to one database, also past a pooler and by other names of a host: a lock that is held
 * through the one is seen through the other.
 */
import type { Kysely } from 'kysely'
import { SECOND_MS } from '../clock.ts'
import { lockInTransaction, type AdvisoryLock } from './advisory-lock.ts'
import type { DatabaseConnection } from './connection.ts'
import { errorCodeOf } from '../error-code-of.ts'
import { DatabaseClient, NoWritableServer } from './database-client.ts'
import type { DatabaseNetwork } from './database-network.ts'

const SILENT_MAX_MS = 10 * SECOND_MS

const NO_RIGHT = '42501'

interface SameDatabaseOptions {
  readonly network: DatabaseNetwork
  readonly lock: AdvisoryLock
  /**
   * Whoever connects there only reads: its role may be told to, and a standby, where no lock is seen, counts as the
   * same.
   */
  readonly isReader?: boolean
  /** Ends it; it rejects then. */
  readonly signal?: AbortSignal
}

/**
 * Whether `connection` leads to the database of `db`, as far as its role may see. Nobody else may hold the lock
 * meanwhile.
 *
 * @throws NoWritableServer where it leads to a server that only reads, such as a primary of before
 */
export async function leadsToDatabaseOf<Tables>(
  db: Kysely<Tables>,
  connection: DatabaseConnection,
  { network, lock, isReader = false, signal }: SameDatabaseOptions,
): Promise<boolean> {
  const client = new DatabaseClient({
    ...network.settings(connection, SILENT_MAX_MS),
    application_name: 'heliograph',
  })
  let isConnected = false
  const end = () => void client.close()
  signal?.addEventListener('abort', end)
  try {
    signal?.throwIfAborted()
    await client.connect()
    isConnected = true
    if (isReader && (await isStandby(client))) return true
    if (!isReader && (await client.isReadOnly())) {
      throw new NoWritableServer('the server only reads')
    }
    return await db.transaction().execute(async (tx) => {
      await lockInTransaction(tx, lock)
      const { rowCount } = await client.query(
        `select from pg_locks where locktype = 'advisory' and granted and objsubid = 2
           and database = (select oid from pg_database where datname = current_database())
           and classid = $1::bigint::oid and objid = $2::bigint::oid`,
        [...lock],
      )
      return rowCount === 1
    })
  } catch (error) {
    // A reader that may not connect has seen nothing of where it leads.
    if (errorCodeOf(error) === NO_RIGHT && (isConnected || !isReader)) return true
    throw error
  } finally {
    signal?.removeEventListener('abort', end)
    await client.close()
  }
}

async function isStandby(client: DatabaseClient): Promise<boolean> {
  const { rows } = await client.query<{ is_standby: boolean }>(
    'select pg_is_in_recovery() as is_standby',
  )
  return rows[0]?.is_standby === true
}

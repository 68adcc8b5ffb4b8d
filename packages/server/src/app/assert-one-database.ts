import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { SECOND_MS } from '../platform/clock.ts'
import type { AdvisoryLock } from '../platform/db/advisory-lock.ts'
import { openDatabase } from '../platform/db/database.ts'
import { DatabaseNetwork } from '../platform/db/database-network.ts'
import { leadsToDatabaseOf } from '../platform/db/same-database.ts'
import { LOCK_CLASSES } from '../schema/lock-keys.ts'
import type { Schema } from '../schema/schema.ts'
import { ConfigError, type Config } from './config/load-config.ts'

const LOCK_NUMBERS = 2 ** 31
const AGAIN_MS = SECOND_MS
/** A start does not wait for longer to learn of the address of reports; whoever reads them looks again before. */
const READER_MAX_MS = 2 * SECOND_MS
const OWNER = 'HELIOGRAPH_MIGRATION_DATABASE_URL'
const REPORTING = 'HELIOGRAPH_REPORTING_DATABASE_URL'

type Addresses = Pick<
  Config,
  'databaseSessionUrl' | 'migrationDatabaseUrl' | 'reportingDatabaseUrl'
>

/**
 * Refuses addresses of another database than that of DATABASE_URL: nothing would be heard there, two processes would
 * hold one lock, somebody else's database would be migrated, and reports would be of it, where the role has the same
 * name.
 *
 * @throws ConfigError
 */
export async function assertOneDatabase({
  config,
  db,
  network,
  readers = [REPORTING],
}: {
  readonly config: Addresses
  readonly db: Kysely<Schema>
  readonly network: DatabaseNetwork
  /** The settings whose addresses are only read from. */
  readonly readers?: readonly string[]
}): Promise<void> {
  const addresses = {
    HELIOGRAPH_DATABASE_SESSION_URL: config.databaseSessionUrl,
    [OWNER]: config.migrationDatabaseUrl,
    [REPORTING]: config.reportingDatabaseUrl,
  }
  for (const [setting, url] of Object.entries(addresses)) {
    if (url === undefined) continue
    const isOne = async () => {
      const lock = newLock()
      if (!readers.includes(setting)) return leadsToDatabaseOf(db, { url }, { network, lock })
      const signal = setting === REPORTING ? AbortSignal.timeout(READER_MAX_MS) : undefined
      const reader = { network, lock, isReader: true, ...(signal && { signal }) }
      // One that cannot be reached holds nothing up: whoever reads there says so.
      return leadsToDatabaseOf(db, { url }, reader).catch(() => true)
    }
    // In a failover one of both may lead to the former primary for a moment.
    if ((await isOne()) || (await sleep(AGAIN_MS).then(isOne))) continue
    throw new ConfigError([
      `${setting} leads to another database than DATABASE_URL: both must name the same server and database`,
    ])
  }
}

/** Whether reports by this address are of the database of `db`, or of a standby. Rejects while nobody answers there. */
export function leadsReportsToOneDatabase(
  db: Kysely<Schema>,
  network: DatabaseNetwork,
  { url, signal }: { readonly url: string; readonly signal: AbortSignal },
): Promise<boolean> {
  return leadsToDatabaseOf(db, { url }, { network, lock: newLock(), isReader: true, signal })
}

function newLock(): AdvisoryLock {
  return [LOCK_CLASSES.addresses, randomInt(LOCK_NUMBERS - 1)]
}

/**
 * The same for what works as the owner of the tables, without a service: it would keep, or fill, somebody else's
 * database. One that takes no writes can be kept.
 *
 * @throws ConfigError
 */
export async function assertOwnerOfOneDatabase(
  { databaseUrl: url, migrationDatabaseUrl }: Pick<Config, 'databaseUrl' | 'migrationDatabaseUrl'>,
  { isReader = false }: { readonly isReader?: boolean } = {},
): Promise<void> {
  if (url === undefined || migrationDatabaseUrl === undefined) return
  const network = new DatabaseNetwork()
  const service = { network, poolMax: 1, logError: () => undefined }
  const database = openDatabase<Schema>({ url }, service)
  const config = {
    databaseSessionUrl: undefined,
    reportingDatabaseUrl: undefined,
    migrationDatabaseUrl,
  }
  try {
    const readers = isReader ? [OWNER] : []
    await assertOneDatabase({ config, db: database.db, network, readers })
  } finally {
    await database.close()
  }
}

/*
 * Access to PostgreSQL: the pool, the query builder on it and how values are read. Owns connections
 * and their limits; does not own what the tables mean, nor where the server comes from
 * (`@heliograph/embedded-postgres`).
 */
import { Kysely, PostgresDialect, sql, type CompiledQuery, type PostgresPool } from 'kysely'
import { Pool, types } from 'pg'
import type { CustomTypesConfig, PoolConfig } from 'pg'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import type { DatabaseConnection } from './connection.ts'
import { DatabaseClient, type DatabaseClientConfig } from './database-client.ts'
import type { DatabaseNetwork } from './database-network.ts'
import { parseTime } from './parse-time.ts'
import { giveInTurns, PoolTurns } from './pool-turns.ts'
import {
  PreparedStatements,
  prepareStatements,
  type LogUnprepared,
  type PreparingPool,
} from './prepared-statements.ts'
import { ReplicaRouter, type ReplicaCounts } from './read-replica.ts'

export interface DatabaseOptions {
  /** That of the process: what it finds out about one connection counts for all. */
  readonly network: DatabaseNetwork
  /** The most connections that the pool opens. */
  readonly poolMax: number
  /** Told of connections that break while nobody uses them; the pool replaces them by itself. */
  readonly logError: (error: Error) => void
  /** Told when a pooler keeps no prepared statements. */
  readonly logUnprepared?: LogUnprepared
  /** Names the connections in `pg_stat_activity`; default `heliograph`. */
  readonly applicationName?: string
  /** After how long a statement is cancelled; default 30 seconds, 0 is never. */
  readonly statementTimeoutMs?: number
  /** A standby that answers what `readFromReplica` runs by `db`, while it is current. */
  readonly readReplica?: {
    readonly connection: DatabaseConnection
    readonly logProblem: (reason: string) => void
  }
}

/** A pool of connections to a database with these tables. */
export interface Database<Tables> {
  /** Plans each statement for its values, as lists need it: the best plan depends on what is searched. */
  readonly db: Kysely<Tables>
  /**
   * The same pool for statements that run over and over: a connection plans them once for all values.
   * For changes, queues and look-ups by key.
   */
  readonly preparedDb: Kysely<Tables>
  readonly pool: Pool
  /** Who answered the reads that a standby may answer; undefined where there is none. */
  readonly replicaCounts?: ReplicaCounts | undefined
  /** Waits for queries that run, then closes every connection. Safe to call twice. */
  close(): Promise<void>
}

const preparing = new WeakMap<object, unknown>()

/**
 * The same pool for a statement that runs over and over, where `db` is one of a `Database` that plans each anew;
 * `db` itself otherwise, as within a transaction.
 */
export function toPreparedDb<Tables>(db: Kysely<Tables>): Kysely<Tables> {
  return (preparing.get(db) as Kysely<Tables> | undefined) ?? db
}

const poolsOf = new WeakMap<object, PreparingPool>()

/** Whether statements by `db` may go along with others; not where a standby may answer, nor in a transaction. */
export function runsTogether(db: object): boolean {
  return poolsOf.has(db)
}

/** The most connections of a pool whose statements may go along with others; 0 elsewhere. */
export function connectionsMaxOf(db: object): number {
  return poolsOf.get(db)?.connectionsMax ?? 0
}

/**
 * Sends statements that run over and over in one message, by the connections of a `preparedDb`, each as a transaction
 * of its own and in their order. Answers the rows of each as soon as they are there. Elsewhere they run beside each
 * other.
 */
export function runInTurn<Tables>(
  db: Kysely<Tables>,
  statements: readonly CompiledQuery[],
): readonly Promise<readonly object[]>[] {
  const pool = poolsOf.get(db)
  if (pool !== undefined) return pool.runInTurn(statements)
  return statements.map(async (statement) => {
    const { rows } = await db.executeQuery<object>(statement)
    return rows
  })
}

const STATEMENT_TIMEOUT_MS = 30 * SECOND_MS
/** A transaction holds locks: one that its owner forgot is ended by the server. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = MINUTE_MS
/** Below that of a statement, so that whoever waits learns that somebody else holds what it needs. */
const LOCK_TIMEOUT_MS = 20 * SECOND_MS
/** How long the server may take to cancel a statement and say so. */
const CANCELLING_MAX_MS = 5 * SECOND_MS
/** How long a request waits for a free connection before it is refused as unavailable. */
const CONNECTION_TIMEOUT_MS = 10 * SECOND_MS
/** A standby that is away holds nobody up for long: the primary answers. */
const REPLICA_CONNECTION_TIMEOUT_MS = SECOND_MS
/** Connections move to where the name of the database leads at last, and give memory back to the server. */
const CONNECTION_AGE_MAX_SECONDS = 1_800

const DATE: number = types.builtins.DATE
const TIMESTAMPTZ: number = types.builtins.TIMESTAMPTZ

/**
 * Values as the service reads them: `bigint` and `numeric` as decimal strings because a number would
 * round them, `timestamptz` as Date, `date` as its text because it has no time zone.
 */
const valueTypes: CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === DATE && format !== 'binary') return (text: string): unknown => text
    if (oid === TIMESTAMPTZ && format !== 'binary') return parseTime
    return types.getTypeParser(oid, format) as (text: string) => unknown
  },
}

/**
 * Opens a pool of connections; connects at the first query, so a server that is down shows there.
 * Failures of the connection are recognised by `toUnavailable`.
 */
export function openDatabase<Tables>(
  connection: DatabaseConnection,
  options: DatabaseOptions,
): Database<Tables> {
  let closing: Promise<void> | undefined
  const pool = new Pool(toPoolConfig(connection, options))
  // Without a listener, a connection that breaks while idle would end the process. While the pool
  // closes, a server that stops too may be faster; nobody misses the connection then.
  pool.on('error', (error) => {
    if (closing === undefined) options.logError(error)
  })
  // Before the pool gives it to the next, who would lose it: what was refused ends with an answer of its own.
  pool.on('release', (_error, client) => {
    if (client instanceof DatabaseClient && client.isReplaceable) void client.close()
  })
  const turns = new PoolTurns({ max: options.poolMax, waitMaxMs: CONNECTION_TIMEOUT_MS })
  const shared = { options: pool.options, ...giveInTurns(pool, turns) }
  const replica = openReplica(options)
  const router = replica && new ReplicaRouter(shared, replica)
  const routed = router === undefined ? shared : { ...shared, connect: () => router.connect() }
  const db = openKysely<Tables>(routed)
  const prepared = new PreparedStatements(
    CONNECTION_AGE_MAX_SECONDS * SECOND_MS,
    options.logUnprepared ?? (() => undefined),
  )
  const preparingPool = prepareStatements(shared, prepared)
  const preparedDb = openKysely<Tables>(preparingPool)
  poolsOf.set(preparedDb, preparingPool)
  // Changes never meet a standby: what `db` reads does, prepared or not.
  preparing.set(db, router ? openKysely<Tables>(prepareStatements(routed, prepared)) : preparedDb)
  return {
    db,
    preparedDb,
    replicaCounts: router?.counts,
    pool,
    close() {
      closing ??= Promise.all([pool.end(), replica?.replica.end()]).then(() => undefined)
      return closing
    },
  }
}

function openKysely<Tables>(pool: PostgresPool): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/** The connections to the standby, which are as many as those to the primary at most. */
function openReplica(options: DatabaseOptions) {
  const { readReplica } = options
  if (readReplica === undefined) return undefined
  const replica = new Pool({
    ...toPoolConfig(readReplica.connection, options),
    connectionTimeoutMillis: REPLICA_CONNECTION_TIMEOUT_MS,
  })
  // One that breaks while idle is replaced when it is needed.
  replica.on('error', () => undefined)
  return { replica, logProblem: readReplica.logProblem }
}

/**
 * Rejects while the database does not answer, and when it meets a connection whose settings are not those that
 * it was opened with: statements that find no tables there fail although the server is well. Such a
 * connection is given its settings back.
 */
export async function pingDatabase<Tables>(db: Kysely<Tables>): Promise<void> {
  const changed = await db.connection().execute(async (connection) => {
    const { rows } = await sql<{ name: string }>`
      select name from pg_catalog.pg_settings
      where source = 'session' and setting is distinct from reset_val
        -- Poolers give a connection the name of whoever uses it.
        and name <> 'application_name'`.execute(connection)
    if (rows.length > 0) await sql`reset all`.execute(connection)
    return rows.map(({ name }) => name)
  })
  if (changed.length > 0) {
    throw new Error(`a database connection had other settings: ${changed.join(', ')}`)
  }
}

function toPoolConfig(
  connection: DatabaseConnection,
  options: DatabaseOptions,
): PoolConfig & DatabaseClientConfig {
  const { network, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options
  const silentMaxMs = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + CANCELLING_MAX_MS
  return {
    ...network.settings(connection, silentMaxMs),
    Client: DatabaseClient,
    isPooled: true,
    max: options.poolMax,
    maxLifetimeSeconds: CONNECTION_AGE_MAX_SECONDS,
    types: valueTypes,
    application_name: options.applicationName ?? 'heliograph',
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { inject } from 'vitest'
import { roleOf, toClientConfig } from '../../src/platform/db/connection.ts'
import { withDatabase } from './with-database.ts'
import type { DatabaseConnection } from '../../src/platform/db/connection.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import type { ReportingAccess } from '../../src/posture/reporting/sandbox/reporting-access.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { newSecret } from '../../src/platform/ids.ts'
import './test-postgres.ts'
import { DatabaseNetwork } from '../../src/platform/db/database-network.ts'

export interface TestDatabase {
  readonly db: Kysely<Schema>
  readonly pool: Pool
  /** For code that opens connections of its own, such as the listener. */
  readonly connection: DatabaseConnection
  readonly network: DatabaseNetwork
  /** For reporting queries. */
  readonly reporting: ReportingAccess
  /** Gives the database up. Throws when a connection to it is still open or checked out. */
  close(): Promise<void>
}

/** How long the server may take to see that a closed connection is closed. */
const DISCONNECT_MAX_MS = 3_000
const POLL_MS = 10

export interface TestDatabaseOptions {
  readonly poolMax?: number
  /** Without the schema, for tests of what makes one. */
  readonly isEmpty?: boolean
  /** The database to clone in place of the one that is only migrated. */
  readonly template?: string
  /** `now()` and `clock_timestamp()` are ahead by what `setTimeAhead` says. */
  readonly hasSettableClock?: boolean
}

/**
 * Stands before the `now()`, `statement_timestamp()` and `clock_timestamp()` of PostgreSQL on the search path, so that
 * statements of the product find it. The product knows nothing of it.
 */
const SETTABLE_CLOCK = `
  create schema test_clock;
  create table test_clock.ahead (ms float8 not null);
  insert into test_clock.ahead values (0);
  create function test_clock.now() returns timestamptz stable language sql as
    $$ select pg_catalog.now() + ms * interval '1 millisecond' from test_clock.ahead $$;
  create function test_clock.statement_timestamp() returns timestamptz stable language sql as
    $$ select pg_catalog.statement_timestamp() + ms * interval '1 millisecond' from test_clock.ahead $$;
  create function test_clock.clock_timestamp() returns timestamptz volatile language sql as
    $$ select pg_catalog.clock_timestamp() + ms * interval '1 millisecond' from test_clock.ahead $$;`

/** Sets how far the clock of a database with `hasSettableClock` is ahead of the time. */
export async function setTimeAhead({ pool }: TestDatabase, ms: number): Promise<void> {
  await pool.query('update test_clock.ahead set ms = $1', [ms])
}

/**
 * A database of its own for a test file, with the schema and no rows. Close it in `afterAll`:
 *
 *     const database = await createTestDatabase()
 *     afterAll(() => database.close())
 */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { administration, connection, reporting, keepsDatabases } = inject('postgres')
  const name = `test_${newSecret(9).toLowerCase().replaceAll('-', '_')}`
  const source = options.isEmpty === true ? 'template0' : options.template
  await withClient(administration, (client) => cloneDatabase(client, name, source))
  const own = withDatabase(connection, name)
  const ownReporting = withDatabase(reporting, name)
  if (options.hasSettableClock === true) {
    await withClient(own, (client) =>
      client.query(
        `${SETTABLE_CLOCK}; alter database "${name}" set search_path = test_clock, pg_catalog, public`,
      ),
    )
  }
  const network = new DatabaseNetwork()
  const opened = openDatabase<Schema>(own, {
    network,
    poolMax: options.poolMax ?? 10,
    logError: () => undefined,
    applicationName: 'heliograph test',
  })
  const { db, pool } = opened
  return {
    db,
    pool,
    connection: own,
    network,
    reporting: {
      connection: ownReporting,
      role: roleOf(ownReporting),
      ownPassword: undefined,
    },
    async close() {
      const checkedOut = pool.totalCount - pool.idleCount
      // A pool with a connection that nobody gives back would wait for ever.
      if (checkedOut === 0) await opened.close()
      await withClient(administration, async (client) => {
        const open = checkedOut === 0 ? await waitForDisconnect(client, name) : []
        if (!keepsDatabases) await client.query(`drop database "${name}" with (force)`)
        assertNoLeak(checkedOut, open)
      })
    },
  }
}

/** Copies a database, the migrated one by default, for the role of the service. */
export async function cloneDatabase(client: Client, name: string, source?: string): Promise<void> {
  const { role, template } = inject('postgres')
  await client.query(
    // Copying files takes 18 ms here where the default, copying through the log, takes 230.
    `create database "${name}" template "${source ?? template}" strategy file_copy encoding 'UTF8' owner "${role}"`,
  )
}

function assertNoLeak(checkedOut: number, open: readonly string[]): void {
  if (checkedOut > 0) throw new Error(`${checkedOut} connections were not given back to the pool`)
  if (open.length > 0) throw new Error(`Connections were left open: ${open.join('; ')}`)
}

/** The connections that are still open after a short while, each with its last statement. */
async function waitForDisconnect(client: Client, name: string): Promise<string[]> {
  const endMs = performance.now() + DISCONNECT_MAX_MS
  for (;;) {
    const { rows } = await client.query(
      `select application_name as application, query from pg_stat_activity
       where datname = $1 and backend_type = 'client backend'`,
      [name],
    )
    const open = rows as { application: string; query: string }[]
    if (open.length === 0 || performance.now() > endMs) {
      return open.map(({ application, query }) => `${application}: ${query}`)
    }
    await sleep(POLL_MS)
  }
}

export async function withClient<Result>(
  connection: DatabaseConnection,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client(toClientConfig(connection))
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

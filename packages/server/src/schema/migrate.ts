/*
 * Brings a database to the schema of this program: numbered SQL files, forward only, each applied in
 * one transaction and recorded with its checksum. Does not own what the tables mean.
 */
import type { Client } from 'pg'
import { join } from 'node:path'
import type { DatabaseConnection } from '../platform/db/connection.ts'
import { DatabaseClient } from '../platform/db/database-client.ts'
import { DatabaseNetwork } from '../platform/db/database-network.ts'
import type { DatabaseLog } from '../platform/db/database-log.ts'
import { errorCodeOf } from '../platform/error-code-of.ts'
import { FORMER_VERSION } from './former-version.ts'
import { LOCK_TIMEOUT_MS, withLocks } from './lock-tries.ts'
import { readMigrations } from './migration-files.ts'
import type { Migration } from './migration-files.ts'
import { MigrationError } from './migration-error.ts'
import { MIGRATION_LOCK } from './lock-keys.ts'
import { assertSchema, assertServer, ensureExtensions } from './server-requirements.ts'
import { hasUnfinishedRestore } from './unfinished-restore-store.ts'

export interface MigrateOptions {
  readonly log: DatabaseLog
  /** Where the SQL files are; default those of this program. */
  readonly folder?: string
  /** Stop after the migration of this number; default is the last one. */
  readonly upTo?: number
  /** Go on although a restore is not finished: it is the caller's. */
  readonly isRestoring?: boolean
  /** The newest migration of the version before; default that of `former-version.ts`. */
  readonly compatibleFrom?: number
}

/** What a database has once it is brought up to date. */
export interface Migrated {
  /** What was applied just now. */
  readonly applied: readonly Migration[]
  /** What a newer program has applied, beside which this one works. */
  readonly ahead: readonly AppliedMigration[]
}

/** The state of a database against the migrations of this program. */
export interface MigrationState {
  readonly applied: readonly Migration[]
  readonly pending: readonly Migration[]
  /** What a newer program has applied, beside which this one works. */
  readonly ahead: readonly AppliedMigration[]
}

const MIGRATIONS_FOLDER = join(import.meta.dirname, 'migrations')
/** A column, function or conversion that is not there, a value of another form, or no right to read it. */
const FOREIGN_LEDGER_CODES = /^(?:42703|42846|42883|42804|42809|42501|22)/
/** A table, object or function of the same name is there already. */
const TAKEN_NAME_CODES: ReadonlySet<string> = new Set(['42P07', '42710', '42723'])
const OWN_DATABASE =
  'Give the service a database of its own (create database heliograph) and let DATABASE_URL lead to it.'

const CREATE_LEDGER = `
  create table if not exists schema_migration (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now(),
    compatible_from integer
  )`
/** Databases of programs before it have none. */
const ADD_COMPATIBLE_FROM =
  'alter table schema_migration add column if not exists compatible_from integer'

/**
 * Applies every pending migration in order and answers what it found and did. Idempotent; several
 * processes may run it at the same time. Throws `MigrationError` when the server is too old, lacks an
 * extension or a right, has a changed migration, is newer than this program can work with, or holds a restore that
 * is not finished; nothing of a migration that fails is kept.
 */
export async function migrateDatabase(
  connection: DatabaseConnection,
  options: MigrateOptions,
): Promise<Migrated> {
  const { upTo = Number.POSITIVE_INFINITY, compatibleFrom = FORMER_VERSION.migration } = options
  const known = readMigrations(options.folder ?? MIGRATIONS_FOLDER)
  const migrations = known.filter(({ version }) => version <= upTo)
  return withClient(connection, async (client) => {
    await assertServer(client)
    await assertSchema(client)
    await ensureExtensions(client)
    if (options.isRestoring !== true) await assertNotRestoring(client)
    const applied: Migration[] = []
    for (;;) {
      const { next: migration, ahead } = await withLocks(() =>
        applyNext(client, migrations, compatibleFrom),
      )
      if (migration === undefined) return { applied, ahead }
      applied.push(migration)
      options.log.info({ migration: migration.name }, 'database.migration_applied')
    }
  })
}

/** Compares a database with the migrations of this program. Throws as `migrateDatabase` does. */
export async function readMigrationState(
  connection: DatabaseConnection,
  folder = MIGRATIONS_FOLDER,
): Promise<MigrationState> {
  const migrations = readMigrations(folder)
  return withClient(connection, async (client) => {
    await assertServer(client)
    const { rowCount } = await client.query(
      `select where to_regclass('schema_migration') is not null`,
    )
    const applied = rowCount === 0 ? [] : await readApplied(client)
    return compare(migrations, applied)
  })
}

/** The number of the newest migration that this program knows. */
export async function readKnownSchemaVersion(): Promise<number> {
  return readMigrations(MIGRATIONS_FOLDER).at(-1)?.version ?? 0
}

/**
 * Whether this program made, or can make, a schema of these migrations.
 *
 * @throws MigrationError when one of them is newer than this program can work with, or was changed since
 */
export async function assertMigrationsKnown(applied: readonly AppliedMigration[]): Promise<void> {
  compare(readMigrations(MIGRATIONS_FOLDER), applied)
}

async function withClient<Result>(
  connection: DatabaseConnection,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  // A migration takes the time that it takes.
  const client = new DatabaseClient({
    ...new DatabaseNetwork().settings(connection, 0),
    application_name: 'heliograph migrate',
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** What was given out since the backup would be given out again, and receivers would not learn what is so. */
async function assertNotRestoring(client: Client): Promise<void> {
  if (!(await hasUnfinishedRestore(client))) return
  throw new MigrationError(
    'A restore into this database was not finished, so that it cannot be used. Make it anew (drop database, create database) and restore again.',
  )
}

/** The lock lives as long as the transaction, so it works behind a connection pooler too. */
async function applyNext(
  client: Client,
  migrations: readonly Migration[],
  compatibleFrom: number,
): Promise<{ next: Migration | undefined; ahead: readonly AppliedMigration[] }> {
  await client.query('begin')
  try {
    await client.query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    await client.query(CREATE_LEDGER)
    const { pending, ahead } = compare(migrations, await readApplied(client))
    const [next] = pending
    if (next !== undefined) await apply(client, next, compatibleFrom)
    await client.query('commit')
    return { next, ahead }
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

async function apply(client: Client, migration: Migration, compatibleFrom: number): Promise<void> {
  try {
    await client.query(
      `set local statement_timeout = 0; set local lock_timeout = ${LOCK_TIMEOUT_MS}`,
    )
    await client.query(migration.sql)
    await client.query(ADD_COMPATIBLE_FROM)
  } catch (error) {
    const advice = TAKEN_NAME_CODES.has(errorCodeOf(error)) ? `. ${OWN_DATABASE}` : ''
    throw new MigrationError(
      `The migration ${migration.name} failed, and nothing of it was kept: ${describe(error)}${advice}`,
      { cause: error },
    )
  }
  await client.query(
    'insert into schema_migration (version, name, checksum, compatible_from) values ($1, $2, $3, $4)',
    [migration.version, migration.name, migration.checksum, compatibleFrom],
  )
}

/** A migration as a database remembers it. */
export interface AppliedMigration {
  readonly version: number
  readonly name: string
  readonly checksum: string
  /** A program that knows the migrations up to this number works beside it; none other when absent. */
  readonly compatibleFrom?: number | null
}

async function readApplied(client: Client): Promise<AppliedMigration[]> {
  try {
    const { rows } = await client.query(
      // By name, because the ledger of a program before it has no such column.
      `select version::integer, name::text, checksum::text,
         (to_jsonb(m) ->> 'compatible_from')::integer as "compatibleFrom"
       from schema_migration m order by version`,
    )
    return rows as AppliedMigration[]
  } catch (error) {
    if (!FOREIGN_LEDGER_CODES.test(errorCodeOf(error))) throw error
    throw new MigrationError(
      `The database has a table schema_migration that another program uses (${describe(error)}). ${OWN_DATABASE}`,
      { cause: error },
    )
  }
}

function compare(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): MigrationState {
  const known = new Map(migrations.map((migration) => [migration.version, migration]))
  const newest = migrations.at(-1)
  const ahead: AppliedMigration[] = []
  for (const row of applied) {
    const migration = known.get(row.version)
    if (migration === undefined) {
      const { compatibleFrom = null } = row
      if (compatibleFrom === null || compatibleFrom > (newest?.version ?? 0)) {
        throw newerDatabase(row, newest)
      }
      ahead.push(row)
      continue
    }
    if (migration.checksum !== row.checksum) {
      throw new MigrationError(
        `The migration ${row.name} was changed after it had been applied to this database. Run the version of the program that belongs to the database, or restore the file.`,
      )
    }
  }
  const done = new Set(applied.map((row) => row.version))
  return {
    applied: migrations.filter((migration) => done.has(migration.version)),
    pending: migrations.filter((migration) => !done.has(migration.version)),
    ahead,
  }
}

function newerDatabase(
  { name, compatibleFrom = null }: AppliedMigration,
  newest: Migration | undefined,
): MigrationError {
  const needed =
    compatibleFrom === null ? '' : `, beside which programs work that know number ${compatibleFrom}`
  return new MigrationError(
    `The database is newer than this program: it has the migration ${name}${needed}, and the newest that this program knows is ${newest?.name ?? 'none'}. Run the newer program, or the version just before it.`,
  )
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

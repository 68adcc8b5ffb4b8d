/*
 * What a database must be and have before its schema is made, each told with what mends it. Does not own the schema.
 */
import { sql, type Kysely } from 'kysely'
import { escapeIdentifier, type Client } from 'pg'
import { findDatabaseFault } from '../platform/db/database-fault.ts'
import { MigrationError } from './migration-error.ts'
import type { Schema } from './schema.ts'

/**
 * Extensions that the schema needs, all of them part of PostgreSQL: substring search in indexes, and
 * indexes that hold such a search together with ordinary columns.
 */
const REQUIRED_EXTENSIONS: readonly string[] = ['pg_trgm', 'btree_gin']
const OLDEST_SERVER_VERSION = 150_000

interface Server {
  readonly version: number
  readonly text: string
  readonly encoding: string
  readonly is_new: boolean
  readonly knows_letters: boolean
}

/**
 * @throws MigrationError for a server that is too old, a database that cannot hold every text, and a new one that does
 * not take the capital of a letter of ASCII for that letter, as Turkish does: addresses would not be found
 */
export async function assertServer(client: Client): Promise<void> {
  const { rows } = await client.query<Server>(
    `select current_setting('server_version_num')::int as version,
            current_setting('server_version') as text,
            current_setting('server_encoding') as encoding,
            to_regclass('public.schema_migration') is null as is_new,
            lower('I') = 'i' and upper('i') = 'I' as knows_letters`,
  )
  const [server] = rows
  if (server === undefined) throw new Error('The server did not tell its version')
  if (server.version < OLDEST_SERVER_VERSION) {
    throw new MigrationError(
      `The database is PostgreSQL ${server.text}; version 15 or newer is needed.`,
    )
  }
  if (server.encoding !== 'UTF8') {
    throw new MigrationError(
      `The database has the encoding ${server.encoding}. Create it with encoding UTF8.`,
    )
  }
  if (server.is_new && !server.knows_letters) {
    throw new MigrationError(
      'In the locale of the database the small letter of I is not i, so that addresses would not be found. Create it with another one: create database heliograph template template0 locale_provider icu icu_locale "und" locale "C.UTF-8";',
    )
  }
}

interface SchemaState {
  readonly role: string
  readonly database: string
  readonly exists: boolean
  readonly current: string | null
  readonly can_create: boolean
}

/**
 * Migrations and rights name the schema `public`. Asked each time: a schema of the name of the role, or another
 * search_path, may have come since, and everything would be made anew there. Rights on the database are needed for the
 * first migration alone.
 *
 * @throws MigrationError where tables would be made in another schema, or cannot be made
 */
export async function assertSchema(client: Client): Promise<void> {
  const { rows } = await client.query<SchemaState>(
    `select current_user as role, current_database() as database, current_schema() as current,
            to_regnamespace('public') is not null as exists,
            coalesce(has_schema_privilege(to_regnamespace('public')::oid, 'create'), false)
              and (has_database_privilege(current_database(), 'create')
                or to_regclass('public.schema_migration') is not null) as can_create`,
  )
  const [state] = rows
  if (state === undefined) throw new Error('The server did not tell its schema')
  const [role, database] = [escapeIdentifier(state.role), escapeIdentifier(state.database)]
  if (!state.exists) {
    throw new MigrationError(
      `The database has no schema public, in which the service keeps its tables. Have its owner run in it: create schema public authorization ${role};`,
    )
  }
  if (!state.can_create) {
    throw new MigrationError(
      `The role ${state.role} may not make tables in the schema public of the database ${state.database}. Let it own the database: alter database ${database} owner to ${role}; where the schema belongs to another role: alter schema public owner to ${role};`,
    )
  }
  if (state.current === 'public') return
  throw new MigrationError(
    `The service keeps its tables in the schema public, and what the role ${state.role} makes would be in ${state.current ?? 'none'}, as its search_path says. ${toSearchPathAdvice(state)}`,
  )
}

function toSearchPathAdvice({ role, database }: Pick<SchemaState, 'role' | 'database'>): string {
  return `Run in this database: alter role ${escapeIdentifier(role)} in database ${escapeIdentifier(database)} set search_path = public;`
}

/**
 * The role of the service may look elsewhere than the owner, who has made the tables by now.
 *
 * @throws MigrationError where the tables of the service are not those that its statements find
 */
export async function assertTablesFound(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ role: string; database: string }>`
    select current_user as role, current_database() as database
    where to_regclass('schema_migration') is distinct from to_regclass('public.schema_migration')`.execute(
    db,
  )
  for (const state of rows) {
    throw new MigrationError(
      `The role ${state.role} does not look for tables in the schema public, as its search_path says. ${toSearchPathAdvice(state)}`,
    )
  }
}

/** Says before anything else what only an administrator of the server can mend. */
export async function ensureExtensions(client: Client): Promise<void> {
  for (const extension of REQUIRED_EXTENSIONS) {
    try {
      await client.query(`create extension if not exists ${escapeIdentifier(extension)}`)
    } catch (error) {
      if (findDatabaseFault(error) !== undefined) throw error
      // Two processes that create it at once collide in the catalogue; then it exists.
      if (await hasExtension(client, extension)) continue
      throw new MigrationError(
        `The database needs the extension ${extension}, which this role cannot create (${error instanceof Error ? error.message : String(error)}). Have an administrator of the server run in this database: create extension ${extension};`,
        { cause: error },
      )
    }
    await assertExtensionFound(client, extension)
  }
}

/** One that a provider keeps in a schema of its own is of use only where that is looked through. */
async function assertExtensionFound(client: Client, extension: string): Promise<void> {
  const { rows } = await client.query<{ schema: string }>(
    `select nspname as schema from pg_extension join pg_namespace n on n.oid = extnamespace
     where extname = $1 and nspname <> all (current_schemas(true))
       and to_regclass('public.schema_migration') is null`,
    [extension],
  )
  for (const { schema } of rows) {
    throw new MigrationError(
      `The extension ${extension} is in the schema ${schema}, where this role does not look for it. Have an administrator of the server run in this database: alter extension ${extension} set schema public;`,
    )
  }
}

async function hasExtension(client: Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_extension where extname = $1', [name])
  return rowCount === 1
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, inject, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import type { TestDatabase } from '../../test/support/database.ts'
import { withDatabase } from '../../test/support/with-database.ts'
import { escapeIdentifier } from 'pg'
import { toClientConfig, type DatabaseConnection } from '../platform/db/connection.ts'
import { DatabaseClient } from '../platform/db/database-client.ts'
import { findDatabaseFault } from '../platform/db/database-fault.ts'
import { migrateDatabase, readMigrationState } from './migrate.ts'
import { FORMER_VERSION } from './former-version.ts'
import { MigrationError } from './migration-error.ts'

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}
const folders: string[] = []
let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase({ isEmpty: true })
})
afterEach(() => database.close())
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

async function writeMigrations(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-migrations-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

async function migrate(folder: string): Promise<string[]> {
  const { applied } = await migrateDatabase(database.connection, { log, folder })
  return applied.map((migration) => migration.name)
}

const FIRST = 'create table first (id integer);'
const SECOND = 'create table second (id integer);'

test('applies what is pending, in order, once', async () => {
  const one = await writeMigrations({ '0001_first.sql': FIRST })
  expect(await migrate(one)).toEqual(['0001_first'])
  const two = await writeMigrations({ '0002_second.sql': SECOND, '0001_first.sql': FIRST })
  expect((await readMigrationState(database.connection, two)).pending).toMatchObject([
    { name: '0002_second' },
  ])
  expect(await migrate(two)).toEqual(['0002_second'])
  expect(await migrate(two)).toEqual([])
  await database.pool.query('select from first, second')
})

test('a migration that waits for a table keeps nobody from it, and is applied when it is free', async () => {
  await migrate(await writeMigrations({ '0001_first.sql': FIRST }))
  const reader = await database.pool.connect()
  try {
    await reader.query('begin; select from first')
    const two = await writeMigrations({
      '0001_first.sql': FIRST,
      '0002_column.sql': 'alter table first add column name text;',
    })
    const migrated = migrate(two)
    await expect
      .poll(async () => {
        const { rows } = await database.pool.query<{ count: number }>(
          `select count(*)::int as count from pg_locks where not granted
             and database = (select oid from pg_database where datname = current_database())`,
        )
        return rows[0]?.count
      })
      .toBe(1)
    // Behind the migration, which gives up before the one before it is done.
    await database.pool.query('select from first')
    await reader.query('commit')
    expect(await migrated).toEqual(['0002_column'])
  } finally {
    reader.release(true)
  }
})

test('accepts a folder without migrations, and one that does not exist', async () => {
  expect(await migrate(await writeMigrations({}))).toEqual([])
  expect(await migrate('/nonexistent/migrations')).toEqual([])
})

test('applies each migration once when many processes start together', async () => {
  const folder = await writeMigrations({ '0001_first.sql': FIRST, '0002_second.sql': SECOND })
  const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(folder)))
  expect(applied.flat().sort()).toEqual(['0001_first', '0002_second'])
})

test('keeps nothing of a migration that fails, and says which', async () => {
  const folder = await writeMigrations({
    '0001_first.sql': FIRST,
    '0002_broken.sql': 'create table half (id integer); select no_such_function();',
  })
  await expect(migrate(folder)).rejects.toThrow(/0002_broken failed.*no_such_function/)
  const state = await readMigrationState(database.connection, folder)
  expect(state.applied).toMatchObject([{ name: '0001_first' }])
  await expect(database.pool.query('select from half')).rejects.toThrow('does not exist')
})

test('refuses a migration that was changed after it had been applied', async () => {
  await migrate(await writeMigrations({ '0001_first.sql': FIRST }))
  const changed = await writeMigrations({ '0001_first.sql': `${FIRST} -- changed` })
  await expect(migrate(changed)).rejects.toThrow(/0001_first was changed/)
})

test('takes a migration as unchanged when only its line endings differ', async () => {
  await migrate(await writeMigrations({ '0001_first.sql': 'create table first\n(id integer);\n' }))
  const folder = await writeMigrations({
    '0001_first.sql': 'create table first\r\n(id integer);\r\n',
  })
  expect(await migrate(folder)).toEqual([])
})

test('refuses a database that is newer than the program', async () => {
  await migrate(await writeMigrations({ '0001_first.sql': FIRST, '0002_second.sql': SECOND }))
  const older = await writeMigrations({ '0001_first.sql': FIRST })
  await expect(migrate(older)).rejects.toThrow(/newer than this program.*0002_second/)
  await expect(readMigrationState(database.connection, older)).rejects.toThrow(MigrationError)
})

test('goes on beside the schema of the next version, and refuses that of the one after it', async () => {
  const third = { '0003_third.sql': 'create table third (id integer);' }
  const one = await writeMigrations({ '0001_first.sql': FIRST })
  const two = await writeMigrations({ '0001_first.sql': FIRST, '0002_second.sql': SECOND })
  const three = await writeMigrations({
    '0001_first.sql': FIRST,
    '0002_second.sql': SECOND,
    ...third,
  })
  const migrateAs = (folder: string, compatibleFrom: number) =>
    migrateDatabase(database.connection, { log, folder, compatibleFrom })

  await migrateAs(one, 0)
  await migrateAs(two, 1)
  const ahead = [{ name: '0002_second' }]
  expect(await migrateAs(one, 0)).toMatchObject({ applied: [], ahead })
  expect(await readMigrationState(database.connection, one)).toMatchObject({ ahead })

  await migrateAs(three, 2)
  expect(await migrateAs(two, 1)).toMatchObject({ applied: [], ahead: [{ name: '0003_third' }] })
  await expect(migrateAs(one, 0)).rejects.toThrow(
    /newer than this program.*0003_third.*know number 2.*0001_first.*the version just before it/,
  )
  await expect(readMigrationState(database.connection, one)).rejects.toThrow(MigrationError)
})

test('refuses a newer database of a program that did not say what works beside it', async () => {
  const one = await writeMigrations({ '0001_first.sql': FIRST })
  await migrate(one)
  await database.pool.query('alter table schema_migration drop column compatible_from')
  await database.pool.query(
    `insert into schema_migration (version, name, checksum) values (2, '0002_second', 'any')`,
  )
  await expect(migrate(one)).rejects.toThrow(/newer than this program.*0002_second/)
})

test('notes what works beside a migration in a database of a program that did not', async () => {
  const one = await writeMigrations({ '0001_first.sql': FIRST })
  await migrate(one)
  await database.pool.query('alter table schema_migration drop column compatible_from')
  const two = await writeMigrations({ '0001_first.sql': FIRST, '0002_second.sql': SECOND })
  await migrateDatabase(database.connection, { log, folder: two, compatibleFrom: 1 })
  expect(await migrate(one)).toEqual([])
})

test('names a migration of its own as the newest one of the version before', async () => {
  await migrateDatabase(database.connection, { log, upTo: FORMER_VERSION.migration })
  const { applied } = await readMigrationState(database.connection)
  expect(applied.at(-1)?.version).toBe(FORMER_VERSION.migration)
})

test.each([
  ['a gap', { '0001_first.sql': FIRST, '0003_third.sql': SECOND }],
  ['a number that is used twice', { '0001_first.sql': FIRST, '0001_second.sql': SECOND }],
  ['a name without a number', { 'first.sql': FIRST }],
])('refuses a folder with %s', async (_, files) => {
  await expect(migrate(await writeMigrations(files))).rejects.toThrow(MigrationError)
})

test.each([
  ['other columns', 'create table schema_migration (id text primary key, applied timestamptz)'],
  [
    'versions that are no numbers',
    `create table schema_migration (version text, name text, checksum text);
    insert into schema_migration values ('20260101-first', 'first', 'none')`,
  ],
  ['the shape of a view', `create view schema_migration as select 'x'::text as version`],
])('says what to do about a schema_migration of another program with %s', async (_, foreign) => {
  await database.pool.query(foreign)
  const folder = await writeMigrations({ '0001_first.sql': FIRST })
  await expect(migrate(folder)).rejects.toThrow(/another program uses.*a database of its own/)
  await expect(readMigrationState(database.connection, folder)).rejects.toThrow(MigrationError)
})

test('says what to do about tables of another program', async () => {
  await database.pool.query('create table first (name text)')
  const folder = await writeMigrations({ '0001_first.sql': FIRST })
  await expect(migrate(folder)).rejects.toThrow(/already exists\. .*a database of its own/)
})

test.each([
  [
    'a schema of the name of the role',
    ['create schema authorization current_user'],
    /alter role .* set search_path = public/,
  ],
  ['no schema public', ['drop schema public'], /create schema public authorization/],
  [
    'no right to make tables',
    [
      'alter schema public owner to pg_database_owner',
      'revoke create on schema public from public, current_user, pg_database_owner',
    ],
    /alter database .* owner to/,
  ],
  [
    'an extension in another schema',
    [
      'create schema elsewhere',
      'drop extension if exists pg_trgm',
      'create extension pg_trgm schema elsewhere',
    ],
    /alter extension pg_trgm set schema public/,
  ],
])(
  'begins nothing in a database with %s, and says what mends it',
  async (_what, statements, advice) => {
    for (const statement of statements) await database.pool.query(statement)
    const folder = await writeMigrations({ '0001_first.sql': FIRST })
    await expect(migrate(folder)).rejects.toThrow(advice)
    await expect(migrate(folder)).rejects.toThrow(MigrationError)
    const { rows } = await database.pool.query(
      "select from pg_class where relname = 'schema_migration'",
    )
    expect(rows).toEqual([])
  },
)

test.each([
  [
    'a schema of the name of the role',
    ['create schema authorization current_user'],
    /alter role .* set search_path = public/,
  ],
  [
    'no right to make tables any more',
    [
      'alter schema public owner to pg_database_owner',
      'revoke create on schema public from public, current_user, pg_database_owner',
    ],
    /may not make tables in the schema public/,
  ],
])(
  'makes nothing anew elsewhere in a database that has got %s since, and says what mends it',
  async (_what, statements, advice) => {
    await migrate(await writeMigrations({ '0001_first.sql': FIRST }))
    for (const statement of statements) await database.pool.query(statement)
    const later = await writeMigrations({ '0001_first.sql': FIRST, '0002_second.sql': SECOND })
    await expect(migrate(later)).rejects.toThrow(advice)
    await expect(migrate(later)).rejects.toThrow(MigrationError)
    const { rows } = await database.pool.query(
      "select relnamespace::regnamespace::text as schema from pg_class where relname in ('schema_migration', 'first')",
    )
    expect(rows).toEqual([{ schema: 'public' }, { schema: 'public' }])
  },
)

test('begins nothing in a database in which the small letter of I is another one than for addresses', async () => {
  const { administration, role } = inject('postgres')
  const name = `test_turkish_${String(process.pid)}`
  const locale = `locale_provider icu icu_locale 'tr' locale 'C'`
  await execute(
    administration,
    `create database ${name} template template0 encoding 'UTF8' ${locale} owner "${role}"`,
  )
  try {
    const folder = await writeMigrations({ '0001_first.sql': FIRST })
    const turkish = withDatabase(database.connection, name)
    await expect(migrateDatabase(turkish, { log, folder })).rejects.toThrow(
      /locale.*create database/,
    )
    await expect(migrateDatabase(turkish, { log, folder })).rejects.toThrow(MigrationError)
  } finally {
    await execute(administration, `drop database ${name} with (force)`)
  }
})

/** As the role that may create databases. */
async function execute(connection: DatabaseConnection, statement: string): Promise<void> {
  const client = new DatabaseClient(toClientConfig(connection))
  await client.connect()
  await client.query(statement).finally(() => client.close())
}

test('says of a server that only reads that it does, and not that it is away', async () => {
  const { user, ...others } = toClientConfig(database.connection)
  await database.pool.query(
    `alter role ${escapeIdentifier(user ?? '')} in database ${escapeIdentifier(others.database ?? '')} set default_transaction_read_only = on`,
  )
  const failure: unknown = await migrate(await writeMigrations({ '0001_first.sql': FIRST })).catch(
    (error: unknown) => error,
  )
  expect(findDatabaseFault(failure)).toMatchObject({ kind: 'read_only' })
})

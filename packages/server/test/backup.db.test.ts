/*
 * Backup and restore between external databases: an installation of an older version with rows in every table is
 * backed up, and restored by this program into an empty database, where it is brought up to date.
 */
import { copyFile, cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dumpSchema } from '../generate/dump-schema.ts'
import { backUpService } from '../src/app/backup/back-up-service.ts'
import { restoreService, type RestoredBackup } from '../src/app/backup/restore-service.ts'
import { loadConfig } from '../src/app/config/load-config.ts'
import { verifyAuditChain } from '../src/changes/audit/verify-audit-chain.ts'
import { openBackup } from '../src/platform/backup/backup-files.ts'
import { loadBackup } from '../src/platform/backup/load-backup.ts'
import { HOUR_MS } from '../src/platform/clock.ts'
import { toClientConfig } from '../src/platform/db/connection.ts'
import { migrateDatabase } from '../src/schema/migrate.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { toUrl } from './support/to-url.ts'

const OLD_MIGRATIONS = 18
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
const PASSPHRASE = 'a passphrase of a test'
/** What a restore changes on purpose, and what is not kept: unlogged tables. */
const CHANGED_TABLES = [
  'audit_entry',
  'audit_pending',
  'organisation',
  'rate_limit',
  'rate_limit_slot',
  'ssf_stream_sequence',
]
/** Devices that nothing was reported on gain a result of the checks of other systems. */
const COUNTED_ANEW = ['check_counter', 'check_result']
const CHANGED_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  delivery: ['event_id', 'body'],
  device: ['checks_ran_at'],
}
const nothing = () => undefined
const LOG = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const TASK = { onProgress: nothing, signal: new AbortController().signal, passphrase: PASSPHRASE }

let folder: string
let source: TestDatabase
let target: TestDatabase
let restored: RestoredBackup

const backupFolder = () => join(folder, 'backup')

/** A data folder of its own, so that keys come from the setting or the backup alone. */
const configOf = (database: TestDatabase, environment: Record<string, string> = {}) =>
  loadConfig({
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_DATA_DIR: join(folder, `data-${newName()}`),
    ...environment,
  })

let names = 0
const newName = () => String((names += 1))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heliograph-backup-'))
  source = await createTestDatabase({ isEmpty: true })
  target = await createTestDatabase({ isEmpty: true })
  await migrateDatabase(source.connection, { log: LOG, folder: await copyOldMigrations() })
  const fixture = join(import.meta.dirname, 'fixtures', 'schema-0018.sql.gz')
  await source.pool.query(gunzipSync(await readFile(fixture)).toString())
  const config = configOf(source, { HELIOGRAPH_MASTER_KEY: MASTER_KEY })
  await backUpService(config, { ...TASK, folder: backupFolder() })
  restored = await restoreService(configOf(target), { ...TASK, folder: backupFolder() })
})

afterAll(async () => {
  await source.close()
  await target.close()
  await rm(folder, { recursive: true, force: true })
})

it('restores every row of every table as it was', async () => {
  const tables = await listTables(source)
  expect(tables.length).toBeGreaterThan(50)
  for (const { name, columns } of tables) {
    if (CHANGED_TABLES.includes(name)) continue
    const kept = columns.filter((column) => !(CHANGED_COLUMNS[name] ?? []).includes(column))
    const expected = await readRows(source, name, kept)
    expect(expected.length, name).toBeGreaterThan(0)
    const present = await readRows(target, name, kept)
    if (COUNTED_ANEW.includes(name)) expect(present, name).toEqual(expect.arrayContaining(expected))
    else expect(present, name).toEqual(expected)
  }
})

it('leaves the schema as migrations make it', async () => {
  const expected = await readFile(join(import.meta.dirname, '../schema.sql'), 'utf8')
  expect(expected).toContain((await dumpSchema(target.db)).slice(0, 5_000))
  const fresh = await createTestDatabase()
  expect(await dumpSchema(target.db)).toBe(await dumpSchema(fresh.db))
  await fresh.close()
})

it('has every trigger of the schema switched on as it was', async () => {
  const triggers = `
    select tgrelid::regclass::text, tgname, tgenabled from pg_trigger join pg_class on pg_class.oid = tgrelid
    where not tgisinternal and (relnamespace = 'public'::regnamespace or tgenabled = 'D') order by 1, 2`
  const fresh = await createTestDatabase()
  const { rows } = await fresh.pool.query(triggers)
  await fresh.close()
  expect(rows.length).toBeGreaterThan(0)
  expect((await target.pool.query(triggers)).rows).toEqual(rows)
})

it('says in the audit log, which goes on whole, what was restored', async () => {
  expect(await verifyAuditChain(target.db)).toMatchObject({
    isWhole: true,
    entryCount: restored.auditEntries + 1,
  })
  const { rows } = await target.pool.query<{ action: string; after: Record<string, unknown> }>(
    'select action, after from audit_entry order by sequence desc limit 1',
  )
  expect(rows[0]).toMatchObject({
    action: 'database.restored',
    after: {
      backup_id: restored.backupId,
      backup_taken_at: restored.takenAt,
      audit_entries: restored.auditEntries,
    },
  })
})

describe('what was given out before', () => {
  it('is given to nothing else: ids and numbers of events go on far above', async () => {
    const least = BigInt(restored.numbersFrom)
    const { rows } = await target.pool.query<{ name: string; value: string | null }>(
      `select seqrelid::regclass::text as name, pg_sequence_last_value(seqrelid)::text as value from pg_sequence`,
    )
    for (const { name, value } of rows)
      expect(BigInt(value ?? 0), name).toBeGreaterThanOrEqual(least)
    const numbers = await target.pool.query<{ last_sequence: string }>(
      'select last_sequence from ssf_stream_sequence',
    )
    const streams = await target.pool.query('select from ssf_stream')
    expect(numbers.rowCount).toBe(streams.rowCount)
    for (const { last_sequence: last } of numbers.rows) expect(BigInt(last)).toBe(least)
  })

  it('keeps its jti only with the same content', async () => {
    const waiting = `select event_id, body, sequence, token from delivery d
      where state = 'queued' and exists (select from ssf_stream s where s.destination_id = d.destination_id and s.is_numbered)
      order by id`
    interface Row {
      readonly event_id: string
      readonly body: string
      readonly sequence: string | null
      readonly token: string | null
    }
    const before = (await source.pool.query<Row>(waiting)).rows
    const after = (await target.pool.query<Row>(waiting)).rows
    expect(after.length).toBe(before.length)
    expect(before.some(({ sequence, token }) => sequence === null && token === null)).toBe(true)
    for (const [index, { event_id: id, body, sequence, token }] of before.entries()) {
      const now = after[index]
      const isFree = sequence === null && token === null
      expect(now?.event_id === id).toBe(!isFree)
      expect(now?.body).toBe(body.replace(id, now?.event_id ?? ''))
    }
  })

  it('is told anew by every stream that is not disabled', async () => {
    const { rows } = await target.pool.query(`select ssf_stream_id from ssf_restatement order by 1`)
    const streams = await target.pool.query(
      `select id as ssf_stream_id from ssf_stream where status <> 'disabled' order by 1`,
    )
    expect(rows).toEqual(streams.rows)
    expect(restored.streamCount).toBe(rows.length)
  })
})

describe('a restore is refused, and touches nothing,', () => {
  let empty: TestDatabase
  beforeAll(async () => {
    empty = await createTestDatabase({ isEmpty: true })
  })
  afterAll(async () => {
    expect(await listTables(empty)).toEqual([])
    await empty.close()
  })

  const restore = (folderOfBackup: string, options: { passphrase?: string } = {}) =>
    restoreService(configOf(empty), { ...TASK, folder: folderOfBackup, ...options })

  /** The files that describe the backup, the first table and the last one. */
  async function listFiles(): Promise<string[]> {
    const files = (await readdir(backupFolder())).sort()
    const tables = files.filter((file) => file.startsWith('table-'))
    const others = files.filter((file) => !tables.includes(file))
    expect(others).toEqual(['SHA256SUMS', 'keys.json', 'manifest.json'])
    return [...others, ...tables.slice(0, 1), ...tables.slice(-1)]
  }

  async function copyOfBackup(): Promise<string> {
    const copy = join(folder, `copy-${newName()}`)
    await cp(backupFolder(), copy, { recursive: true })
    return copy
  }

  it('with a wrong passphrase, none, or another master key', async () => {
    await expect(restore(backupFolder(), { passphrase: 'another passphrase' })).rejects.toThrow(
      'The passphrase is not that of this backup',
    )
    const other = { HELIOGRAPH_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') }
    await expect(
      restoreService(configOf(empty, other), { ...TASK, folder: backupFolder() }),
    ).rejects.toThrow('is not the one of this backup')
    await expect(
      restoreService(configOf(empty), { ...TASK, passphrase: undefined, folder: backupFolder() }),
    ).rejects.toThrow('give --passphrase-file')
  })

  it('when any byte of any file is another one', async () => {
    for (const file of await listFiles()) {
      const copy = await copyOfBackup()
      const bytes = await readFile(join(copy, file))
      const at = Math.floor(bytes.length / 2)
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      await writeFile(join(copy, file), bytes)
      await expect(restore(copy), file).rejects.toThrow('This backup cannot be used')
      await rm(copy, { recursive: true })
    }
  })

  it('when any file is cut or missing', async () => {
    for (const file of await listFiles()) {
      const copy = await copyOfBackup()
      const { length } = await readFile(join(copy, file))
      await truncate(join(copy, file), length - 1)
      await expect(restore(copy), `${file} cut`).rejects.toThrow('This backup cannot be used')
      await rm(join(copy, file))
      await expect(restore(copy), `${file} missing`).rejects.toThrow('This backup cannot be used')
      await rm(copy, { recursive: true })
    }
  })

  it('when there are rows already', async () => {
    await expect(
      restoreService(configOf(target), { ...TASK, folder: backupFolder() }),
    ).rejects.toThrow('has rows already')
  })

  it('when a service works with the database', async () => {
    const client = new Client({
      ...toClientConfig(empty.connection),
      application_name: 'heliograph listener',
    })
    await client.connect()
    await expect(restore(backupFolder())).rejects.toThrow('A service works with this database')
    await client.end()
  })

  it('from a program that is newer', async () => {
    const copy = await copyOfBackup()
    const path = join(copy, 'manifest.json')
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('"format_version": 2', '"format_version": 3'))
    await expect(restore(copy)).rejects.toThrow('is not what was written')
  })
})

it('leaves a database that nothing works with when it ends half-way', async () => {
  const half = await createTestDatabase({ isEmpty: true })
  await expect(
    restoreService(configOf(half), {
      ...TASK,
      folder: backupFolder(),
      onProgress: (text) => {
        if (text.startsWith('Bringing the schema up to date')) throw new Error('killed')
      },
    }),
  ).rejects.toThrow('killed')
  const { rowCount } = await half.pool.query('select from device')
  expect(rowCount).toBeGreaterThan(0)
  await expect(migrateDatabase(half.connection, { log: LOG })).rejects.toThrow(
    'A restore into this database was not finished',
  )
  await half.close()
})

it('is refused where the clock is behind the backup', async () => {
  const behind = await createTestDatabase({ isEmpty: true })
  await migrateDatabase(behind.connection, { log: LOG, upTo: OLD_MIGRATIONS })
  const backup = await openBackup(backupFolder())
  const takenAt = new Date(Date.now() + HOUR_MS).toISOString()
  const ahead = { ...backup, manifest: { ...backup.manifest, taken_at: takenAt } }
  await expect(loadBackup(ahead, { ...TASK, connection: behind.connection })).rejects.toThrow(
    'The clock of the database is behind',
  )
  await behind.close()
})

it('does not overwrite a backup, and leaves nothing when it is stopped', async () => {
  const config = configOf(source, { HELIOGRAPH_MASTER_KEY: MASTER_KEY })
  await expect(backUpService(config, { ...TASK, folder: backupFolder() })).rejects.toThrow(
    'is not overwritten',
  )
  const stopping = new AbortController()
  const stopped = backUpService(config, {
    ...TASK,
    folder: join(folder, 'stopped'),
    signal: stopping.signal,
    onProgress: () => stopping.abort(),
  })
  await expect(stopped).rejects.toThrow()
  expect((await readdir(folder)).filter((name) => name.startsWith('stopped'))).toEqual([])
})

it('neither keeps nor fills a database of which the service would know nothing', async () => {
  const empty = await createTestDatabase({ isEmpty: true })
  try {
    const ownerOf = (database: TestDatabase) => ({
      HELIOGRAPH_MASTER_KEY: MASTER_KEY,
      HELIOGRAPH_MIGRATION_DATABASE_URL: toUrl(database.connection),
    })
    const to = join(folder, newName())
    const refusal = 'HELIOGRAPH_MIGRATION_DATABASE_URL leads to another database'
    const backup = backUpService(configOf(source, ownerOf(target)), { ...TASK, folder: to })
    await expect(backup).rejects.toThrow(refusal)
    expect(await readdir(folder)).not.toContain(basename(to))
    const restore = restoreService(configOf(source, ownerOf(empty)), {
      ...TASK,
      folder: backupFolder(),
    })
    await expect(restore).rejects.toThrow(refusal)
    expect(await listTables(empty)).toEqual([])
  } finally {
    await empty.close()
  }
})

it('keeps a database that its owner may only read, as on a disk that is full', async () => {
  const readOnly = `options=${encodeURIComponent('-c default_transaction_read_only=on')}`
  const url = toUrl(source.connection)
  const owner = {
    HELIOGRAPH_MASTER_KEY: MASTER_KEY,
    HELIOGRAPH_MIGRATION_DATABASE_URL: `${url}${url.includes('?') ? '&' : '?'}${readOnly}`,
  }
  const to = join(folder, newName())
  const written = await backUpService(configOf(source, owner), { ...TASK, folder: to })
  expect(written.folder).toBe(to)
})

it('refuses a master key that opens nothing in the database', async () => {
  const other = { HELIOGRAPH_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') }
  const path = join(folder, 'other-key')
  await expect(backUpService(configOf(source, other), { ...TASK, folder: path })).rejects.toThrow(
    'is not the one that the secrets in the database are sealed under',
  )
})

it('holds keys under a passphrase only, and restores without them where they are given', async () => {
  const path = join(folder, 'without-keys')
  const config = configOf(source, { HELIOGRAPH_MASTER_KEY: MASTER_KEY })
  await backUpService(config, { ...TASK, passphrase: undefined, folder: path })
  for (const file of await readdir(path)) {
    expect((await readFile(join(path, file))).includes(MASTER_KEY), file).toBe(false)
  }
  const empty = await createTestDatabase({ isEmpty: true })
  await expect(restoreService(configOf(empty), { ...TASK, folder: path })).rejects.toThrow(
    'holds no keys',
  )
  const given = configOf(empty, { HELIOGRAPH_MASTER_KEY: MASTER_KEY })
  expect(await restoreService(given, { ...TASK, folder: path })).toMatchObject({
    masterKeyFile: undefined,
  })
  await empty.close()
})

async function copyOldMigrations(): Promise<string> {
  const migrations = join(import.meta.dirname, '../src/schema/migrations')
  const copies = await mkdtemp(join(folder, 'migrations-'))
  const files = (await readdir(migrations)).filter((name) => name.endsWith('.sql')).sort()
  for (const name of files.slice(0, OLD_MIGRATIONS)) {
    await copyFile(join(migrations, name), join(copies, name))
  }
  return copies
}

async function listTables(database: TestDatabase): Promise<{ name: string; columns: string[] }[]> {
  const { rows } = await database.pool.query<{ name: string; columns: string[] }>(
    `select t.table_name as name, array_agg(c.column_name::text order by c.ordinal_position) as columns
     from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
     where t.table_schema = 'public' and t.table_type = 'BASE TABLE' and t.table_name <> 'schema_migration'
     group by 1 order by 1`,
  )
  return rows
}

async function readRows(
  { pool }: TestDatabase,
  table: string,
  columns: readonly string[],
): Promise<string[]> {
  const list = columns.map((column) => `"${column}"`).join(', ')
  const { rows } = await pool.query<{ row: string }>(
    `select row_to_json(t)::text as row from (select ${list} from "${table}") t order by 1`,
  )
  return rows.map(({ row }) => row)
}

/* What happens to a database while it is backed up: migrations, and settings of another country. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { writeBackup } from '../src/platform/backup/write-backup.ts'
import { openBackup } from '../src/platform/backup/backup-files.ts'
import { databaseOf } from '../src/platform/db/connection.ts'
import { createTestDatabase } from './support/database.ts'

const ROWS = 3

const database = await createTestDatabase()
const { pool } = database
const folder = await mkdtemp(join(tmpdir(), 'heliograph-snapshot-'))
let backups = 0

beforeEach(async () => {
  await pool.query(`
    drop table if exists device_note;
    create table device_note (at timestamptz not null, took interval not null, size float8 not null);
    insert into device_note
      select '2026-02-01T00:00:00Z', '-1 day -01:00:00', 0.1::float8 + 0.2::float8 from generate_series(1, ${ROWS})`)
})
afterAll(async () => {
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

/** Backs the database up; `onProgress` hears every step before it begins. */
async function backUp(onProgress: (text: string) => void = () => undefined) {
  const path = join(folder, `backup-${(backups += 1)}`)
  await writeBackup({
    folder: path,
    connection: database.connection,
    describeKeys: () => [{ id: '00000000', check: '0'.repeat(64) }],
    sealKeys: undefined,
    onProgress,
    signal: new AbortController().signal,
  })
  return { path, manifest: (await openBackup(path)).manifest }
}

test('a migration that rewrites a table while a backup begins takes no row from it', async () => {
  const migration = await pool.connect()
  await migration.query('begin; lock table device_note in access exclusive mode')
  const backup = backUp()
  await vi.waitFor(async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'heliograph backup'`,
    )
    expect(rowCount).toBe(1)
  })
  // Longer than it takes to come to the locked table.
  await sleep(500)
  await migration.query('alter table device_note alter column size type numeric; commit')
  migration.release()
  const { manifest } = await backup
  expect(manifest.tables.find(({ name }) => name === 'device_note')).toMatchObject({ rows: ROWS })
})

test('what a migration adds while a backup is written is not part of it', async () => {
  let adding: Promise<unknown> | undefined
  const { manifest } = await backUp(() => {
    adding ??= pool.query('create sequence if not exists added_since')
  })
  await adding
  expect(manifest.sequences.map(({ name }) => name)).not.toContain('added_since')
  await pool.query('drop sequence added_since')
})

test('times and numbers are written in one form, whatever the database is set to', async () => {
  const name = databaseOf(database.connection)
  await pool.query(`
    alter database "${name}" set datestyle = 'SQL, DMY';
    alter database "${name}" set intervalstyle = 'sql_standard';
    alter database "${name}" set timezone = 'Europe/Berlin';
    alter database "${name}" set extra_float_digits = -5`)
  const { path } = await backUp()
  await pool.query(`alter database "${name}" reset all`)
  const file = await readFile(join(path, 'table-device_note.copy.zst'))
  const [row] = (await promisify(zstdDecompress)(file)).toString().split('\n')
  expect(row).toBe('2026-02-01 00:00:00+00\t-1 days -01:00:00\t0.30000000000000004')
})

test('a file that is not what was written is noticed when it is read back, and nothing is kept', async () => {
  const damaging: Promise<void>[] = []
  const backup = backUp((text) => {
    const [, table] = /^Reading back (\w+) \(1 of/.exec(text) ?? []
    if (table !== undefined) damaging.push(damage('table-device_note.copy.zst'))
  })
  await expect(backup).rejects.toThrow('table-device_note.copy.zst could not be read back')
  await Promise.all(damaging)
  expect(damaging).toHaveLength(1)

  async function damage(file: string): Promise<void> {
    const unfinished = (await readdir(folder)).find((name) => name.includes('unfinished')) ?? ''
    const path = join(folder, unfinished, file)
    const bytes = await readFile(path)
    await writeFile(path, bytes.fill(0xff, bytes.length - 8))
  }
})

/*
 * Writes a backup of a database while others use it: all tables as of one moment, streamed from COPY into compressed
 * files, read back before the folder gets its name. Owns the order of the steps and that nothing half stays; the
 * SQL is table-catalogue-store.ts's, the format backup-files.ts's.
 */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import type { Client } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { AppError } from '../app-error.ts'
import type { DatabaseConnection } from '../db/connection.ts'
import { errorCodeOf } from '../error-code-of.ts'
import { newSecret, newUuid } from '../ids.ts'
import { syncFolder } from '../secrets/private-file.ts'
import {
  CHECKSUMS_FILE,
  KEYS_FILE,
  MANIFEST_FILE,
  MANIFEST_HEAD,
  isDecompressionError,
  toChecksumsText,
  toDiskFault,
  writeBackupFile,
  type BackedUpTable,
  type BackupManifest,
  type SealedKeys,
} from './backup-files.ts'
import { listPartitionBounds } from './partition-layout-store.ts'
import { withDatabaseClient } from './with-database-client.ts'
import {
  beginSnapshot,
  copyOutText,
  describeServer,
  endSnapshot,
  listLedger,
  listSequences,
  type TableShape,
} from './table-catalogue-store.ts'

/** What a backup is made with. */
export interface BackupOptions {
  /** Must not exist. */
  readonly folder: string
  readonly connection: DatabaseConnection
  /** Which master keys the database needs; the id of the backup is part of each check value. */
  readonly describeKeys: (backupId: string) => BackupManifest['master_keys']
  /** Seals the master keys, bound to the manifest; undefined for a backup without keys. */
  readonly sealKeys: ((manifestDigest: Buffer) => Promise<SealedKeys>) | undefined
  readonly onProgress: (text: string) => void
  readonly signal: AbortSignal
}

/** A backup that was written and read back. */
export interface WrittenBackup {
  readonly folder: string
  readonly id: string
  readonly takenAt: string
  readonly tables: number
  readonly rows: number
  /** Of all files. */
  readonly bytes: number
  readonly hasKeys: boolean
}

/** Compresses these rows to about an eighth, at 200 MB/s of a core. */
const COMPRESSION_LEVEL = 3
const NEWLINE = 0x0a
const PRIVATE_FOLDER_MODE = 0o700

/**
 * Writes a backup. The folder appears under its name when everything in it is on the disk and was read back; a
 * process that dies leaves a folder `<name>.unfinished-...`, which `restore` does not take.
 *
 * @throws AppError `conflict` where the folder exists, or the database has no schema; `unavailable` for a disk that
 * fails
 */
export async function writeBackup(options: BackupOptions): Promise<WrittenBackup> {
  const folder = resolve(options.folder)
  await assertMissing(folder)
  const unfinished = join(dirname(folder), `${basename(folder)}.unfinished-${newSecret(6)}`)
  try {
    await mkdir(dirname(folder), { recursive: true })
    await mkdir(unfinished, { mode: PRIVATE_FOLDER_MODE })
    const manifest = await withDatabaseClient(options.connection, 'heliograph backup', (client) =>
      writeTables(client, unfinished, options),
    )
    await readBack(unfinished, manifest, options)
    const hasKeys = await writeDescription(unfinished, manifest, options)
    await syncFolder(unfinished)
    await assertMissing(folder)
    await rename(unfinished, folder)
    await syncFolder(dirname(folder))
    return toWrittenBackup(folder, manifest, hasKeys)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw toDiskFault(error, folder)
  }
}

async function assertMissing(folder: string): Promise<void> {
  try {
    await stat(folder)
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return
    throw error
  }
  throw new AppError(
    'conflict',
    `${folder} exists, and is not overwritten. Give the backup a new name.`,
  )
}

async function writeTables(
  client: Client,
  folder: string,
  { describeKeys, onProgress, signal }: BackupOptions,
): Promise<BackupManifest> {
  const shapes = await beginSnapshot(client)
  const migrations = await listLedger(client)
  if (migrations.length === 0) {
    throw new AppError('conflict', 'This database holds nothing of Heliograph.')
  }
  const server = await describeServer(client)
  const tables: BackedUpTable[] = []
  for (const [done, shape] of shapes.entries()) {
    onProgress(`Writing ${shape.name} (${done + 1} of ${shapes.length}) ...`)
    tables.push(await writeTable(client, folder, shape, signal))
  }
  const partitions = await listPartitionBounds(client)
  const sequences = await listSequences(client)
  await endSnapshot(client)
  const id = newUuid()
  return {
    ...MANIFEST_HEAD,
    id,
    taken_at: server.now.toISOString(),
    postgresql_version: server.version,
    migrations,
    tables,
    partitions,
    sequences: sequences.map(({ name, lastValue }) => ({ name, last_value: lastValue })),
    master_keys: describeKeys(id),
  }
}

async function writeTable(
  client: Client,
  folder: string,
  shape: TableShape,
  signal: AbortSignal,
): Promise<BackedUpTable> {
  const file = `table-${shape.name}.copy.zst`
  const hash = createHash('sha256')
  let rows = 0
  let bytes = 0
  await pipeline(
    client.query(copyTo(copyOutText(shape))),
    passThrough((chunk) => (rows += countLines(chunk))),
    createZstdCompress({
      params: {
        [constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL,
        [constants.ZSTD_c_checksumFlag]: 1,
      },
    }),
    passThrough((chunk) => {
      hash.update(chunk)
      bytes += chunk.length
    }),
    createWriteStream(join(folder, file), { flags: 'wx', mode: 0o600, flush: true }),
    { signal },
  )
  const { name, columns } = shape
  return { name, columns: [...columns], rows, file, bytes, sha256: hash.digest('hex') }
}

/** What the disk gives back is what was written, and as many rows. */
async function readBack(
  folder: string,
  { tables }: BackupManifest,
  { onProgress, signal }: BackupOptions,
): Promise<void> {
  for (const [done, table] of tables.entries()) {
    onProgress(`Reading back ${table.name} (${done + 1} of ${tables.length}) ...`)
    if (await isAsWritten(join(folder, table.file), table, signal)) continue
    throw new AppError(
      'unavailable',
      `${table.file} could not be read back as it was written: the disk is not to be trusted.`,
    )
  }
}

async function isAsWritten(
  path: string,
  table: BackedUpTable,
  signal: AbortSignal,
): Promise<boolean> {
  const hash = createHash('sha256')
  let rows = 0
  try {
    await pipeline(
      createReadStream(path),
      passThrough((chunk) => hash.update(chunk)),
      createZstdDecompress(),
      new Writable({
        write(chunk: Buffer, _encoding, callback) {
          rows += countLines(chunk)
          callback()
        },
      }),
      { signal },
    )
  } catch (error) {
    if (isDecompressionError(error)) return false
    throw error
  }
  return hash.digest('hex') === table.sha256 && rows === table.rows
}

/** The list of checksums is the last file: without it, a folder is no backup. */
async function writeDescription(
  folder: string,
  manifest: BackupManifest,
  { sealKeys }: BackupOptions,
): Promise<boolean> {
  const checksums = new Map(manifest.tables.map(({ file, sha256 }) => [file, sha256]))
  const manifestDigest = await writeBackupFile(folder, MANIFEST_FILE, toText(manifest))
  checksums.set(MANIFEST_FILE, manifestDigest)
  if (sealKeys !== undefined) {
    const keys = await sealKeys(Buffer.from(manifestDigest, 'hex'))
    checksums.set(KEYS_FILE, await writeBackupFile(folder, KEYS_FILE, toText(keys)))
  }
  await writeBackupFile(folder, CHECKSUMS_FILE, toChecksumsText(checksums))
  return sealKeys !== undefined
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, null, 1)}\n`
}

function toWrittenBackup(
  folder: string,
  { id, taken_at: takenAt, tables }: BackupManifest,
  hasKeys: boolean,
): WrittenBackup {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0)
  return { folder, id, takenAt, tables: tables.length, rows, bytes, hasKeys }
}

/** A row of COPY's text form ends with a line break, and holds none. */
function countLines(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) count += 1
  return count
}

function passThrough(look: (chunk: Buffer) => void): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      look(chunk)
      callback(null, chunk)
    },
  })
}

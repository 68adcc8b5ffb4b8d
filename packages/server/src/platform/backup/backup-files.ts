/*
 * A backup as a folder: a manifest, a compressed file for each table, the sealed keys, and the checksums of all of
 * them. Owns names and shapes, and that no file is believed before its checksum is right. docs/operations.md
 * describes the format.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { AppError } from '../app-error.ts'
import { errorCodeOf } from '../error-code-of.ts'
import { passphraseBoxSchema } from '../secrets/passphrase-box.ts'

export const MANIFEST_FILE = 'manifest.json'
export const KEYS_FILE = 'keys.json'
/** In the form of `sha256sum`; written last, so that a folder without it is no backup. */
export const CHECKSUMS_FILE = 'SHA256SUMS'

const FORMAT = 'heliograph-backup'
/** The second one tells of partitions. */
const FORMAT_VERSION = 2
/** Far more than any manifest or list of checksums has. */
const TEXT_BYTES_MAX = 16 * 1_024 * 1_024

const name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().nonnegative()
const id = z.string().regex(/^\d{1,19}$/)

const tableSchema = z.strictObject({
  name,
  columns: z.array(name).min(1),
  rows: count,
  file: z.string().regex(/^table-[a-z0-9_]{1,63}\.copy\.zst$/),
  /** Of the file, compressed. */
  bytes: count,
  sha256,
})

/** What a backup says of itself. */
export const manifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  format_version: z.union([z.literal(1), z.literal(FORMAT_VERSION)]),
  id: z.uuid(),
  /** The moment whose state the backup holds, by the clock of the database. */
  taken_at: z.iso.datetime(),
  postgresql_version: z.string(),
  migrations: z
    .array(z.strictObject({ version: z.int().positive(), name: z.string(), checksum: sha256 }))
    .min(1),
  tables: z.array(tableSchema).min(1),
  /** How tables were partitioned, so that retention goes on as before. */
  partitions: z
    .array(z.strictObject({ table: name, name, lower_bound: id.nullable(), upper_bound: id }))
    .default([]),
  sequences: z.array(
    z.strictObject({
      name,
      last_value: id.nullable(),
    }),
  ),
  /** Which master keys the secrets in it are sealed under; a check value proves a key and reveals nothing of it. */
  master_keys: z
    .array(z.strictObject({ id: z.string().regex(/^[0-9a-f]{8}$/), check: sha256 }))
    .min(1),
})

export type BackupManifest = z.infer<typeof manifestSchema>
export type BackedUpTable = BackupManifest['tables'][number]

/** The members of every manifest that this program writes. */
export const MANIFEST_HEAD = { format: FORMAT, format_version: FORMAT_VERSION } as const

/** The master keys, sealed under the passphrase of the backup and bound to its manifest. */
export const keysSchema = z.strictObject({ master_keys: passphraseBoxSchema })

export type SealedKeys = z.infer<typeof keysSchema>

/** A backup whose manifest and list of checksums are read; the tables are not looked at yet. */
export interface OpenedBackup {
  readonly folder: string
  readonly manifest: BackupManifest
  /** SHA-256 of the manifest as it is stored, which covers the checksum of every table. */
  readonly manifestDigest: Buffer
  /** Undefined for a backup without keys. */
  readonly keys: SealedKeys | undefined
}

/**
 * Opens a backup and checks everything but the tables.
 *
 * @throws AppError `conflict` for what is no backup, not complete, altered, or of a newer program
 */
export async function openBackup(folder: string): Promise<OpenedBackup> {
  const checksums = parseChecksums(await readText(folder, CHECKSUMS_FILE))
  const manifestText = await readChecked(folder, MANIFEST_FILE, checksums)
  const manifest = parseManifest(manifestText)
  for (const { file, sha256: expected } of manifest.tables) {
    if (checksums.get(file) !== expected) throw damaged(`${file} has two checksums`)
  }
  const hasKeys = checksums.has(KEYS_FILE)
  if (!hasKeys && (await readdir(folder)).includes(KEYS_FILE)) {
    throw damaged(`${KEYS_FILE} has no checksum`)
  }
  return {
    folder,
    manifest,
    manifestDigest: createHash('sha256').update(manifestText).digest(),
    keys: hasKeys ? parseKeys(await readChecked(folder, KEYS_FILE, checksums)) : undefined,
  }
}

/** The bytes of a file by its checksum, all of them read. */
export async function assertFileIsWhole(
  folder: string,
  { file, bytes, sha256: expected }: Pick<BackedUpTable, 'file' | 'bytes' | 'sha256'>,
  signal?: AbortSignal,
): Promise<void> {
  const path = join(folder, file)
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw damaged(`${file} is missing`)
  if (found.size !== bytes) throw damaged(`${file} has ${found.size} bytes in place of ${bytes}`)
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(path), hash, ...(signal === undefined ? [] : [{ signal }]))
  } catch (error) {
    throw toDiskFault(error, folder)
  }
  if (hash.digest('hex') !== expected) throw damaged(`${file} is not what was written`)
}

/** A text with what `sha256sum --check` reads. */
export function toChecksumsText(checksums: ReadonlyMap<string, string>): string {
  return [...checksums].map(([file, digest]) => `${digest}  ${file}\n`).join('')
}

/** Writes a file of a backup so that it is on the disk before the call answers. Returns its SHA-256 in hex. */
export async function writeBackupFile(folder: string, file: string, text: string): Promise<string> {
  const handle = await open(join(folder, file), 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return createHash('sha256').update(text).digest('hex')
}

/** What file systems answer that take or give no more bytes. */
const DISK_CODES = ['EDQUOT', 'EFBIG', 'EIO', 'ENOSPC', 'EROFS']

/**
 * What to throw for an error: of a disk that fails a backup, whose code alone would tell of the disk of the database.
 */
export function toDiskFault(error: unknown, folder: string): unknown {
  if (!(error instanceof Error) || !DISK_CODES.includes(errorCodeOf(error))) return error
  return new AppError(
    'unavailable',
    `The disk of ${folder} fails: ${error.message}. See whether it is full, broken, or mounted read-only.`,
    { cause: error },
  )
}

/** Whether a file was refused because of what is in it (zlib, "Constants for error handling"). */
export function isDecompressionError(error: unknown): boolean {
  return /^(?:ZSTD_|Z_)/.test(errorCodeOf(error))
}

/** The refusal of a backup that is not what was written. */
export function damaged(problem: string): AppError {
  return new AppError('conflict', `This backup cannot be used: ${problem}. Nothing was touched.`)
}

/** Every byte counts: a text that says the same otherwise is not what was written. */
function parseChecksums(text: string): Map<string, string> {
  const checksums = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, digest, file] = /^([0-9a-f]{64}) {2}([\w.-]+)$/.exec(line) ?? []
    if (digest !== undefined && file !== undefined) checksums.set(file, digest)
  }
  if (toChecksumsText(checksums) === text) return checksums
  throw damaged(`${CHECKSUMS_FILE} is not what was written`)
}

async function readChecked(
  folder: string,
  file: string,
  checksums: ReadonlyMap<string, string>,
): Promise<string> {
  const text = await readText(folder, file)
  if (createHash('sha256').update(text).digest('hex') !== checksums.get(file)) {
    throw damaged(`${file} is not what was written`)
  }
  return text
}

async function readText(folder: string, file: string): Promise<string> {
  const path = join(folder, file)
  try {
    if ((await stat(path)).size > TEXT_BYTES_MAX) throw damaged(`${file} is too large`)
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw damaged(`${path} is missing, so it is none or not complete`)
    }
    throw toDiskFault(error, folder)
  }
}

function parseManifest(text: string): BackupManifest {
  const value = parseJson(text, MANIFEST_FILE)
  const version = z.object({ format: z.literal(FORMAT), format_version: z.int() }).safeParse(value)
  if (version.success && version.data.format_version > FORMAT_VERSION) {
    throw new AppError(
      'conflict',
      'This backup was written by a newer program, whose format this one does not know. Restore it with that program.',
    )
  }
  const parsed = manifestSchema.safeParse(value)
  if (!parsed.success) throw damaged(`${MANIFEST_FILE} is not one`)
  return parsed.data
}

function parseKeys(text: string): SealedKeys {
  const parsed = keysSchema.safeParse(parseJson(text, KEYS_FILE))
  if (!parsed.success) throw damaged(`${KEYS_FILE} is not readable`)
  return parsed.data
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw damaged(`${file} is not readable`)
  }
}

/*
 * The folder into which checkpoints leave the database: one file for each month, appended and never written
 * anew, and the keys that verify them. Whoever copies the folder elsewhere can prove later what there was.
 */
import { access, constants, open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '@heliograph/embedded-postgres'
import { AppError } from '../../../platform/app-error.ts'
import { errorCodeOf } from '../../../platform/error-code-of.ts'
import { syncFolder } from '../../../platform/secrets/private-file.ts'
import { BROKEN_OFF, splitNotes } from './checkpoint.ts'

const FILE_NAME = /^checkpoints-\d{4}-\d{2}\.txt$/
const KEYS_FILE = 'verifier-keys.txt'
/** Enough for many checkpoints. */
const END_BYTES = 32_768
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
const PROTECTED_CODES: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS'])

/** What stands in files: checkpoints as they were signed, and verifier keys line by line. */
export interface CheckpointTexts {
  readonly notes: readonly string[]
  readonly keys: readonly string[]
}

const NOTHING: CheckpointTexts = { notes: [], keys: [] }

/**
 * Everything in a folder that a service wrote, or in one file of checkpoints. Empty when there is none.
 *
 * @throws AppError `not_found` for a file or folder that cannot be read
 */
export async function readCheckpointTexts(path: string): Promise<CheckpointTexts> {
  try {
    if (!(await stat(path)).isDirectory()) {
      return { notes: splitNotes(await readFile(path, 'utf8')), keys: [] }
    }
    const names = await listFiles(path)
    const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))
    return { notes: texts.flatMap(splitNotes), keys: await readKeys(path) }
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return NOTHING
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('not_found', `Checkpoints cannot be read: ${reason}`, { cause: error })
  }
}

async function readKeys(folder: string): Promise<string[]> {
  try {
    const text = await readFile(join(folder, KEYS_FILE), 'utf8')
    return text.split('\n').filter((line) => line !== '')
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return []
    throw error
  }
}

/**
 * The last checkpoints of every file in the folder, in the order of the months and of their writing: a clock that was
 * wrong may have put a later one into the file of an earlier month.
 */
export async function listLastNotes(folder: string): Promise<string[][]> {
  const ends: string[][] = []
  for (const name of await listFiles(folder)) {
    ends.push(splitNotes(await readEnd(join(folder, name))))
  }
  return ends
}

async function listFiles(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(isOfMonth).sort()
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return []
    throw error
  }
}

function isOfMonth(name: string): boolean {
  return FILE_NAME.test(name)
}

/** The file of a month has megabytes at its end. */
async function readEnd(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const length = Math.min(size, END_BYTES)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length)
    const text = buffer.toString('utf8', 0, bytesRead)
    // What stands before the first empty line began before.
    return size === length ? text : text.slice(text.indexOf('\n\n') + 1)
  } finally {
    await file.close()
  }
}

/** A checkpoint to be written. */
export interface WrittenNote {
  readonly note: string
  readonly signedAt: Date
}

/**
 * Appends checkpoints to the files of their months; they are on disk when this resolves. One before them that was not
 * written to its end, as on a full disk, is marked and not read any more. Where the file of one month cannot be
 * written, as one that is protected by now, those of the others are all the same.
 *
 * @throws the first error of the file system
 */
export async function appendNotes(folder: string, notes: readonly WrittenNote[]): Promise<void> {
  const byMonth = new Map<string, string>()
  for (const { note, signedAt } of notes) {
    const name = fileOf(signedAt)
    byMonth.set(name, `${byMonth.get(name) ?? ''}\n${note}`)
  }
  const errors: unknown[] = []
  for (const [name, text] of byMonth) {
    await append(folder, name, text).catch((error: unknown) => errors.push(error))
  }
  if (errors.length > 0) throw errors[0]
}

/** The name of the file that a checkpoint is written to, by when it was signed. */
export function fileOf(at: Date): string {
  return `checkpoints-${at.toISOString().slice(0, 'YYYY-MM'.length)}.txt`
}

/**
 * Makes the folder where it is missing, and makes sure that checkpoints of this moment can be added to it. Files of
 * past months, and the keys, may be protected from writing.
 *
 * @throws the errors of the file system
 */
export async function prepareCheckpointFolder(folder: string, now: Date): Promise<void> {
  await makeFolder(folder, FOLDER_MODE)
  await access(folder, constants.W_OK)
  const names = await readdir(folder)
  if (!names.includes(KEYS_FILE)) await append(folder, KEYS_FILE, '')
  const present = fileOf(now)
  for (const name of [KEYS_FILE, ...names.filter(isOfMonth)]) {
    const file = await open(join(folder, name), name === present ? 'a+' : 'r')
    await file.close()
  }
}

/** Whether a file may not be added to, as one that is protected; what else hinders it shows when something is. */
export async function isProtected(folder: string, name: string): Promise<boolean> {
  try {
    const file = await open(join(folder, name), constants.O_WRONLY | constants.O_APPEND)
    await file.close()
    return false
  } catch (error) {
    return PROTECTED_CODES.has(errorCodeOf(error))
  }
}

/** Adds the keys that are not in the folder. */
export async function appendKeys(folder: string, keys: readonly string[]): Promise<void> {
  const known = await readKeys(folder)
  const added = keys.filter((key) => !known.includes(key))
  if (added.length > 0) await append(folder, KEYS_FILE, added.map((key) => `${key}\n`).join(''))
}

async function append(folder: string, name: string, text: string): Promise<void> {
  await makeFolder(folder, FOLDER_MODE)
  const file = await open(join(folder, name), 'a+', FILE_MODE)
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1))
    const isWhole = bytesRead === 0 || buffer.toString('latin1') === '\n'
    await file.appendFile(isWhole ? text : `${BROKEN_OFF}\n${text}`)
    await file.sync()
    if (size === 0) await syncFolder(folder)
  } finally {
    await file.close()
  }
}

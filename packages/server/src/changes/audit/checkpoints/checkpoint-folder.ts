/*
 * The folder into which checkpoints leave the database: one file for each month, appended and never written
 * anew, and the keys that verify them. Whoever copies the folder elsewhere can prove later what there was.
 */
import { mkdir, open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../platform/app-error.ts'
import { errorCodeOf } from '../../../platform/error-code-of.ts'
import { syncFolder } from '../../../platform/secrets/private-file.ts'
import { splitNotes } from './checkpoint.ts'

const FILE_NAME = /^checkpoints-\d{4}-\d{2}\.txt$/
const KEYS_FILE = 'verifier-keys.txt'
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

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
    const names = (await readdir(path)).filter((name) => FILE_NAME.test(name)).sort()
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

/** The last checkpoint in the folder; undefined when there is none. */
export async function findLastNote(folder: string): Promise<string | undefined> {
  try {
    const names = (await readdir(folder)).filter((name) => FILE_NAME.test(name)).sort()
    for (const name of names.reverse()) {
      const last = splitNotes(await readFile(join(folder, name), 'utf8')).at(-1)
      if (last !== undefined) return last
    }
    return undefined
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Appends a checkpoint to the file of its month; it is on disk when this resolves. */
export async function appendNote(folder: string, note: string, signedAt: Date): Promise<void> {
  const month = signedAt.toISOString().slice(0, 'YYYY-MM'.length)
  await append(folder, `checkpoints-${month}.txt`, `\n${note}`)
}

/** Adds the keys that are not in the folder. */
export async function appendKeys(folder: string, keys: readonly string[]): Promise<void> {
  const known = await readKeys(folder)
  const added = keys.filter((key) => !known.includes(key))
  if (added.length > 0) await append(folder, KEYS_FILE, added.map((key) => `${key}\n`).join(''))
}

async function append(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
  const file = await open(join(folder, name), 'a', FILE_MODE)
  try {
    const { size } = await file.stat()
    await file.appendFile(text)
    await file.sync()
    if (size === 0) await syncFolder(folder)
  } finally {
    await file.close()
  }
}

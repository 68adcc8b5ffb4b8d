import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomName } from './random-name.ts'
import { explainStartFailure } from './explain-start-failure.ts'
import { toRefusedFolder } from './explain-refused-folder.ts'
import { tryLockFile } from './file-lock.ts'

/** A service keeps the folder for as long as it runs, a command only for its own work. */
export type DataFolderPurpose = 'service' | 'command'

/** Who uses a data folder. For messages only: the lock itself is the kernel's. */
export interface DataFolderHolder {
  readonly pid: number
  readonly purpose: DataFolderPurpose
  /** ISO 8601. */
  readonly since: string
}

export interface DataFolderLock {
  /** Lets others in. Safe to call twice. */
  release(): Promise<void>
}

/** SQLITE_READONLY, SQLITE_CANTOPEN (sqlite.org/rescode.html): the file belongs to somebody else. */
const NOT_ALLOWED: readonly number[] = [8, 14]

/**
 * Takes a data folder for this process, or answers undefined while another one has it. The lock ends
 * with the process, however that ends. Throws `DatabaseStartError` when this user may not use the folder.
 */
export async function tryLockDataFolder(
  dataDir: string,
  purpose: DataFolderPurpose,
): Promise<DataFolderLock | undefined> {
  const lock = lockOrExplain(dataDir)
  if (lock === undefined) return undefined
  const holder: DataFolderHolder = {
    pid: process.pid,
    purpose,
    since: new Date().toISOString(),
  }
  try {
    await writePrivateFile(holderPath(dataDir), holder)
  } catch (error) {
    lock.release()
    throw explainStartFailure(error)
  }
  let isHeld = true
  return {
    async release() {
      if (!isHeld) return
      isHeld = false
      await rm(holderPath(dataDir), { force: true })
      lock.release()
    },
  }
}

function lockOrExplain(dataDir: string) {
  try {
    return tryLockFile(join(dataDir, 'lock.sqlite'))
  } catch (error) {
    const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
    if (typeof code !== 'number' || !NOT_ALLOWED.includes(code)) throw explainStartFailure(error)
    throw toRefusedFolder(dataDir, error as Error)
  }
}

/** Who holds the folder at present; undefined while that is not known. */
export async function findDataFolderHolder(dataDir: string): Promise<DataFolderHolder | undefined> {
  const holder = (await readJsonFile(holderPath(dataDir))) as DataFolderHolder | null | undefined
  return typeof holder?.pid === 'number' && isAlive(holder.pid) ? holder : undefined
}

function holderPath(dataDir: string): string {
  return join(dataDir, 'lock.json')
}

/** A process of another user is alive too, although it may not be signalled. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Writes a JSON file that only its owner can read; readers see the old text or the new one. */
export async function writePrivateFile(path: string, value: unknown): Promise<void> {
  const unfinished = `${path}.${randomName(6)}`
  try {
    await writeFile(unfinished, JSON.stringify(value), { mode: 0o600, flag: 'wx' })
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/** The value of a JSON file; undefined when it is missing, not readable or not JSON. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch {
    return undefined
  }
}

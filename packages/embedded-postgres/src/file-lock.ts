import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Held until it is released or the process ends, however it ends: the kernel owns the lock. */
export interface FileLock {
  release(): void
}

/** SQLITE_BUSY: somebody else holds the lock (sqlite.org/rescode.html). */
const SQLITE_BUSY = 5

/**
 * Locks a file for this process alone, or answers undefined when another process, or another lock of
 * this one, holds it. Node.js has no file lock of its own; an exclusive SQLite transaction is one.
 */
export function tryLockFile(path: string): FileLock | undefined {
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    file.exec('begin exclusive')
  } catch (error) {
    file.close()
    if (isBusy(error)) return undefined
    throw error
  }
  chmodSync(path, 0o600)
  return {
    release() {
      if (file.isOpen) file.close()
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

import { chmod, lstat, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** The data folder of a demo. */
export interface DemoFolder {
  readonly path: string
  /** Whether it stays when the demo ends. */
  readonly isKept: boolean
  /** Removes a temporary folder with everything in it; the service must have ended. */
  remove(): Promise<void>
}

/** Opens the given folder, which stays, or makes a temporary one. */
export async function openDemoFolder(given: string | undefined): Promise<DemoFolder> {
  if (given !== undefined) {
    return { path: resolve(given), isKept: true, remove: async () => undefined }
  }
  const path = await mkdtemp(join(tmpdir(), 'heliograph-demo-'))
  // Started as root, the database runs as another user, who has to pass through.
  if (process.getuid?.() === 0) await chmod(path, 0o711)
  return { path, isKept: false, remove: () => removeFolder(path) }
}

/** The database may live elsewhere, behind a link, when its user could not reach the folder. */
async function removeFolder(path: string): Promise<void> {
  const home = join(path, 'postgres')
  const found = await lstat(home).catch(() => undefined)
  if (found?.isSymbolicLink() === true) {
    const target = await realpath(home).catch(() => undefined)
    if (target !== undefined) await rm(target, { recursive: true, force: true })
  }
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}

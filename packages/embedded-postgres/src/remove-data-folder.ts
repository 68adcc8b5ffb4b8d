import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { prepareClusterHome } from './cluster-home.ts'
import { tryLockFile } from './file-lock.ts'
import { stopLeftoverServer } from './leftover-server.ts'
import type { ServerLog } from './server-log.ts'

/**
 * Removes a data folder with its database, wherever its files lie, and ends a server that a killed
 * process left behind in it. Leaves a folder alone whose database another process uses.
 */
export async function removeDataFolder(dataDir: string, log: ServerLog): Promise<void> {
  const home = await prepareClusterHome(dataDir)
  const lock = tryLockFile(join(home, 'lock.sqlite'))
  if (lock === undefined) return
  try {
    await stopLeftoverServer(join(home, 'cluster'), log)
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  } finally {
    lock.release()
  }
}

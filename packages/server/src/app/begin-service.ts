/*
 * The start of a service in a process of its own: PostgreSQL first, then what there is to load, so that both go on
 * beside each other. Loads little itself.
 */
import { hasDatabase } from '@heliograph/embedded-postgres'
import type { Logger } from '../platform/logger.ts'
import type { Config } from './config/load-config.ts'
import { openDatabaseFolder, type DatabaseFolder } from './database-folder.ts'
import type { RunningService } from './service.ts'

/**
 * Loads the service, starts it and resolves when it answers. The database of a data folder that has one is started
 * before the loading, and is stopped again whatever fails. A database that is still to be made, or is somebody else's,
 * waits until the configuration has been checked as a whole.
 *
 * @throws ConfigError, DatabaseStartError, or the error of a port that is taken
 */
export async function beginService(config: Config, log: Logger): Promise<RunningService> {
  if (config.databaseUrl !== undefined || !hasDatabase(config.dataDir)) {
    const { startService } = await import('./service.ts')
    return startService(config, log)
  }
  const givingUp = new AbortController()
  const { launched, folder } = launchDatabase(config, log, givingUp.signal)
  try {
    await launched
    const { startService } = await import('./service.ts')
    return await startService(config, log, folder)
  } catch (error) {
    givingUp.abort()
    await stop(folder).catch((failure: unknown) => {
      log.error({ err: failure }, 'the database could not be closed')
    })
    throw error
  }
}

/** `launched` resolves when the server's process runs: loading, which nothing interrupts, then holds it up no more. */
function launchDatabase(config: Config, log: Logger, signal: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const folder = openDatabaseFolder(config, { purpose: 'service', log, onLaunch: resolve, signal })
  return { folder, launched: Promise.race([promise, folder]) }
}

/** Of one that could not be opened nothing runs. */
async function stop(folder: Promise<DatabaseFolder>): Promise<void> {
  const [opened] = await Promise.allSettled([folder])
  if (opened.status === 'fulfilled') await opened.value.stop()
}

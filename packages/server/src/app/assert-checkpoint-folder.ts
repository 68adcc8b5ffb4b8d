import { resolve } from 'node:path'
import { prepareCheckpointFolder } from '../changes/audit/checkpoints/checkpoint-folder.ts'
import { systemClock } from '../platform/clock.ts'
import { ConfigError, type Config } from './config/load-config.ts'
import { SETTINGS } from './config/settings.ts'

/**
 * Makes sure that the checkpoints of the audit log can leave for the folder of the setting: nobody would miss them
 * before they are needed.
 *
 * @throws ConfigError
 */
export async function assertCheckpointFolder({
  auditCheckpointDir,
}: Pick<Config, 'auditCheckpointDir'>): Promise<void> {
  if (auditCheckpointDir === undefined) return
  const folder = resolve(auditCheckpointDir)
  try {
    await prepareCheckpointFolder(folder, systemClock.now())
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new ConfigError([
      `${SETTINGS.auditCheckpointDir.env}: checkpoints of the audit log cannot be written into ${folder} (${error.message}). Give the user of the service this folder, or name another.`,
    ])
  }
}

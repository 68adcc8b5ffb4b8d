/*
 * The master keys of the configuration: where they come from, and what to say of one that does not fit.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { explainRefusedFolder } from '@heliograph/embedded-postgres'
import { createDataFolder } from '../platform/data-folder.ts'
import { loadMasterKey, type MasterKeys } from '../platform/secrets/master-key.ts'
import { ConfigError, type Config } from './config/load-config.ts'

/**
 * Loads the master keys of the setting or of the file in the data folder, which is made at first.
 *
 * @throws ConfigError
 */
export async function openMasterKeys(config: Config): Promise<MasterKeys> {
  const { masterKey: fromSetting } = config
  const dataDir = resolve(config.dataDir)
  try {
    if (fromSetting === undefined) await createDataFolder(dataDir)
    return await loadMasterKey({ fromSetting, filePath: masterKeyFile(config) })
  } catch (error) {
    const explained = explainRefusedFolder(dataDir, error)
    if (!(explained instanceof Error)) throw explained
    const setting = fromSetting === undefined ? 'HELIOGRAPH_DATA_DIR' : 'HELIOGRAPH_MASTER_KEY'
    throw new ConfigError([`${setting}: ${explained.message}`])
  }
}

/**
 * The master keys of the setting or of the file, which is not made where it is missing.
 *
 * @throws ConfigError
 */
export async function findMasterKeys(config: Config): Promise<MasterKeys | undefined> {
  if (config.masterKey === undefined && !existsSync(masterKeyFile(config))) return undefined
  return openMasterKeys(config)
}

/** Where the master keys are without a setting. */
export function masterKeyFile(config: Config): string {
  return join(resolve(config.dataDir), 'master.key')
}

/** Says that the secrets in the database are sealed under another master key. */
export function toMasterKeyError(config: Config): ConfigError {
  const origin = config.masterKey === undefined ? masterKeyFile(config) : 'HELIOGRAPH_MASTER_KEY'
  return new ConfigError([
    `The master key from ${origin} is not the one that the secrets in the database are sealed under. Give that one as HELIOGRAPH_MASTER_KEY or in the file of HELIOGRAPH_MASTER_KEY_FILE, or put the file of the data folder back.`,
  ])
}

/*
 * The master keys of the configuration: where they come from, and what to say of one that does not fit.
 */
import { join, resolve } from 'node:path'
import { explainRefusedFolder } from '@heliograph/embedded-postgres'
import { createDataFolder } from '../platform/data-folder.ts'
import {
  findMasterKeys as findKeysOfSource,
  loadMasterKey,
  type MasterKeys,
  type MasterKeySource,
} from '../platform/secrets/master-key.ts'
import { ConfigError, type Config } from './config/load-config.ts'

/**
 * Loads the master keys of the setting or of the file in the data folder. At first a file with a new key is made, and
 * never where the database has secrets already: those are sealed under another one.
 *
 * @throws ConfigError
 */
export async function openMasterKeys(
  config: Config,
  hasSecrets: () => Promise<boolean>,
): Promise<MasterKeys> {
  const found = await findMasterKeys(config)
  if (found !== undefined) return found
  if (await hasSecrets()) {
    // Another process may have begun on the same folder meanwhile.
    const made = await findMasterKeys(config)
    if (made === undefined) throw toMissingKeyError(config)
    return made
  }
  return explainKeys(config, async () => {
    await createDataFolder(resolve(config.dataDir))
    return loadMasterKey(toSource(config))
  })
}

/**
 * The master keys of the setting or of the file, which is not made where it is missing.
 *
 * @throws ConfigError
 */
export function findMasterKeys(config: Config): Promise<MasterKeys | undefined> {
  return explainKeys(config, () => findKeysOfSource(toSource(config)))
}

function toSource(config: Config): MasterKeySource {
  return { fromSetting: config.masterKey, filePath: masterKeyFile(config) }
}

async function explainKeys<Result>(
  { dataDir, masterKey }: Config,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const explained = explainRefusedFolder(resolve(dataDir), error)
    if (!(explained instanceof Error)) throw explained
    const setting = masterKey === undefined ? 'HELIOGRAPH_DATA_DIR' : 'HELIOGRAPH_MASTER_KEY'
    throw new ConfigError([`${setting}: ${explained.message}`])
  }
}

/** Where the master keys are without a setting. */
export function masterKeyFile(config: Config): string {
  return join(resolve(config.dataDir), 'master.key')
}

/** Says that the secrets in the database are sealed under another master key. */
export function toMasterKeyError(config: Config): ConfigError {
  const origin = config.masterKey === undefined ? masterKeyFile(config) : 'HELIOGRAPH_MASTER_KEY'
  return new ConfigError([
    `The master key from ${origin} is not the one that the secrets in the database are sealed under. Give that one as HELIOGRAPH_MASTER_KEY or in the file of HELIOGRAPH_MASTER_KEY_FILE, or put the file of the data folder back. A process that runs since before the key was changed needs a restart.`,
  ])
}

/** Says that the secrets in the database are sealed under a master key which is not there. */
export function toMissingKeyError(config: Config): ConfigError {
  return new ConfigError([
    `The master key that the secrets in the database are sealed under is missing: there is no ${masterKeyFile(config)}, and no setting gives it. Put that file back, or give the key as HELIOGRAPH_MASTER_KEY or in the file of HELIOGRAPH_MASTER_KEY_FILE. A backup with a passphrase holds it too: restored into another data folder, it writes the file there.`,
  ])
}

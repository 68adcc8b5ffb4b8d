import { resolve } from 'node:path'
import { isWithoutDatabase } from '@heliograph/embedded-postgres'
import type { Command } from 'commander'
import type { ChangeOrigin } from '../changes/change.ts'
import { openFoundation, type ServiceFoundation } from '../app/foundation.ts'
import { findSecretFlags, loadConfig, type Config } from '../app/config/load-config.ts'
import { SETTINGS, toFileSetting, toFlag, type SettingDefinition } from '../app/config/settings.ts'
import { findServedSettings } from '../app/served-settings.ts'
import { AppError } from '../platform/app-error.ts'
import type { CommandIo } from './command-io.ts'
import { explainSystemErrors } from './explain-system-errors.ts'
import { option, type OptionSpec } from './option.ts'

/** Settings that every command takes as flags: they say which database it works on. */
const DATABASE_SETTINGS = [SETTINGS.dataDir, SETTINGS.databaseUrl, SETTINGS.masterKey] as const

/** Changes made on the command line are the service's own doing, under a name that says so. */
export const COMMAND_LINE_ORIGIN: ChangeOrigin = {
  actor: { type: 'System', id: null, name: 'Command line', email: null },
}

/** What to say of a flag that holds a secret. */
export const SECRET_FLAG_WARNING =
  'shows a secret to everybody who can list the processes of this machine; give a file instead (the flag with -file at its end, or the variable with _FILE)'

/** The flag of a setting: `--port` for `HELIOGRAPH_PORT`. */
export function settingOption({
  env,
  description,
}: Pick<SettingDefinition, 'env' | 'description'>): OptionSpec<string | undefined> {
  return option(`${toFlag(env)} <value>`, `${description} [${env}]`)
}

/** The flags of a setting: of a secret one, that of its file besides. */
export function settingOptions(setting: SettingDefinition): OptionSpec<string | undefined>[] {
  return formsOf(setting).map(settingOption)
}

/** The flags that choose the database. */
export const DATABASE_OPTIONS = DATABASE_SETTINGS.flatMap(settingOptions)

function formsOf(setting: SettingDefinition): Pick<SettingDefinition, 'env' | 'description'>[] {
  const file = toFileSetting(setting)
  return file === undefined ? [setting] : [setting, file]
}

/** Collects the flags that were given, by the names of their variables. */
export function readFlags(command: Command): Record<string, string | undefined> {
  const values = command.opts<Record<string, unknown>>()
  const flags: Record<string, string | undefined> = {}
  for (const { env } of Object.values<SettingDefinition>(SETTINGS).flatMap(formsOf)) {
    const value = values[toOptionName(toFlag(env))]
    if (typeof value === 'string') flags[env] = value
  }
  return flags
}

/**
 * The settings that a command was given, with a warning of flags that hold a secret.
 *
 * @throws ConfigError
 */
export function readConfig(io: CommandIo, command: Command): Config {
  const flags = readFlags(command)
  const config = loadConfig(io.environment, flags)
  for (const flag of findSecretFlags(flags)) {
    io.stderr.write(`Warning: ${flag} ${SECRET_FLAG_WARNING}\n`)
  }
  return config
}

/**
 * Runs `work` with the database of the data folder or DATABASE_URL open, and closes it again.
 *
 * @throws AppError `not_found` for a data folder without a database, unless the command may make one: a folder that
 * was meant to be another is never answered with a new, empty database
 */
export async function runWithServices(
  io: CommandIo,
  command: Command,
  { mayMakeDatabase }: { readonly mayMakeDatabase: boolean },
  work: (services: ServiceFoundation) => Promise<void>,
): Promise<void> {
  const config = await withServedSettings(readConfig(io, command))
  const services = await explainSystemErrors(() => {
    if (!mayMakeDatabase) assertDatabase(config)
    return openFoundation(config, { purpose: 'command' })
  })
  try {
    await work(services)
  } finally {
    await services.close()
  }
}

function assertDatabase({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined || !isWithoutDatabase(dataDir)) return
  throw new AppError(
    'not_found',
    `There is no database in ${resolve(dataDir)}. Name the data folder of the service with --data-dir or HELIOGRAPH_DATA_DIR; \`heliograph serve\` and \`heliograph migrate\` make a new database.`,
  )
}

/** A service that runs here may have been started with flags that the command was not given. */
async function withServedSettings(config: Config): Promise<Config> {
  const served = await findServedSettings(config)
  if (served === undefined) return config
  return {
    ...config,
    baseUrl: config.isBaseUrlGiven ? config.baseUrl : served.baseUrl,
    allowedTargets: config.areAllowedTargetsGiven ? config.allowedTargets : served.allowedTargets,
  }
}

function toOptionName(flag: string): string {
  return flag.replace(/^--/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

import type { Command } from 'commander'
import type { ChangeOrigin } from '../changes/change.ts'
import { openFoundation, type ServiceFoundation } from '../app/foundation.ts'
import { loadConfig } from '../app/config/load-config.ts'
import { SETTINGS, toFlag, type SettingDefinition } from '../app/config/settings.ts'
import type { CommandIo } from './command-io.ts'
import { explainSystemErrors } from './explain-system-errors.ts'
import { option, type OptionSpec } from './option.ts'

/** Settings that every command takes as flags: they say which database it works on. */
const DATABASE_SETTINGS = [SETTINGS.dataDir, SETTINGS.databaseUrl, SETTINGS.masterKey] as const

/** Changes made on the command line are the service's own doing, under a name that says so. */
export const COMMAND_LINE_ORIGIN: ChangeOrigin = {
  actor: { type: 'System', id: null, name: 'Command line', email: null },
}

/** The flag of a setting: `--port` for `HELIOGRAPH_PORT`. */
export function settingOption({
  env,
  description,
}: SettingDefinition): OptionSpec<string | undefined> {
  return option(`${toFlag(env)} <value>`, `${description} [${env}]`)
}

/** The flags that choose the database. */
export const DATABASE_OPTIONS = DATABASE_SETTINGS.map(settingOption)

/** Collects the flags that were given, by the names of their variables. */
export function readFlags(command: Command): Record<string, string | undefined> {
  const values = command.opts<Record<string, unknown>>()
  const flags: Record<string, string | undefined> = {}
  for (const setting of Object.values(SETTINGS)) {
    const value = values[toOptionName(toFlag(setting.env))]
    if (typeof value === 'string') flags[setting.env] = value
  }
  return flags
}

/** Runs `work` with the database of the data folder or DATABASE_URL open, and closes it again. */
export async function runWithServices(
  io: CommandIo,
  command: Command,
  work: (services: ServiceFoundation) => Promise<void>,
): Promise<void> {
  const config = loadConfig(io.environment, readFlags(command))
  const services = await explainSystemErrors(() => openFoundation(config, { purpose: 'command' }))
  try {
    await work(services)
  } finally {
    await services.close()
  }
}

function toOptionName(flag: string): string {
  return flag.replace(/^--/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

import { SettingProblem } from './setting-values.ts'
import { SETTINGS, toFlag, type SettingDefinition, type SettingName } from './settings.ts'

type Values = { [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]['parse']> }

/** The settings of one process, checked. */
export interface Config extends Omit<Values, 'baseUrl'> {
  /** Without a trailing slash. */
  readonly baseUrl: string
}

/** Every problem of the configuration at once, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((line) => `  - ${line}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * Checks the settings, flags before variables.
 *
 * @param environment variables by name
 * @param flags values of flags by the variable's name
 * @throws ConfigError with all problems
 */
export function loadConfig(
  environment: Readonly<Record<string, string | undefined>>,
  flags: Readonly<Record<string, string | undefined>> = {},
): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries<SettingDefinition>(SETTINGS)) {
    const text = flags[setting.env] ?? environment[setting.env]
    try {
      values[name] = setting.parse(text === '' ? undefined : text)
    } catch (error) {
      if (!(error instanceof SettingProblem)) throw error
      problems.push(describe(setting, text, error))
    }
  }
  problems.push(...findContradictions(values))
  if (problems.length > 0) throw new ConfigError(problems)
  const config = values as unknown as Values
  return { ...config, baseUrl: config.baseUrl ?? defaultBaseUrl(config) }
}

function describe(
  setting: SettingDefinition,
  text: string | undefined,
  problem: SettingProblem,
): string {
  const shown = setting.isSecret === true || text === undefined ? '' : ` (it is "${text}")`
  return `${setting.env} (${toFlag(setting.env)}): ${problem.message}${shown}`
}

/** Of what is valid by itself; the default base URL is a loopback address. */
function findContradictions(config: Partial<Values>): string[] {
  const problems: string[] = []
  const url = config.baseUrl === undefined ? undefined : new URL(config.baseUrl)
  if (url?.protocol === 'http:' && !isLoopback(url.hostname)) {
    problems.push(
      `HELIOGRAPH_BASE_URL is plain HTTP and not a loopback address (${url.host}): use https, because keys and device data travel over it`,
    )
  }
  if (config.migrationDatabaseUrl !== undefined && config.databaseUrl === undefined) {
    problems.push(
      'HELIOGRAPH_MIGRATION_DATABASE_URL belongs to DATABASE_URL: the embedded database has an owner already',
    )
  }
  if (config.reportingDatabaseUrl !== undefined && config.databaseUrl === undefined) {
    problems.push(
      'HELIOGRAPH_REPORTING_DATABASE_URL belongs to DATABASE_URL: the embedded database has a role for reporting already',
    )
  }
  if (config.databaseSessionUrl !== undefined && config.databaseUrl === undefined) {
    problems.push(
      'HELIOGRAPH_DATABASE_SESSION_URL belongs to DATABASE_URL: the embedded database has no pooler before it',
    )
  }
  const isSelfSigned = config.tlsCert === 'self-signed' || config.tlsKey === 'self-signed'
  if (!isSelfSigned && (config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    problems.push('HELIOGRAPH_TLS_CERT and HELIOGRAPH_TLS_KEY belong together: set both or neither')
  }
  return problems
}

/** Whether the service itself speaks TLS. */
export function isTlsConfigured(config: Pick<Config, 'tlsCert' | 'tlsKey'>): boolean {
  return config.tlsCert !== undefined || config.tlsKey !== undefined
}

function defaultBaseUrl(config: Pick<Config, 'port' | 'tlsCert' | 'tlsKey'>): string {
  return `${isTlsConfigured(config) ? 'https' : 'http'}://127.0.0.1:${config.port}`
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

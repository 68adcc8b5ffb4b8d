import { readFileSync, statSync } from 'node:fs'
import { errorCodeOf } from '../../platform/error-code-of.ts'
import { SettingProblem } from './setting-values.ts'
import {
  SETTINGS,
  toFileSetting,
  toFlag,
  type SettingDefinition,
  type SettingName,
} from './settings.ts'

type Values = { [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]['parse']> }

/** The settings of one process, checked. */
export interface Config extends Omit<Values, 'baseUrl'> {
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** False where the base URL follows from the port and the scheme. */
  readonly isBaseUrlGiven: boolean
  /** True also where none are given by an empty text. */
  readonly areAllowedTargetsGiven: boolean
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

/** The texts of settings by the names of their variables. */
export type SettingTexts = Readonly<Record<string, string | undefined>>

/**
 * Checks the settings, flags before variables. Secret settings may stand in files, which are read.
 *
 * @param environment variables by name
 * @param flags values of flags by the variable's name
 * @throws ConfigError with all problems
 */
export function loadConfig(environment: SettingTexts, flags: SettingTexts = {}): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries<SettingDefinition>(SETTINGS)) {
    let given: GivenText | undefined
    try {
      given = findText(setting, flags) ?? findText(setting, environment)
      values[name] = setting.parse(given?.text)
    } catch (error) {
      if (!(error instanceof SettingProblem)) throw error
      problems.push(describe(setting, given, error))
    }
  }
  problems.push(...findContradictions(values))
  if (problems.length > 0) throw new ConfigError(problems)
  const config = values as unknown as Values
  return {
    ...config,
    baseUrl: config.baseUrl ?? defaultBaseUrl(config),
    isBaseUrlGiven: config.baseUrl !== undefined,
    areAllowedTargetsGiven: [flags, environment].some(
      (texts) => texts[SETTINGS.allowedTargets.env] !== undefined,
    ),
  }
}

/** The flags that hold a secret, which everybody on this machine can read in the list of processes. */
export function findSecretFlags(flags: SettingTexts): string[] {
  return Object.values<SettingDefinition>(SETTINGS)
    .filter(({ env, isSecret }) => isSecret === true && hasSecret(flags[env]))
    .map(({ env }) => toFlag(env))
}

/** An address without a password tells nothing. */
function hasSecret(text: string | undefined): boolean {
  if (text === undefined || text === '') return false
  const url = URL.parse(text.replace('@/', '@socket/'))
  return url === null || url.password !== '' || url.searchParams.has('password')
}

interface GivenText {
  readonly text: string
  /** The variable that it comes from. */
  readonly env: string
}

/** The text of a setting in one of the two places; an empty one is none. */
function findText(setting: SettingDefinition, texts: SettingTexts): GivenText | undefined {
  const { env } = setting
  const text = texts[env] || undefined
  const file = toFileSetting(setting)
  const path = (file && texts[file.env]) || undefined
  if (file === undefined || path === undefined)
    return text === undefined ? undefined : { text, env }
  if (text !== undefined) throw new SettingProblem(`give it or ${file.env}, not both`)
  return { text: readSettingFile(path, file.env), env: file.env }
}

const FILE_BYTES_MAX = 65_536

function readSettingFile(path: string, env: string): string {
  try {
    const { size } = statSync(path)
    const text = size > FILE_BYTES_MAX ? '' : readFileSync(path, 'utf8').trim()
    if (text !== '') return text
  } catch (error) {
    throw new SettingProblem(`the file ${path} of ${env} cannot be read (${errorCodeOf(error)})`)
  }
  throw new SettingProblem(`the file ${path} of ${env} is empty, or too large`)
}

function describe(
  setting: SettingDefinition,
  given: GivenText | undefined,
  problem: SettingProblem,
): string {
  const { env } = given ?? setting
  const shown = setting.isSecret === true || given === undefined ? '' : ` (it is "${given.text}")`
  return `${env} (${toFlag(env)}): ${problem.message}${shown}`
}

function findSharedPort({ probePorts, port = 0 }: Partial<Values>): string[] {
  if (probePorts === undefined || port < probePorts.first || port > probePorts.last) return []
  return [`HELIOGRAPH_PROBE_PORTS holds HELIOGRAPH_PORT (${port}): it needs ports of its own`]
}

/** What is about a database of one's own, and what the embedded one has instead. */
const NEEDING_A_DATABASE = [
  [
    'migrationDatabaseUrl',
    'HELIOGRAPH_MIGRATION_DATABASE_URL belongs to DATABASE_URL: the embedded database has an owner already',
  ],
  [
    'reportingDatabaseUrl',
    'HELIOGRAPH_REPORTING_DATABASE_URL belongs to DATABASE_URL: the embedded database has a role for reporting already',
  ],
  [
    'databaseSessionUrl',
    'HELIOGRAPH_DATABASE_SESSION_URL belongs to DATABASE_URL: the embedded database has no pooler before it',
  ],
  [
    'databaseReadUrl',
    'DATABASE_READ_URL belongs to DATABASE_URL: the embedded database has no replica',
  ],
] as const satisfies readonly (readonly [keyof Values, string])[]

/** Of what is valid by itself; the default base URL is a loopback address. */
function findContradictions(config: Partial<Values>): string[] {
  const problems: string[] = []
  const url = config.baseUrl === undefined ? undefined : new URL(config.baseUrl)
  if (url?.protocol === 'http:' && !isLoopback(url.hostname)) {
    problems.push(
      `HELIOGRAPH_BASE_URL is plain HTTP and not a loopback address (${url.host}): use https, because keys and device data travel over it`,
    )
  }
  problems.push(...findSharedPort(config))
  if (config.databaseUrl === undefined) {
    problems.push(
      ...NEEDING_A_DATABASE.flatMap(([key, why]) => (config[key] === undefined ? [] : [why])),
    )
  }
  const isSelfSigned = config.tlsCert === 'self-signed' || config.tlsKey === 'self-signed'
  if (!isSelfSigned && (config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    problems.push('HELIOGRAPH_TLS_CERT and HELIOGRAPH_TLS_KEY belong together: set both or neither')
  }
  if (isSelfSigned && [config.tlsCert, config.tlsKey].some(isFile)) {
    problems.push(
      'HELIOGRAPH_TLS_CERT and HELIOGRAPH_TLS_KEY: with self-signed the service makes both, and no file is read; leave the other out',
    )
  }
  return problems
}

function isFile(source: string | undefined): boolean {
  return source !== undefined && source !== 'self-signed'
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

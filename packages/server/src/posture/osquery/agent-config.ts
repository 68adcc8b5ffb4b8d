import type { AgentSettings } from './agent-settings.ts'

/** An entry of `schedule` in osquery's configuration; the interval is in seconds. */
export interface ScheduledQuery {
  readonly query: string
  readonly interval: number
  readonly snapshot?: boolean
  readonly platform?: string
}

/**
 * The configuration that every agent gets, as text: the options that may change while it runs, and the
 * schedule of what it reports. Equal input gives equal text, which agents recognise as unchanged.
 */
export function toAgentConfig(
  settings: Pick<
    AgentSettings,
    'checkInIntervalSeconds' | 'configRefreshSeconds' | 'logLinesMax' | 'logPeriodSeconds'
  >,
  schedule: Readonly<Record<string, ScheduledQuery>>,
): string {
  const names = Object.keys(schedule).sort()
  return JSON.stringify({
    options: {
      config_refresh: settings.configRefreshSeconds,
      distributed_interval: settings.checkInIntervalSeconds,
      logger_tls_max_lines: settings.logLinesMax,
      logger_tls_period: settings.logPeriodSeconds,
      schedule_splay_percent: 10,
    },
    schedule: Object.fromEntries(names.map((name) => [name, schedule[name]])),
  })
}

/** Where a device keeps what the flag file speaks of. */
export interface FlagFilePaths {
  readonly enrollSecret: string
  /** The certificate that agents pin; undefined leaves it to the authorities that osquery brings. */
  readonly certificate: string | undefined
  /** Flags of the agent's own files, by name. */
  readonly own?: Readonly<Record<string, string>>
}

/** The places that osquery's own packages read on each platform, and the flag file lies beside them. */
export const FLAG_FILE_PATHS = {
  darwin: {
    enrollSecret: '/private/var/osquery/enroll_secret',
    certificate: '/private/var/osquery/heliograph.pem',
  },
  windows: {
    enrollSecret: 'C:\\Program Files\\osquery\\enroll_secret',
    certificate: 'C:\\Program Files\\osquery\\heliograph.pem',
  },
  linux: {
    enrollSecret: '/etc/osquery/enroll_secret',
    certificate: '/etc/osquery/heliograph.pem',
  },
} as const satisfies Record<string, FlagFilePaths>

/**
 * A flag file for osqueryd that enrolls into this service. The files of the paths are put beside it:
 * the enrollment secret, and the certificate that `/osquery/certificate.pem` serves.
 */
export function toFlagFile(baseUrl: string, settings: AgentSettings, paths: FlagFilePaths): string {
  const { host } = new URL(baseUrl)
  const { certificate, own = {} } = paths
  const flags = [
    ['tls_hostname', host],
    ...(certificate === undefined ? [] : [['tls_server_certs', certificate]]),
    ['host_identifier', 'uuid'],
    ['enroll_secret_path', paths.enrollSecret],
    ...Object.entries(own),
    ['enroll_tls_endpoint', '/osquery/enroll'],
    ['config_plugin', 'tls'],
    ['config_tls_endpoint', '/osquery/config'],
    ['config_refresh', String(settings.configRefreshSeconds)],
    ['logger_plugin', 'tls'],
    ['logger_tls_endpoint', '/osquery/log'],
    ['logger_tls_max_lines', String(settings.logLinesMax)],
    ['logger_tls_period', String(settings.logPeriodSeconds)],
    ['logger_tls_compress', 'true'],
    ['disable_distributed', 'false'],
    ['distributed_plugin', 'tls'],
    ['distributed_interval', String(settings.checkInIntervalSeconds)],
    ['distributed_tls_max_attempts', '3'],
    ['distributed_tls_read_endpoint', '/osquery/distributed/read'],
    ['distributed_tls_write_endpoint', '/osquery/distributed/write'],
  ]
  return flags.map(([name, value]) => `--${name}=${value}\n`).join('')
}

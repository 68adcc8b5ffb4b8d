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
  settings: AgentSettings,
  schedule: Readonly<Record<string, ScheduledQuery>>,
): string {
  const names = Object.keys(schedule).sort()
  return JSON.stringify({
    options: {
      config_refresh: settings.configRefreshSeconds,
      distributed_interval: settings.checkInIntervalSeconds,
      logger_tls_period: settings.logPeriodSeconds,
      schedule_splay_percent: 10,
    },
    schedule: Object.fromEntries(names.map((name) => [name, schedule[name]])),
  })
}

/**
 * A flag file for osqueryd that enrolls into this service. The two paths are those of files that the
 * admin puts beside it: the enrollment secret, and the certificate that `/osquery/certificate.pem`
 * serves.
 */
export function toFlagFile(baseUrl: string, settings: AgentSettings): string {
  const { host } = new URL(baseUrl)
  const flags = [
    ['tls_hostname', host],
    ['tls_server_certs', '/etc/osquery/heliograph.pem'],
    ['host_identifier', 'uuid'],
    ['enroll_secret_path', '/etc/osquery/enroll_secret'],
    ['enroll_tls_endpoint', '/osquery/enroll'],
    ['config_plugin', 'tls'],
    ['config_tls_endpoint', '/osquery/config'],
    ['config_refresh', String(settings.configRefreshSeconds)],
    ['logger_plugin', 'tls'],
    ['logger_tls_endpoint', '/osquery/log'],
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

import { isJsonObject } from './failure-contract.ts'
import type { JsonObject } from './failure-contract.ts'
import type { AgentFlags } from './node-options.ts'

type OptionReader = (value: unknown) => Partial<AgentFlags> | undefined

function readSeconds(set: (seconds: number) => Partial<AgentFlags>): OptionReader {
  return (value) => {
    const seconds = Number(value)
    return Number.isFinite(seconds) && seconds >= 0 ? set(seconds) : undefined
  }
}

function readBoolean(set: (flag: boolean) => Partial<AgentFlags>): OptionReader {
  return (value) => set(value === true || value === 'true' || value === 1 || value === '1')
}

const OPTION_READERS: Readonly<Record<string, OptionReader>> = {
  distributed_interval: readSeconds((seconds) => ({ distributedIntervalSeconds: seconds })),
  distributed_denylist_duration: readSeconds((seconds) => ({
    distributedDenylistSeconds: seconds,
  })),
  distributed_tls_max_attempts: readSeconds((attempts) => ({ tlsAttemptsMax: attempts })),
  config_refresh: readSeconds((seconds) => ({ configRefreshSeconds: seconds })),
  config_accelerated_refresh: readSeconds((seconds) => ({
    configAcceleratedRefreshSeconds: seconds,
  })),
  logger_tls_period: readSeconds((seconds) => ({ loggerPeriodSeconds: seconds })),
  logger_tls_backoff_max: readSeconds((seconds) => ({ loggerBackoffMaxSeconds: seconds })),
  logger_tls_compress: readBoolean((flag) => ({ isLoggerCompressed: flag })),
  buffered_log_max: readSeconds((lines) => ({ bufferedLinesMax: lines })),
  schedule_splay_percent: readSeconds((percent) => ({ scheduleSplayPercent: percent })),
  schedule_epoch: readSeconds((epoch) => ({ scheduleEpoch: epoch })),
  log_result_events: readBoolean((flag) => ({ logsResultsAsEvents: flag })),
  value_max: readSeconds((characters) => ({ columnCharactersMax: characters })),
}

/** Flags that a configuration may not change because they only count at start. */
const STARTUP_OPTIONS = new Set([
  'tls_hostname',
  'enroll_secret_path',
  'config_plugin',
  'logger_plugin',
  'distributed_plugin',
  'disable_distributed',
  'host_identifier',
])

/** The flags that a configuration's `options` change, and warnings about those it cannot. */
export function readRemoteOptions(config: JsonObject): {
  changes: Partial<AgentFlags>
  warnings: string[]
} {
  const options = isJsonObject(config['options']) ? config['options'] : {}
  const warnings: string[] = []
  let changes: Partial<AgentFlags> = {}
  for (const [name, value] of Object.entries(options)) {
    const change = OPTION_READERS[name]?.(value)
    if (change !== undefined) changes = { ...changes, ...change }
    else if (STARTUP_OPTIONS.has(name)) warnings.push(`Cannot set startup flag: ${name}`)
    else warnings.push(`Cannot set unknown or invalid flag: ${name}`)
  }
  return { changes, warnings }
}

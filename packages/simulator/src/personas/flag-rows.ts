/** The rows of `osquery_flags`: what queries ask an agent's flags for. Names and defaults are osquery's. */
import type { StoredRow } from '../sql/platform-database.ts'

/** Name, type, default, and the value of an agent that a service like ours configures. */
const FLAGS: readonly (readonly [string, string, string, string])[] = [
  ['config_plugin', 'string', 'filesystem', 'tls'],
  ['config_refresh', 'uint64', '0', '300'],
  ['disable_carver', 'bool', 'true', 'true'],
  ['disable_distributed', 'bool', 'true', 'false'],
  ['disable_events', 'bool', 'false', 'true'],
  ['distributed_interval', 'uint64', '60', '60'],
  ['distributed_plugin', 'string', 'tls', 'tls'],
  ['host_identifier', 'string', 'hostname', 'uuid'],
  ['logger_plugin', 'string', 'filesystem', 'tls'],
  ['logger_tls_max_lines', 'uint64', '1024', '1024'],
  ['logger_tls_period', 'uint64', '4', '10'],
  ['schedule_splay_percent', 'uint64', '10', '10'],
  ['value_max', 'int32', '512', '512'],
  ['watchdog_level', 'int32', '0', '0'],
]

/** The flags of one agent. */
export function flagRows(): StoredRow[] {
  return FLAGS.map(([name, type, defaultValue, value]) => ({
    name,
    type,
    default_value: defaultValue,
    value,
    shell_only: 0,
  }))
}

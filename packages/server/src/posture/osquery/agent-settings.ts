import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'

/** The limits and intervals of the agent intake. */
export interface AgentSettings {
  /** How often every check runs on every device. */
  readonly checkIntervalMs: number
  /** How long a device waits between two requests for work; osquery's `distributed_interval`. */
  readonly checkInIntervalSeconds: number
  /**
   * For how long a request for work is held while there is none, in milliseconds; 0 holds none. osquery waits for
   * 16 seconds, proxies usually for 60.
   */
  readonly checkInHoldMs: number
  /** The same of devices that somebody waits for. */
  readonly hurried: { readonly checkInIntervalSeconds: number; readonly checkInHoldMs: number }
  /**
   * How much of a body is read, in bytes, after decompression. Larger ones of `enroll` and `read` are
   * refused; of `write` and `log`, which the agent would send again for ever, the rest is left out.
   */
  readonly bodyBytesMax: {
    readonly enroll: number
    readonly read: number
    readonly write: number
    readonly log: number
  }
  /** How long work that was handed out is left alone before it is handed out again. */
  readonly handOutTimeoutMs: number
  /** For how long a device that has just enrolled, or owes a rerun, is asked to poll every 5 seconds. */
  readonly accelerateMs: number
  /** Wrong keys and secrets of one address in any minute before its failures are refused unseen. */
  readonly failuresPerAddressPerMinute: number
  /** Enrollments of one host identifier from one address in any minute before it has to wait. */
  readonly enrollmentsPerHostPerMinute: number
  /** For how long after its last use a node key counts as alive. */
  readonly nodeKeyAliveMs: number
  /** How often a device asks for its configuration; osquery's `config_refresh`. */
  readonly configRefreshSeconds: number
  /** How many lines a device sends at once; osquery's `logger_tls_max_lines`. */
  readonly logLinesMax: number
  /** How often a device sends its logs; osquery's `logger_tls_period`. */
  readonly logPeriodSeconds: number
}

const KIBIBYTE = 1024
const MEBIBYTE = 1024 * KIBIBYTE

export const AGENT_SETTINGS_DEFAULT: AgentSettings = {
  checkIntervalMs: HOUR_MS,
  checkInIntervalSeconds: 5,
  checkInHoldMs: 10 * SECOND_MS,
  hurried: { checkInIntervalSeconds: 1, checkInHoldMs: 12 * SECOND_MS },
  bodyBytesMax: {
    enroll: 64 * KIBIBYTE,
    read: 64 * KIBIBYTE,
    write: 64 * MEBIBYTE,
    log: 64 * MEBIBYTE,
  },
  handOutTimeoutMs: 5 * MINUTE_MS,
  accelerateMs: 2 * MINUTE_MS,
  failuresPerAddressPerMinute: 60,
  enrollmentsPerHostPerMinute: 10,
  nodeKeyAliveMs: 3 * DAY_MS,
  configRefreshSeconds: 300,
  // Lines are 1 MiB at most, so that this many are within the limit of a log. Devices write some 40 an hour.
  logLinesMax: 64,
  logPeriodSeconds: 10,
}

/** What an operator sets about agents. */
export interface AgentTimes {
  readonly checkIntervalSeconds: number
  readonly checkInIntervalSeconds: number
  readonly checkInHoldSeconds: number
  readonly agentLogBytesMax: number
  readonly nodeKeyAliveSeconds: number
}

/** How agents work with a service of these settings. */
export function toAgentSettings({
  checkIntervalSeconds,
  checkInIntervalSeconds,
  checkInHoldSeconds,
  agentLogBytesMax,
  nodeKeyAliveSeconds,
}: AgentTimes): AgentSettings {
  const { hurried } = AGENT_SETTINGS_DEFAULT
  const checkInHoldMs = checkInHoldSeconds * SECOND_MS
  return {
    ...AGENT_SETTINGS_DEFAULT,
    checkIntervalMs: checkIntervalSeconds * SECOND_MS,
    checkInIntervalSeconds,
    checkInHoldMs,
    hurried: {
      checkInIntervalSeconds: Math.min(hurried.checkInIntervalSeconds, checkInIntervalSeconds),
      checkInHoldMs: checkInHoldMs === 0 ? 0 : Math.max(hurried.checkInHoldMs, checkInHoldMs),
    },
    nodeKeyAliveMs: nodeKeyAliveSeconds * SECOND_MS,
    bodyBytesMax: { ...AGENT_SETTINGS_DEFAULT.bodyBytesMax, log: agentLogBytesMax },
  }
}

import { createHash } from 'node:crypto'

/** Where the agent sends what; osquery's `*_tls_endpoint` flags. */
export interface NodePaths {
  readonly enroll: string
  readonly config: string
  readonly log: string
  readonly distributedRead: string
  readonly distributedWrite: string
}

export const DEFAULT_PATHS: NodePaths = {
  enroll: '/osquery/enroll',
  config: '/osquery/config',
  log: '/osquery/log',
  distributedRead: '/osquery/distributed/read',
  distributedWrite: '/osquery/distributed/write',
}

/** Ways in which older agents differ on the wire. */
export interface AgentQuirks {
  /** From 5.23 on, every request after enrollment also carries `Authorization: NodeKey <key>`. */
  readonly sendsAuthorizationHeader: boolean
  /** Agents before 4.4 sent `""` for a query without rows. */
  readonly sendsEmptyStringForNoRows: boolean
  /** Early agents sent statuses as strings. */
  readonly sendsStringStatuses: boolean
  /** `messages` exists since 4.4. */
  readonly sendsMessages: boolean
  /** `stats` exists since 5.8.1. */
  readonly sendsStats: boolean
  /** Before 5.8.1 a query without a discovery query did not run when any discovery was sent. */
  readonly requiresDiscoveryForEveryQuery: boolean
}

export const CURRENT_AGENT: AgentQuirks = {
  sendsAuthorizationHeader: true,
  sendsEmptyStringForNoRows: false,
  sendsStringStatuses: false,
  sendsMessages: true,
  sendsStats: true,
  requiresDiscoveryForEveryQuery: false,
}

export const OLD_AGENT: AgentQuirks = {
  sendsAuthorizationHeader: false,
  sendsEmptyStringForNoRows: true,
  sendsStringStatuses: true,
  sendsMessages: false,
  sendsStats: false,
  requiresDiscoveryForEveryQuery: true,
}

/** The agent's flags. Names are osquery's, units in seconds as osquery has them. */
export interface AgentFlags {
  readonly agentVersion: string
  /** 0 fetches the configuration once. */
  readonly configRefreshSeconds: number
  readonly configAcceleratedRefreshSeconds: number
  readonly distributedIntervalSeconds: number
  readonly isDistributedDisabled: boolean
  readonly distributedDenylistSeconds: number
  readonly loggerPeriodSeconds: number
  readonly loggerBackoffMaxSeconds: number
  readonly isLoggerCompressed: boolean
  readonly bufferedLinesMax: number
  readonly enrollAttemptsMax: number
  readonly tlsAttemptsMax: number
  readonly isReenrollmentDisabled: boolean
  readonly enrollsAlways: boolean
  readonly scheduleSplayPercent: number
  readonly scheduleEpoch: number
  readonly logsResultsAsEvents: boolean
  readonly columnCharactersMax: number
  readonly paths: NodePaths
  readonly quirks: AgentQuirks
}

export const DEFAULT_FLAGS: AgentFlags = {
  agentVersion: '5.23.1',
  configRefreshSeconds: 0,
  configAcceleratedRefreshSeconds: 300,
  distributedIntervalSeconds: 60,
  isDistributedDisabled: false,
  distributedDenylistSeconds: 86_400,
  loggerPeriodSeconds: 4,
  loggerBackoffMaxSeconds: 3_600,
  isLoggerCompressed: false,
  bufferedLinesMax: 1_000_000,
  enrollAttemptsMax: 12,
  tlsAttemptsMax: 3,
  isReenrollmentDisabled: false,
  enrollsAlways: false,
  scheduleSplayPercent: 10,
  scheduleEpoch: 0,
  logsResultsAsEvents: true,
  columnCharactersMax: 512,
  paths: DEFAULT_PATHS,
  quirks: CURRENT_AGENT,
}

/** The hash under which the agent remembers a query text. */
export function hashSql(sql: string): string {
  return createHash('sha256').update(sql).digest('hex')
}

export interface ServerSettings {
  /** The file that says who may connect. */
  readonly accessRules: string
  readonly socketDirectory: string
  readonly connectionsMax: number
  /** Whether an acknowledged commit survives power loss. False only for throw-away test databases. */
  readonly isDurable: boolean
}

/**
 * The settings of the embedded server as arguments of `postgres`. Arguments win over the files in
 * the cluster, so a server always runs as this program knows it.
 */
export function toServerArguments(settings: ServerSettings): string[] {
  return Object.entries(toParameters(settings)).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
}

function toParameters(settings: ServerSettings): Record<string, string> {
  return {
    cluster_name: 'heliograph',
    // Reachable through a socket in a private folder only, never through the network.
    listen_addresses: '',
    unix_socket_directories: `"${settings.socketDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    hba_file: settings.accessRules,
    ssl: 'off',
    max_connections: String(settings.connectionsMax),
    ...DURABILITY[settings.isDurable ? 'full' : 'none'],
    ...RESOURCES,
    ...LOGGING,
  }
}

const DURABILITY = {
  // What was acknowledged survives power loss: the reason for a real PostgreSQL.
  full: { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' },
  none: {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    // With hundreds of databases a worker would be started all the time, and none of them lives long.
    autovacuum: 'off',
  },
} as const

/** A small server beside its only client, on one machine. */
const RESOURCES = {
  shared_buffers: '128MB',
  // Guides the planner only; a quarter of a small machine is used by the page cache anyway.
  effective_cache_size: '1GB',
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
  // No replica and no archive can attach, so the log needs to describe no more than recovery uses.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  // Full page images dominate the log of small updates; compressing them costs little.
  wal_compression: 'on',
  max_wal_size: '1GB',
  // One page at a time: asynchronous reads need worker processes that a small server never repays.
  io_method: 'sync',
  // Solid state storage: a random page costs nearly what a sequential one does.
  random_page_cost: '1.1',
  // Short statements: compiling takes longer than running them.
  jit: 'off',
  // Parallel plans need /dev/shm, which containers limit to 64 MB, and take cores from the service.
  max_parallel_workers_per_gather: '0',
  // Queue tables change all the time; looking often keeps them small.
  autovacuum_max_workers: '2',
  autovacuum_naptime: '15s',
  // Ends what a killed client left running, with the locks that it holds.
  client_connection_check_interval: '10s',
  timezone: 'UTC',
} as const

/** Lines on standard error, which the supervisor reads: the kind of process, then the message. */
const LOGGING = {
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%b|',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // Statements and the details of errors hold the data of users, so neither is logged.
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
} as const

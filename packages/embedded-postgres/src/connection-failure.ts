/** What the network says while a server is down, restarting or out of reach. */
const NETWORK_CODES: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

/** SQLSTATEs of a server that cannot work at the moment (PostgreSQL, appendix A). */
const SERVER_CODES: ReadonlySet<string> = new Set([
  '25P03', // idle_in_transaction_session_timeout
  '25006', // read_only_sql_transaction: the server is a standby during a fail-over
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
])

/** Connection exceptions (08) and insufficient resources (53: disk, memory, connections). */
const SERVER_CLASSES: readonly string[] = ['08', '53']

/** The driver reports the loss of a connection by text alone. */
const DRIVER_MESSAGES: readonly RegExp[] = [
  /^Connection terminated/,
  /^timeout exceeded when trying to connect/,
  /^timeout expired$/,
  /is not queryable$/,
]

/** Whether the database could not be reached or went away, so that trying again later may help. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  if (code === undefined) return DRIVER_MESSAGES.some((message) => message.test(error.message))
  // A missing file is a missing socket only where something tried to connect.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect'
  if (NETWORK_CODES.has(code) || SERVER_CODES.has(code)) return true
  return /^[0-9A-Z]{5}$/.test(code) && SERVER_CLASSES.includes(code.slice(0, 2))
}

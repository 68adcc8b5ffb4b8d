/*
 * What can be wrong with a database that the program is not to blame for: it is away, lets nobody in, is busy, only
 * reads, or its disk or a limit of the system is used up. Each has a sentence for whoever called and one for the
 * operator. Also tells apart what an error is about: the database, or what was asked of it. Does not own what a refusal
 * means for whoever asked.
 */
import { isConnectionFailure } from '@heliograph/embedded-postgres'
import { errorCodeOf } from '../error-code-of.ts'

export interface DatabaseFault {
  readonly kind: 'away' | 'refused' | 'busy' | 'read_only' | 'full' | 'storage' | 'file_handles'
  /** For whoever called. Public. */
  readonly message: string
  readonly retryAfterSeconds: number
  /** What the operator does about it. */
  readonly advice: string
}

const AWAY: DatabaseFault = {
  kind: 'away',
  message: 'The database cannot be reached at the moment.',
  retryAfterSeconds: 2,
  advice:
    'See whether the database runs and whether DATABASE_URL leads to it; why one that the service runs itself does not, says the log of the service. A service that runs goes on by itself when it is back.',
}

const REFUSED: DatabaseFault = {
  kind: 'refused',
  message: 'The database does not let the service in at the moment.',
  retryAfterSeconds: 5,
  advice:
    'See the role, the password and the database in DATABASE_URL, or in the setting that names this role, and pg_hba.conf of the server. A password that was changed takes a restart with the new one.',
}

const UNTRUSTED: DatabaseFault = {
  ...AWAY,
  advice:
    'The certificate of the database is not accepted: see whether it has expired or is for another host, and which authority sslmode and sslrootcert of DATABASE_URL ask for.',
}

/** What Node.js says of certificates (its "Errors" and "TLS"). */
const CERTIFICATE_CODES =
  /^(?:ERR_TLS_CERT_|CERT_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|UNABLE_TO_)/

/** What node-postgres says of a server that answers a request for TLS with a no. */
const NO_TLS: DatabaseFault = {
  ...AWAY,
  advice:
    'sslmode of DATABASE_URL asks for TLS, which the database does not speak: turn it on there (ssl = on), or take sslmode out of the URL where nobody can listen on the way.',
}

/** What node-postgres says at the beginning, and PgBouncer does not take by itself. */
const POOLER_REFUSES: DatabaseFault = {
  ...AWAY,
  advice:
    'The connection pooler refuses settings of the service. Add to pgbouncer.ini: ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout, options',
}

const BUSY: DatabaseFault = {
  kind: 'busy',
  message: 'The service is busy: the database did not come to this request in time.',
  retryAfterSeconds: 10,
  advice:
    'See what the database is busy with (pg_stat_activity). More connections help where it is idle: HELIOGRAPH_DATABASE_POOL_MAX.',
}

const LOCKED: DatabaseFault = {
  ...BUSY,
  message: 'The service is busy: another change holds what this request needs.',
  advice: 'See who holds the lock, and for how long (pg_locks, pg_blocking_pids).',
}

const BUSY_POOL: DatabaseFault = {
  ...BUSY,
  message: 'The service is busy: no connection to the database became free in time.',
}

const TOO_MANY_CONNECTIONS: DatabaseFault = {
  ...BUSY,
  message: 'The service is busy: the database takes no more connections.',
  advice:
    'Raise max_connections of the database, or the connection limit of the role, or lower HELIOGRAPH_DATABASE_POOL_MAX of each process: a process opens that many connections and nine more.',
}

const NOTIFICATIONS_FULL: DatabaseFault = {
  ...BUSY,
  message: 'The service is busy: the database has no room for what it tells other processes.',
  advice:
    'Somebody who listens reads nothing: end the session that has a transaction open and has listened (pg_stat_activity, pg_notification_queue_usage()).',
}

/** Also what a server says of itself before anything is written. */
export const READ_ONLY: DatabaseFault = {
  kind: 'read_only',
  message: 'The service cannot store anything at the moment: its database only reads.',
  retryAfterSeconds: 5,
  advice:
    'The server is a standby, or was told to be read-only (default_transaction_read_only, also by a provider whose disk is full). Let DATABASE_URL lead to the primary: name all servers in it, or a proxy that checks which one it is.',
}

const FULL: DatabaseFault = {
  kind: 'full',
  message: 'The service cannot store anything at the moment: the disk of its database is full.',
  retryAfterSeconds: 30,
  advice:
    'Free some space on the disk of the database, or enlarge it. A service that runs goes on by itself then.',
}

const STORAGE: DatabaseFault = {
  kind: 'storage',
  message: 'The service cannot store anything at the moment: the disk of its database fails.',
  retryAfterSeconds: 30,
  advice:
    'See whether the file system of the database is mounted read-only or its disk is broken (dmesg), and mount it for writing again.',
}

const FILE_HANDLES: DatabaseFault = {
  kind: 'file_handles',
  message: 'The service has too few file handles for another connection.',
  retryAfterSeconds: 10,
  advice:
    'Raise the limit of open files of the service (LimitNOFILE of systemd, ulimit -n, nofile of the container): every connection of a device, client and database takes one.',
}

const FAULT_OF_CODE: Readonly<Record<string, DatabaseFault>> = {
  '25006': READ_ONLY, // read_only_sql_transaction
  '40001': BUSY, // serialization_failure, after every attempt
  '40P01': BUSY, // deadlock_detected, after every attempt
  '53000': FILE_HANDLES, // insufficient_resources: the server has no more file handles
  '53100': FULL, // disk_full
  '53200': BUSY, // out_of_memory
  '53300': TOO_MANY_CONNECTIONS,
  '55P03': LOCKED, // lock_not_available
  '57014': BUSY, // query_canceled: it took longer than a statement may
  '58030': STORAGE, // io_error
  EDQUOT: FULL,
  EIO: STORAGE,
  EMFILE: FILE_HANDLES,
  ENFILE: FILE_HANDLES,
  ENOSPC: FULL,
  EROFS: STORAGE,
}

/** Where the server reads and writes files; it tells of a file system that refuses as of a missing privilege. */
const STORAGE_SOURCES: ReadonlySet<string> = new Set([
  'buffile.c',
  'copydir.c',
  'fd.c',
  'md.c',
  'relmapper.c',
  'slru.c',
  'smgr.c',
  'xlog.c',
])

const INSUFFICIENT_PRIVILEGE = '42501'

/** What is refused with codes that say too little, by the code and the routine that refuses it. */
const FAULT_OF_ROUTINE: Readonly<Record<string, DatabaseFault>> = {
  '0A000 get_relation_info': READ_ONLY, // a standby has no temporary and unlogged relations
  '54000 PreCommit_Notify': NOTIFICATIONS_FULL,
  '55000 LockAcquireExtended': READ_ONLY, // a standby
}

/** The fault that an error tells of; undefined for every other error, which is then a bug or its own refusal. */
export function findDatabaseFault(error: unknown): DatabaseFault | undefined {
  if (!(error instanceof Error)) return undefined
  // The pool tells by its text alone that all its connections stayed in use.
  if (error.message === 'timeout exceeded when trying to connect') return BUSY_POOL
  if (error.message.startsWith('unsupported startup parameter')) return POOLER_REFUSES
  if (error.message.includes('The server does not support SSL connections')) return NO_TLS
  const code = errorCodeOf(error)
  if (isLoginRefusal(error)) return REFUSED
  if (CERTIFICATE_CODES.test(code)) return UNTRUSTED
  if (isRefusedByStorage(error)) return STORAGE
  const { routine } = error as { routine?: unknown }
  return (
    FAULT_OF_ROUTINE[`${code} ${String(routine)}`] ??
    FAULT_OF_CODE[code] ??
    (isConnectionFailure(error) ? AWAY : undefined)
  )
}

/** A wrong password or no entry in `pg_hba.conf` (28), and no such database (3D). */
const LOGIN_REFUSAL_CODES = /^(?:28|3D)[0-9A-Z]{3}$/
/** What node-postgres says where a password is missing, or a server does not know it; a host may stand before. */
const SCRAM_FAILURE = /(?:^|: )SASL: /

/** Whether the server let the role not in, which only an operator can mend. */
export function isLoginRefusal(error: Error): boolean {
  const code = errorCodeOf(error)
  return code === '' ? SCRAM_FAILURE.test(error.message) : LOGIN_REFUSAL_CODES.test(code)
}

/** Conflicts, locks and statements that took too long, and what was too large: with other contents it may go well. */
const FAULT_CODES_OF_CONTENTS: ReadonlySet<string> = new Set([
  '40001',
  '40P01',
  '53200',
  '55P03',
  '57014',
])

/** Whether an error tells of a conflict or a limit that a part of the contents alone may not meet. */
export function isFaultOfContents(error: unknown): boolean {
  return FAULT_CODES_OF_CONTENTS.has(errorCodeOf(error))
}

/** Whether an error tells of the database as it is, whatever was asked of it. */
export function isFaultOfDatabase(error: unknown): boolean {
  return findDatabaseFault(error) !== undefined && !isFaultOfContents(error)
}

/** Data exceptions, constraints, limits, and what is raised in the database itself. PostgreSQL, appendix A. */
const REFUSAL_CODES_OF_CONTENTS = /^(?:22|23|54|P0)[0-9A-Z]{3}$/

/** Whether the database refuses the contents for what they are: they would fail each time, others may go well. */
export function isRefusalOfContents(error: unknown): boolean {
  return (
    REFUSAL_CODES_OF_CONTENTS.test(errorCodeOf(error)) && findDatabaseFault(error) === undefined
  )
}

/** Whether an error is about some of the contents: others may go well without them. */
export function isAboutContents(error: unknown): boolean {
  return isRefusalOfContents(error) || isFaultOfContents(error)
}

/** Whether an error tells neither of the database nor of the contents: it may pass, or some contents meet a bug. */
export function isUnknownFault(error: unknown): boolean {
  return findDatabaseFault(error) === undefined && !isRefusalOfContents(error)
}

/** Whether a fault means that nothing can be written, although the database may answer. */
export function hindersWrites(fault: DatabaseFault): boolean {
  return fault.kind === 'read_only' || fault.kind === 'full' || fault.kind === 'storage'
}

/** Whether an error tells that nothing can be written. */
export function isHinderedWrite(error: unknown): boolean {
  const fault = findDatabaseFault(error)
  return fault !== undefined && hindersWrites(fault)
}

/** Waits for a write that nothing depends on: it may be missing while nothing can be stored. */
export async function ignoreHinderedWrite(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!isHinderedWrite(error)) throw error
  }
}

/** Whether the file system of the server refused it a file, as one that is mounted read-only does. */
export function isRefusedByStorage(error: unknown): boolean {
  if (errorCodeOf(error) !== INSUFFICIENT_PRIVILEGE) return false
  const { file } = error as { file?: unknown }
  return typeof file === 'string' && STORAGE_SOURCES.has(file)
}

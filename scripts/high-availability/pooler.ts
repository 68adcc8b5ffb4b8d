/*
 * PgBouncer in transaction mode before HAProxy, for the statements of the service; what needs a session goes past it.
 */
import { execFileSync } from 'node:child_process'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChildProcesses } from './child-processes.ts'
import { findPostgresUser } from './postgres-user.ts'
import { takePorts } from './take-ports.ts'

/** Fewer than the processes open: connections are shared. */
const SERVER_CONNECTIONS = 12

/** Answers the port of the pooler. */
export async function startPooler(
  processes: ChildProcesses,
  folder: string,
  databasePort: number,
): Promise<number> {
  const [port = 0] = await takePorts(1)
  const own = join(folder, 'pgbouncer')
  await mkdir(own, { mode: 0o700 })
  const configuration = join(own, 'pgbouncer.ini')
  await writeFile(
    configuration,
    `[databases]
heliograph = host=127.0.0.1 port=${databasePort} dbname=heliograph user=heliograph

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 500
ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout, options
server_login_retry = 1
server_check_delay = 2
${keepsPreparedStatements() ? 'max_prepared_statements = 400' : ''}
`,
  )
  // It does not run as root either.
  const user = findPostgresUser()
  if (user !== undefined) {
    for (const path of [own, configuration]) await chown(path, user.uid, user.gid)
  }
  processes.run('pgbouncer', ['pgbouncer', configuration], { user })
  return port
}

/** Since version 1.21; older ones do not know the setting. */
function keepsPreparedStatements(): boolean {
  const said = execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' })
  const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(said) ?? []
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 21)
}

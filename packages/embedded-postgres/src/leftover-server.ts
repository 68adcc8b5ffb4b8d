import { execFile } from 'node:child_process'
import { readFile, readlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { SECOND_MS } from './durations.ts'
import type { ServerLog } from './server-log.ts'
import { DatabaseStartError } from './database-start-error.ts'

const run = promisify(execFile)

const FAST_SHUTDOWN_MAX_MS = 30 * SECOND_MS
const IMMEDIATE_SHUTDOWN_MAX_MS = 10 * SECOND_MS
const POLL_MS = 20

/** What the pid file of a cluster tells about a server that another process left behind. */
export type Leftover =
  | { readonly kind: 'none' }
  /** The number belongs to another program by now, which PostgreSQL could take for a server. */
  | { readonly kind: 'reused'; readonly pid: number }
  | { readonly kind: 'running'; readonly pid: number }

/**
 * Stops the server of a cluster whose parent was killed, first in order, then at once; both keep what
 * was committed. Must be called while holding the lock of the cluster: only then is a server that runs
 * a leftover. Answers the number of another program that the pid file names by accident, if any.
 */
export async function stopLeftoverServer(
  cluster: string,
  log: ServerLog,
): Promise<number | undefined> {
  const leftover = await findLeftover(cluster)
  if (leftover.kind === 'none') return undefined
  if (leftover.kind === 'reused') return leftover.pid
  const { pid } = leftover
  log.warn({ pid }, 'database.leftover_server_stopping')
  for (const [signal, waitMs] of [
    ['SIGINT', FAST_SHUTDOWN_MAX_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MAX_MS],
  ] as const) {
    signalServer(pid, signal)
    if (await hasEnded(cluster, pid, waitMs)) return undefined
  }
  throw new DatabaseStartError(
    `A database server from an earlier run (process ${pid}) does not stop. End it, then start again.`,
  )
}

/** Reads the pid file of a cluster and looks at the process that it names. */
export async function findLeftover(cluster: string): Promise<Leftover> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => undefined)
  const pid = Number.parseInt(text ?? '', 10)
  if (!Number.isSafeInteger(pid) || pid <= 0) return { kind: 'none' }
  const command = await findCommand(pid)
  if (command === undefined) return { kind: 'none' }
  const isServer =
    basename(command.program) === 'postgres' &&
    (command.text.includes(cluster) || command.folder === cluster)
  return { kind: isServer ? 'running' : 'reused', pid }
}

interface Command {
  readonly program: string
  readonly text: string
  readonly folder: string | undefined
}

/** The command of a live process; a dead one that nobody has collected yet is not live. */
async function findCommand(pid: number): Promise<Command | undefined> {
  return process.platform === 'linux' ? findCommandInProc(pid) : findCommandWithPs(pid)
}

async function findCommandInProc(pid: number): Promise<Command | undefined> {
  try {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The state follows the name, which stands in parentheses and may hold anything.
    const state = status.slice(status.lastIndexOf(')') + 2).charAt(0)
    if (state === 'Z' || state === 'X') return undefined
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8')
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
    return { program: text.split('\0')[0] ?? '', text, folder }
  } catch {
    return undefined
  }
}

async function findCommandWithPs(pid: number): Promise<Command | undefined> {
  try {
    const { stdout } = await run('ps', ['-o', 'stat=,command=', '-p', String(pid)])
    const [state = '', program = ''] = stdout.trim().split(/\s+/)
    if (state === '' || state.startsWith('Z')) return undefined
    return { program, text: stdout, folder: undefined }
  } catch {
    return undefined
  }
}

function signalServer(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return
    throw new DatabaseStartError(
      `A database server from an earlier run (process ${pid}) belongs to another user. End it, then start again.`,
      { cause: error },
    )
  }
}

async function hasEnded(cluster: string, pid: number, waitMs: number): Promise<boolean> {
  const endMs = performance.now() + waitMs
  while (performance.now() < endMs) {
    const leftover = await findLeftover(cluster)
    if (leftover.kind !== 'running' || leftover.pid !== pid) return true
    await sleep(POLL_MS)
  }
  return false
}

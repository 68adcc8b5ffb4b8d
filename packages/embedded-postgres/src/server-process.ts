import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { MINUTE_MS, SECOND_MS } from './durations.ts'
import type { SocketConnection } from './socket-connection.ts'
import type { ServerLog } from './server-log.ts'
import { isConnectionFailure } from './connection-failure.ts'
import { SERVER_ENVIRONMENT } from './initialise-cluster.ts'
import type { ServerAccount } from './server-account.ts'

export interface ServerLaunch {
  readonly program: string
  readonly args: readonly string[]
  readonly account: ServerAccount | undefined
  /** The superuser's connection; it answers when the server is ready. */
  readonly administration: SocketConnection
  /** A process that is not a server although the pid file names it. */
  readonly ignoredPid: number | undefined
  readonly log: ServerLog
}

/** A `postgres` process from its start to its end. */
export interface ServerProcess {
  readonly pid: number | undefined
  /** Resolves when the process has ended, with its last lines; never rejects. */
  readonly ended: Promise<readonly string[]>
  /** Resolves with whether the server takes connections, or ended before it did. */
  waitUntilReady(): Promise<boolean>
  /** Ends the server in order, then by force; what was committed stays. Resolves when it has ended. */
  stop(): Promise<void>
  /** Asks the server to end and does not wait; for the exit of this process. */
  requestStop(): void
}

const LINES_KEPT = 20
const READY_POLL_MS = 20
/** Recovery after a crash takes as long as the log is long; this much is certainly a fault. */
const READY_MAX_MS = 10 * MINUTE_MS
const RECOVERY_REPORT_MS = 10 * SECOND_MS
/** The last checkpoint writes everything that changed, up to the size of the shared buffers. */
const FAST_SHUTDOWN_MAX_MS = 30 * SECOND_MS
const IMMEDIATE_SHUTDOWN_MAX_MS = 5 * SECOND_MS

/**
 * What the C library of Linux keeps of freed memory, in bytes. By itself it gives back all but 128 KiB: most statements
 * would have memory given back and taken again, and the system clears it each time.
 */
const KEPT_MEMORY = { MALLOC_TOP_PAD_: '524288', MALLOC_TRIM_THRESHOLD_: '1048576' } as const

/** Starts a server. It leads its own process group, so Ctrl-C in a terminal does not reach it. */
export function launchServer(launch: ServerLaunch): ServerProcess {
  const lines: string[] = []
  const child = spawn(launch.program, launch.args, {
    ...launch.account,
    cwd: '/',
    detached: true,
    env: {
      ...SERVER_ENVIRONMENT,
      ...KEPT_MEMORY,
      // PostgreSQL leaves this process out when it asks whether the pid file names a live server.
      ...(launch.ignoredPid === undefined ? {} : { PG_GRANDPARENT_PID: String(launch.ignoredPid) }),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (concernsClient(line)) return
    lines.push(line)
    if (lines.length > LINES_KEPT) lines.shift()
    reportLine(launch.log, line)
  })
  let hasEnded = false
  const ended = new Promise<readonly string[]>((resolve) => {
    const finish = () => {
      hasEnded = true
      resolve(lines)
    }
    child.on('error', (error) => {
      lines.push(error.message)
      if (child.pid === undefined) finish()
    })
    child.on('close', finish)
  })
  return {
    pid: child.pid,
    ended,
    waitUntilReady: () => waitUntilReady(launch, () => hasEnded),
    stop: () => stopServer(child, ended),
    requestStop: () => void child.kill('SIGINT'),
  }
}

async function waitUntilReady(launch: ServerLaunch, hasEnded: () => boolean): Promise<boolean> {
  const startMs = performance.now()
  let reportMs = startMs + RECOVERY_REPORT_MS
  while (!hasEnded()) {
    if (await answers(launch.administration)) return true
    const nowMs = performance.now()
    if (nowMs - startMs > READY_MAX_MS) return false
    if (nowMs > reportMs) {
      reportMs = nowMs + RECOVERY_REPORT_MS
      const waitedSeconds = Math.round((nowMs - startMs) / SECOND_MS)
      launch.log.info({ waitedSeconds }, 'database.recovering')
    }
    await sleep(READY_POLL_MS)
  }
  return false
}

async function answers(connection: SocketConnection): Promise<boolean> {
  const client = new Client({
    ...connection,
    connectionTimeoutMillis: 5 * SECOND_MS,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch (error) {
    if (isConnectionFailure(error)) return false
    throw error
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function stopServer(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGINT', FAST_SHUTDOWN_MAX_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MAX_MS],
    ['SIGKILL', IMMEDIATE_SHUTDOWN_MAX_MS],
  ] as const) {
    child.kill(signal)
    const timeout = new AbortController()
    const isOver = await Promise.race([
      ended.then(() => true),
      sleep(waitMs, false, { signal: timeout.signal, ref: true }).catch(() => false),
    ])
    timeout.abort()
    if (isOver) return
  }
}

/** What a client did wrong is told to the client, and may quote data: it stays out of the log. */
function concernsClient(line: string): boolean {
  return line.startsWith('client backend|') || line.startsWith('\t')
}

function reportLine(log: ServerLog, line: string): void {
  const [, process = '', severity = '', text = line] = /^([^|]*)\|(\w+): {2}(.*)$/.exec(line) ?? []
  const fields = { process, severity, text }
  if (severity === 'PANIC') log.error(fields, 'database.server_message')
  else if (severity === 'LOG') log.debug(fields, 'database.server_message')
  else log.warn(fields, 'database.server_message')
}

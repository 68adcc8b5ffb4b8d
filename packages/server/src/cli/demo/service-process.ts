/*
 * The service of the demo: `heliograph serve` as a process of its own, from its start to its end.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { DemoError } from './demo-error.ts'

export interface ServiceLaunch {
  /** Settings by the names of their variables; nothing else configures the service. */
  readonly settings: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly baseUrl: string
}

/** A service that runs. */
export interface ServiceProcess {
  /** Resolves with the reason when the process has ended; never rejects. */
  readonly ended: Promise<string>
  /**
   * Resolves when the service can serve.
   *
   * @throws DemoError with its last lines when it ends before that or takes longer than a minute
   */
  waitUntilReady(signal: AbortSignal): Promise<void>
  /** Ends the service in order, then by force. Resolves when it has ended. */
  stop(): Promise<void>
}

const READY_MAX_MS = 60_000
const READY_POLL_MS = 150
/** A second signal makes the service give up what it waits for, but still end its database. */
const INSIST_AFTER_MS = 12_000
const KILL_AFTER_MS = 16_000
const LINES_KEPT = 20

/** Starts the service with the program and the flags that this process was started with. */
export function launchService(launch: ServiceLaunch): ServiceProcess {
  const program = process.argv[1]
  if (program === undefined) throw new DemoError('The program of the service is not known.')
  const child = spawn(process.execPath, [...process.execArgv, program, 'serve'], {
    env: { ...withoutSettings(launch.environment), ...launch.settings },
    // A group of its own: Ctrl-C reaches the demo alone, which then ends the service in order.
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = listenTo(child)
  const { lines } = said
  let reason: string | undefined
  const ended = new Promise<string>((resolve) => {
    const finish = (text: string) => {
      reason ??= [text, ...lines].join('\n')
      resolve(reason)
    }
    child.once('error', (error) => finish(`The service cannot be started: ${error.message}`))
    child.once('close', (code, signal) =>
      finish(`The service ended (${signal ?? `code ${code}`}).`),
    )
  })
  // When this process is forced to end, nothing else would end the service.
  const endWithProcess = () => void child.kill('SIGTERM')
  process.once('exit', endWithProcess)
  void ended.then(() => process.off('exit', endWithProcess))
  return {
    ended,
    waitUntilReady: (signal) =>
      waitUntilReady(launch.baseUrl, {
        signal,
        findReason: () => reason,
        said,
      }),
    stop: () => stopChild(child, ended),
  }
}

interface Waiting {
  readonly signal: AbortSignal
  readonly findReason: () => string | undefined
  readonly said: Sayings
}

async function waitUntilReady(baseUrl: string, waiting: Waiting): Promise<void> {
  const startMs = performance.now()
  for (;;) {
    const elapsedMs = performance.now() - startMs
    const reason = waiting.findReason()
    if (reason !== undefined) throw new DemoError(reason)
    if (elapsedMs > READY_MAX_MS) {
      const text = `The service was not ready after ${READY_MAX_MS / 1_000} s.`
      throw new DemoError([text, ...waiting.said.lines].join('\n'))
    }
    if (waiting.signal.aborted) return
    // Whoever answers at the address may be another service that took the port just before.
    if (waiting.said.isReadyAnnounced() && (await isReady(baseUrl))) return
    await sleep(READY_POLL_MS)
  }
}

async function isReady(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(3_000) })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  const timers = [
    setTimeout(() => child.kill('SIGTERM'), INSIST_AFTER_MS),
    setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS),
  ]
  child.kill('SIGTERM')
  await ended
  for (const timer of timers) clearTimeout(timer)
}

/** What the service wrote. */
interface Sayings {
  /** The last lines; they explain an end that nobody asked for. */
  readonly lines: readonly string[]
  /** Whether it has said that it is ready. */
  isReadyAnnounced(): boolean
}

const READY_LINE = /^Heliograph is ready at /

function listenTo(child: ChildProcess): Sayings {
  const lines: string[] = []
  let isReady = false
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      if (READY_LINE.test(line)) isReady = true
      lines.push(line)
      if (lines.length > LINES_KEPT) lines.shift()
    })
  }
  return { lines, isReadyAnnounced: () => isReady }
}

/** The demo works on a database of its own, whatever service the shell is set up for. */
function withoutSettings(
  environment: ServiceLaunch['environment'],
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => name !== 'DATABASE_URL' && !name.startsWith('HELIOGRAPH_'),
    ),
  )
}

/**
 * The wanted port of the loopback interface; without one the preferred one, or another one when that
 * is taken.
 *
 * @throws DemoError when the wanted port is taken: another service would answer in its place
 */
export async function choosePort(wanted: number | undefined, preferred: number): Promise<number> {
  const port = await tryPort(wanted ?? preferred)
  if (port !== undefined) return port
  const other = wanted === undefined ? await tryPort(0) : undefined
  if (other !== undefined) return other
  throw new DemoError(`The port ${wanted ?? preferred} is taken. Choose another with --port.`)
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : undefined
      server.close(() => resolve(bound))
    })
  })
}

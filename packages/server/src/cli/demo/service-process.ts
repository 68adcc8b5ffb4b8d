/*
 * The service of the demo: `heliograph serve` as a process of its own, from its start to its end.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { DemoError } from './demo-error.ts'

/** A service that runs. */
export interface ServiceProcess {
  /** Resolves with the reason and the last lines when the process has ended; never rejects. */
  readonly ended: Promise<string>
  /**
   * Resolves when the service says that it is ready, or when the signal is aborted.
   *
   * @throws DemoError when it ends before that or takes longer than a minute
   */
  waitUntilReady(signal: AbortSignal): Promise<void>
  /** Ends the service in order, then by force. Resolves when it has ended. */
  stop(): Promise<void>
}

const READY_LINE = /^Heliograph is ready at /
const READY_MAX_MS = 60_000
/** A second signal makes the service give up what it waits for, but still end its database. */
const INSIST_AFTER_MS = 12_000
const KILL_AFTER_MS = 16_000
const LINES_KEPT = 20

/**
 * Starts the service with the program and the flags that this process was started with. `settings` are
 * by the names of their variables; nothing else configures the service.
 */
export function launchService(
  settings: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string | undefined>>,
): ServiceProcess {
  const program = process.argv[1]
  if (program === undefined) throw new DemoError('The program of the service is not known.')
  const child = spawn(process.execPath, [...process.execArgv, program, 'serve'], {
    env: { ...withoutSettings(environment), ...settings },
    // A group of its own: Ctrl-C reaches the demo alone, which then ends the service in order.
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const explain = (text: string) => [text, ...lines].join('\n')
  const ready = new Promise<undefined>((resolve) => {
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on('line', (line) => {
        if (READY_LINE.test(line)) resolve(undefined)
        lines.push(line)
        if (lines.length > LINES_KEPT) lines.shift()
      })
    }
  })
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(`The service cannot be started: ${message}`))
    child.once('close', (code, signal) =>
      resolve(explain(`The service ended (${signal ?? `code ${code}`}).`)),
    )
  })
  // When this process is forced to end, nothing else would end the service.
  const endWithProcess = () => void child.kill('SIGTERM')
  process.once('exit', endWithProcess)
  void ended.then(() => process.off('exit', endWithProcess))
  return {
    ended,
    async waitUntilReady(signal) {
      const late = `The service was not ready after ${READY_MAX_MS / 1_000} s.`
      const lateness = sleep(READY_MAX_MS, late, { signal, ref: false }).then(
        explain,
        () => undefined,
      )
      const failure = await Promise.race([ready, ended, lateness])
      if (failure !== undefined) throw new DemoError(failure)
    },
    async stop() {
      const timers = [
        setTimeout(() => child.kill('SIGTERM'), INSIST_AFTER_MS),
        setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS),
      ]
      child.kill('SIGTERM')
      await ended
      for (const timer of timers) clearTimeout(timer)
    },
  }
}

/** The demo works on a database of its own, whatever service the shell is set up for. */
function withoutSettings(environment: Readonly<Record<string, string | undefined>>) {
  const entries = Object.entries(environment)
  return Object.fromEntries(
    entries.filter(([name]) => name !== 'DATABASE_URL' && !name.startsWith('HELIOGRAPH_')),
  )
}

/**
 * The wanted port of the loopback interface; without one the preferred one, or another one when that
 * is taken.
 *
 * @throws DemoError when the wanted port is taken: another service would answer in its place
 */
export async function choosePort(wanted: number | undefined, preferred: number): Promise<number> {
  for (const port of wanted === undefined ? [preferred, 0] : [wanted]) {
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch {
      continue
    }
    const bound = (server.address() as AddressInfo).port
    server.close()
    await once(server, 'close')
    return bound
  }
  throw new DemoError(`The port ${wanted ?? preferred} is taken. Choose another with --port.`)
}

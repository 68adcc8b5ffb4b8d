/*
 * The service as a real process of its own, with its own data folder and port, and its command line.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Agent, request } from 'undici'
import { findProgram } from './program.ts'

/** For commands: it runs them from a bundle, at a third of the CPU time. */
const PROGRAM = join(import.meta.dirname, '../../../bin/heliograph.mjs')
/** For the question whether it is ready; every other client verifies. */
const ANY_CERTIFICATE = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 0 })
const READY_TIMEOUT_MS = 180_000
const REQUEST_TIMEOUT_MS = 5_000

export interface ServiceOptions {
  readonly dataDir: string
  readonly port: number
  readonly environment?: Readonly<Record<string, string>>
  /** Serve TLS with a certificate of the service's own authority. */
  readonly isTls?: boolean
  /** Start it in a session of its own, as a service of the system. */
  readonly hasOwnSession?: boolean
}

/** A service that can be started, killed and started again on the same folder and port. */
export class ServiceProcess {
  readonly baseUrl: string
  readonly #options: ServiceOptions
  #child: ChildProcess | undefined
  #output = ''

  constructor(options: ServiceOptions) {
    this.#options = options
    const scheme = options.isTls === true ? 'https' : 'http'
    this.baseUrl = `${scheme}://127.0.0.1:${options.port}`
  }

  /** Resolves when the service is ready. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [...(await findProgram()), 'serve'], {
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: this.#options.hasOwnSession === true,
    })
    this.#child = child
    // A test whose preparation took too long never comes to its clean-up.
    const stop = (): void => void child.kill('SIGTERM')
    process.once('exit', stop)
    child.once('exit', () => process.off('exit', stop))
    const remember = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-20_000)
    }
    child.stdout.on('data', remember)
    child.stderr.on('data', remember)
    const end = performance.now() + READY_TIMEOUT_MS
    while (!(await this.#isReady())) {
      if (hasExited(child) || performance.now() > end) {
        throw new Error(`the service did not become ready:\n${this.#output}`)
      }
      await sleep(50)
    }
  }

  /** kill -9, of the service alone or of its database server too. */
  async kill(isDatabaseKilled: boolean): Promise<void> {
    const databasePid = isDatabaseKilled ? await this.#findDatabasePid() : undefined
    const child = this.#child
    if (child === undefined) return
    const exited = waitForExit(child)
    if (databasePid !== undefined) process.kill(databasePid, 'SIGKILL')
    child.kill('SIGKILL')
    await exited
    this.#child = undefined
  }

  /** Sends a signal to the service alone. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** SIGTERM; answers the exit code. */
  async stop(): Promise<number | null> {
    const child = this.#child
    if (child === undefined) return null
    const exited = waitForExit(child)
    child.kill('SIGTERM')
    this.#child = undefined
    return exited
  }

  /** Runs a command beside the service and answers what it prints with `--json`. */
  async command(...args: readonly string[]): Promise<unknown> {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args, '--json'], {
      env: this.#environment(),
      maxBuffer: 10_000_000,
    })
    return JSON.parse(stdout)
  }

  /** Of the service; undefined while it does not run. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  get output(): string {
    return this.#output
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      HELIOGRAPH_DATA_DIR: this.#options.dataDir,
      HELIOGRAPH_PORT: String(this.#options.port),
      HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
      ...(this.#options.isTls === true
        ? { HELIOGRAPH_BASE_URL: this.baseUrl, HELIOGRAPH_TLS_CERT: 'self-signed' }
        : {}),
      ...this.#options.environment,
    }
  }

  async #isReady(): Promise<boolean> {
    try {
      const { statusCode, body } = await request(`${this.baseUrl}/readyz`, {
        dispatcher: ANY_CERTIFICATE,
        headersTimeout: REQUEST_TIMEOUT_MS,
      })
      await body.dump()
      return statusCode === 200
    } catch {
      return false
    }
  }

  /** The server writes its process id into the first line of `postmaster.pid`. */
  async #findDatabasePid(): Promise<number | undefined> {
    const file = join(this.#options.dataDir, 'postgres', 'cluster', 'postmaster.pid')
    const text = await readFile(file, 'utf8').catch(() => '')
    const pid = Number(text.split('\n')[0])
    return pid > 0 ? pid : undefined
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function waitForExit(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    if (hasExited(child)) resolve(child.exitCode)
    else child.once('exit', (code) => resolve(code))
  })
}

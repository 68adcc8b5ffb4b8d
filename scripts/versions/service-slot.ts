/*
 * One of the processes that share a database, in whichever version it runs at the moment: on a port of its own, with
 * what it logs. Requests come to it through the balancer, or directly.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { VersionTree } from './version-tree.ts'

const FLAGS = ['--conditions=source', '--disable-warning=ExperimentalWarning']
const START_TIMEOUT_MS = 180_000
const POLL_MS = 100

export type Environment = Readonly<Record<string, string>>

/** What a process logged at `warn` or above, or complained of beside its log. */
export interface LoggedProblem {
  readonly isError: boolean
  readonly text: string
}

/** Requests that were on their way to a process when it was taken out of rotation have reached it by then. */
const DRAIN_MS = 2_000

export class ServiceSlot {
  readonly port: number
  readonly problems: LoggedProblem[] = []
  /** Whether the balancer gives it requests. */
  isInRotation = false
  version: VersionTree | undefined
  readonly #environment: Environment
  #child: ChildProcess | undefined

  constructor(port: number, environment: Environment) {
    this.port = port
    this.#environment = environment
  }

  get name(): string {
    return this.version?.name ?? 'no process'
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Starts the process in a version and takes it into rotation. */
  async start(version: VersionTree): Promise<void> {
    const main = join(version.folder, 'packages/server/src/main.ts')
    const child = spawn(process.execPath, [...FLAGS, main, 'serve'], {
      cwd: version.folder,
      env: toEnvironment(this.#environment, { HELIOGRAPH_PORT: String(this.port) }),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.version = version
    const read = (input: Readable) => createInterface({ input })
    read(child.stdout).on('line', (line) => this.#note(version, toProblem(line, false)))
    read(child.stderr).on('line', (line) => this.#note(version, toProblem(line, true)))
    const stop = () => void child.kill('SIGTERM')
    process.once('exit', stop)
    child.once('exit', () => process.off('exit', stop))
    const endMs = performance.now() + START_TIMEOUT_MS
    while (!(await this.#isReady())) {
      if (child.exitCode !== null || performance.now() > endMs) {
        const said = this.problems.map(({ text }) => text).slice(-3)
        throw new Error(`version ${version.name} did not start:\n${said.join('\n')}`)
      }
      await sleep(POLL_MS)
    }
    this.isInRotation = true
  }

  /** Takes the process out of rotation and stops it in order; answers its exit code. */
  async stop(): Promise<number | null> {
    this.isInRotation = false
    const child = this.#child
    if (child === undefined || child.exitCode !== null) return null
    const exited = once(child, 'exit')
    await sleep(DRAIN_MS)
    child.kill('SIGTERM')
    await exited
    return child.exitCode
  }

  #note({ name }: VersionTree, problem: LoggedProblem | undefined): void {
    if (problem === undefined || problem.text === '') return
    this.problems.push({ ...problem, text: `${name}: ${problem.text}` })
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/readyz`)).status === 200
    } catch {
      return false
    }
  }
}

/** Runs a command of a version and answers what it prints with `--json`. */
export async function runCommand(
  version: VersionTree,
  environment: Environment,
  args: readonly string[],
): Promise<unknown> {
  const main = join(version.folder, 'packages/server/src/main.ts')
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...FLAGS, main, ...args, '--json'],
    { cwd: version.folder, env: toEnvironment(environment, {}) },
  )
  return JSON.parse(stdout)
}

/** Nothing of the operator's own settings may reach it, their database least of all. */
function toEnvironment(environment: Environment, more: Environment): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR, ...environment, ...more }
}

/** What a line complains of; one that is no line of the log does so where `isComplaint`. */
function toProblem(line: string, isComplaint: boolean): LoggedProblem | undefined {
  try {
    const { level, msg } = JSON.parse(line) as { level?: unknown; msg?: unknown }
    if (level === 'warn') return { isError: false, text: String(msg) }
    return level === 'error' || level === 'fatal' ? { isError: true, text: line } : undefined
  } catch {
    return isComplaint ? { isError: true, text: line } : undefined
  }
}

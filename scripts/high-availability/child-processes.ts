/*
 * The programs that the test starts, each with its log in a folder. Whatever happens, they end with the test, by their
 * process ids and those of their children alone.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ProgramOptions {
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  readonly environment?: Readonly<Record<string, string>>
}

/** A program that can be ended and started again. */
export interface Program {
  readonly name: string
  start(): void
  /** Its own process id; 0 before it was started. */
  pid(): number
  /** Its process ids: its own, and those of the processes that it has started. */
  pids(): number[]
  /** Sends a signal to it, or to its whole family. */
  signal(signal: NodeJS.Signals, scope: 'self' | 'family'): void
  /** Ends it and its family, whatever they are doing; resolves when they are gone. */
  kill(): Promise<void>
}

const GONE_MAX_MS = 10_000

export class ChildProcesses {
  readonly #logFolder: string
  readonly #programs: Program[] = []

  constructor(logFolder: string) {
    this.#logFolder = logFolder
    process.once('exit', () => {
      for (const program of this.#programs) program.signal('SIGKILL', 'family')
    })
  }

  /** Declares a program and starts it. `findOthers` tells of processes that left the family. */
  run(
    name: string,
    command: readonly [string, ...string[]],
    options: ProgramOptions = {},
    findOthers: () => readonly number[] = () => [],
  ): Program {
    const log = join(this.#logFolder, `${name}.log`)
    let child: ChildProcess | undefined
    const program: Program = {
      name,
      start() {
        child = spawnTo(log, command, options)
      },
      pid: () => child?.pid ?? 0,
      pids: () => listFamily([child?.pid, ...findOthers()].filter((pid) => pid !== undefined)),
      signal(signal, scope) {
        const pids = scope === 'self' ? [child?.pid ?? 0] : program.pids()
        for (const pid of pids) send(pid, signal)
      },
      async kill() {
        const pids = program.pids()
        for (const pid of pids) send(pid, 'SIGKILL')
        await waitUntil(() => pids.every((pid) => !isAlive(pid)), GONE_MAX_MS, `the end of ${name}`)
      },
    }
    this.#programs.push(program)
    program.start()
    return program
  }

  /** Ends all, in reverse. */
  async stop(): Promise<void> {
    for (const program of this.#programs.reverse()) await program.kill()
  }
}

/** Waits until it is so. */
export async function waitUntil(
  isSo: () => boolean | Promise<boolean>,
  maxMs: number,
  what: string,
): Promise<void> {
  const end = performance.now() + maxMs
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`)
    await sleep(50)
  }
}

function spawnTo(
  log: string,
  [command, ...args]: readonly [string, ...string[]],
  { environment, user }: ProgramOptions,
): ChildProcess {
  const output = openSync(log, 'a')
  try {
    const child = spawn(command, args, {
      stdio: ['ignore', output, output],
      cwd: '/',
      // A session of its own, as a service of the system has: a busy machine shares its cores among sessions.
      detached: true,
      env: { PATH: process.env['PATH'], ...environment },
      ...user,
    })
    // A program that cannot be started shows by what is waited for.
    child.on('error', (error) => process.stderr.write(`${command}: ${error.message}\n`))
    return child
  } finally {
    closeSync(output)
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  if (pid <= 1) return
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself.
  }
}

/** A process that has ended and waits for its parent counts as gone. */
function isAlive(pid: number): boolean {
  return !['', 'Z', 'X'].includes(readStat(pid)?.state ?? '')
}

/** These processes and their descendants. */
function listFamily(roots: readonly number[]): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined
    if (stat !== undefined) parents.set(Number(name), stat.parentPid)
  }
  const family = new Set(roots.filter((pid) => parents.has(pid)))
  for (let size = -1; size !== family.size;) {
    size = family.size
    for (const [pid, parentPid] of parents) if (family.has(parentPid)) family.add(pid)
  }
  return [...family]
}

function readStat(pid: number): { readonly state: string; readonly parentPid: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', parentPid = '0'] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state, parentPid: Number(parentPid) }
  } catch {
    return undefined
  }
}

import { spawn, type ChildProcess } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const ROOT = join(import.meta.dirname, '../../../..')
const RUN = join(ROOT, 'scripts/run.mjs')
/** The database may take its time on a busy machine. */
const WAIT_MS = 180_000

let dataDir: string
let folder: string
let started: ChildProcess | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heliograph-npm-'))
  // As root the database runs as another user, who must be able to pass through.
  await chmod(folder, 0o711)
  dataDir = join(folder, 'data')
})

afterEach(async () => {
  started?.kill('SIGTERM')
  await rm(folder, { recursive: true, force: true })
})

/** Starts the service as operators do; answers the processes that must end with it. */
async function start(command: string, args: readonly string[]) {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...withoutNpm(process.env), HELIOGRAPH_DATA_DIR: dataDir, HELIOGRAPH_PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  started = child
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await vi.waitFor(() => expect(printed).toContain('Heliograph is ready'), WAIT_MS)
  return {
    child,
    url: /http:\S+/.exec(printed)?.[0] ?? '',
    databasePid: Number.parseInt(await readFile(databasePidFile(), 'utf8'), 10),
  }
}

function databasePidFile(): string {
  return join(dataDir, 'postgres/cluster/postmaster.pid')
}

/** These tests may themselves be run by npm. */
function withoutNpm(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !name.startsWith('npm_')),
  )
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('SIGTERM', () => {
  it.each([
    ['npm start', 'npm', ['start']],
    ['the command that npm runs', process.execPath, [RUN, 'start']],
  ])('to %s ends the service and its database, in order', async (_name, command, args) => {
    const { child, url, databasePid } = await start(command, args)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(isAlive(databasePid)).toBe(true)
    child.kill('SIGTERM')
    await vi.waitFor(() => expect(isAlive(databasePid)).toBe(false), WAIT_MS)
    await vi.waitFor(async () => expect(await isServing(url)).toBe(false), WAIT_MS)
    // A server that was stopped in order removes it.
    await expect(readFile(databasePidFile())).rejects.toThrow('ENOENT')
  })

  it('to the command that npm runs is waited for: it ends with 0 after the database', async () => {
    const { child, databasePid } = await start(process.execPath, [RUN, 'start'])
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    expect([await ended, isAlive(databasePid)]).toEqual([0, false])
  })
})

async function isServing(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  )
}

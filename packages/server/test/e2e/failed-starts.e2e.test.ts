import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { findProgram } from './support/program.ts'

/** The database may take its time on a busy machine. */
const WAIT_MS = 180_000

let folder: string
let program: string[]
const running = new Set<ChildProcess>()

beforeAll(async () => {
  program = await findProgram()
  folder = await mkdtemp(join(tmpdir(), 'heliograph-starts-'))
  // As root the database runs as another user, who must be able to pass through.
  await chmod(folder, 0o711)
  const first = serve()
  await first.printed('is ready')
  first.child.kill('SIGTERM')
  expect(await first.ended).toEqual([0, ''])
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** The service of the data folder of this file, which has a database after its first start. */
const serve = (environment?: Readonly<Record<string, string>>) => run(['serve'], environment)

function run(words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { PATH, HOME } = process.env
  const settings = { HELIOGRAPH_DATA_DIR: join(folder, 'data'), HELIOGRAPH_PORT: '0' }
  const child = spawn(process.execPath, [...program, ...words], {
    env: { PATH, HOME, HELIOGRAPH_LOG_LEVEL: 'error', ...settings, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let out = ''
  let told = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()))
  // One that never ends is a failure of its test, not of the whole run.
  const limit = setTimeout(() => child.kill('SIGKILL'), WAIT_MS)
  const ended = once(child, 'close').then(([code]) => {
    clearTimeout(limit)
    running.delete(child)
    return [code as number | null, told] as const
  })
  const printed = (text: string) => vi.waitFor(() => expect(out).toContain(text), WAIT_MS)
  const logged = (line: RegExp) => vi.waitUntil(() => line.exec(told)?.[0], WAIT_MS)
  return { child, ended, printed, logged }
}

/** A server that was stopped in order removes it. */
const pidFile = () => join(folder, 'data/postgres/cluster/postmaster.pid')
const holderFile = () => join(folder, 'data/lock.json')

function expectNothingLeft() {
  expect([pidFile(), holderFile()].filter((path) => existsSync(path))).toEqual([])
}

it('a certificate that cannot be read ends the start with its setting, and the database with it', async () => {
  const missing = join(folder, 'none.pem')
  const tls = { HELIOGRAPH_TLS_CERT: missing, HELIOGRAPH_TLS_KEY: missing }
  const [code, told] = await serve(tls).ended
  expect(told).toContain('HELIOGRAPH_TLS_CERT: ')
  expect(told).not.toMatch(/\n\s+at /)
  expect(code).toBe(2)
  expectNothingLeft()
})

it('a port that is taken ends the start in one line, and the database with it', async () => {
  const taken = createServer()
  taken.listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const [code, told] = await serve({ HELIOGRAPH_PORT: String(port) }).ended
  taken.close()
  expect([code, told]).toEqual([
    3,
    `HELIOGRAPH_HOST and HELIOGRAPH_PORT say an address that the service cannot listen on: listen EADDRINUSE: address already in use 127.0.0.1:${port}.\n`,
  ])
  expectNothingLeft()
})

it('a data folder that a service uses is refused with its process, which goes on undisturbed', async () => {
  const first = serve()
  await first.printed('is ready')
  const server = await readFile(pidFile(), 'utf8')
  const [code, told] = await serve().ended
  expect(told).toMatch(
    new RegExp(`is in use by a service that runs as process ${first.child.pid} `),
  )
  expect(code).toBe(3)
  expect(await readFile(pidFile(), 'utf8')).toBe(server)
  first.child.kill('SIGTERM')
  expect(await first.ended).toEqual([0, ''])
  expectNothingLeft()
})

it('a service whose standard output is closed before its first line goes on serving', async () => {
  const unread = serve({ HELIOGRAPH_LOG_LEVEL: 'info' })
  unread.child.stdout.destroy()
  const line = await unread.logged(/^.*"service ready".*\n/m)
  const { port } = JSON.parse(line) as { port: number }
  // One that stops takes no more of them.
  for (let count = 0; count < 100; count += 1) {
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  }
  unread.child.kill('SIGTERM')
  const [code, told] = await unread.ended
  expect(code).toBe(0)
  expect(told).toContain('"stopping"')
})

it('a list whose reader has read enough ends without a word', async () => {
  const list = run(['keys', 'list'])
  list.child.stdout.destroy()
  expect(await list.ended).toEqual([0, ''])
})

it('a signal while the database starts ends the service in order', async () => {
  const stopped = serve()
  await vi.waitFor(() => expect(existsSync(pidFile())).toBe(true), WAIT_MS)
  stopped.child.kill('SIGTERM')
  expect(await stopped.ended).toEqual([0, ''])
  expectNothingLeft()
})

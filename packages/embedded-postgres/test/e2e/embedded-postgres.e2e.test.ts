import { execFileSync, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import {
  chmod,
  chown,
  lstat,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { findLeftover } from '../../src/leftover-server.ts'
import { findNamedAccount } from '../../src/server-account.ts'

interface Account {
  readonly uid: number
  readonly gid: number
}

const PROGRAM = join(import.meta.dirname, 'data-folder-process.ts')
const IS_ROOT = process.getuid?.() === 0
/** Rows before the kill, so that there is something to lose. */
const ROWS_BEFORE_KILL = 50

/** As root both ways of running; an ordinary user can run only as itself. */
const ACCOUNTS: readonly [string, Account | undefined][] = await listAccounts()

async function listAccounts(): Promise<[string, Account | undefined][]> {
  if (!IS_ROOT) return [['an ordinary user', undefined]]
  const account = await findNamedAccount()
  if (!canReach(account, PROGRAM)) return [['root', undefined]]
  return [
    ['root', undefined],
    ['an ordinary user', account],
  ]
}

/** A checkout in a folder of root alone cannot be run by anybody else. */
function canReach(account: Account, file: string): boolean {
  const script = `require('node:fs').accessSync(${JSON.stringify(file)})`
  const { status } = spawnSync(process.execPath, ['-e', script], { ...account, stdio: 'ignore' })
  return status === 0
}

const running = new Set<ServiceProcess>()
const folders = new Set<string>()

afterEach(async () => {
  for (const process of running) await process.end()
  for (const folder of folders) await removeFolder(folder)
  folders.clear()
})

/** A process of `data-folder-process.ts` and the lines that it printed. */
class ServiceProcess {
  readonly child: ChildProcess
  readonly lines: { word: string; value: unknown }[] = []
  readonly ended: Promise<number | null>

  constructor(dataDir: string, args: string[], account: Account | undefined) {
    const options = ['--conditions=source', '--disable-warning=ExperimentalWarning']
    this.child = spawn(process.execPath, [...options, PROGRAM, dataDir, ...args], {
      ...account,
      env: { ...process.env, NODE_COMPILE_CACHE: compiledBy(account) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      const space = line.indexOf(' ')
      this.lines.push({ word: line.slice(0, space), value: JSON.parse(line.slice(space + 1)) })
    })
    this.ended = new Promise((resolve) => {
      const end = (code: number | null): void => {
        running.delete(this)
        resolve(code)
      }
      this.child.on('close', end)
      // A program that cannot be started never closes.
      this.child.on('error', () => end(null))
    })
    running.add(this)
  }

  values(word: string): unknown[] {
    return this.lines.filter((line) => line.word === word).map((line) => line.value)
  }

  async waitFor(word: string, count = 1): Promise<unknown> {
    return vi.waitFor(
      () => {
        const values = this.values(word)
        expect(values.length, JSON.stringify(this.lines.slice(-5))).toBeGreaterThanOrEqual(count)
        return values.at(-1)
      },
      { timeout: 60_000, interval: 20 },
    )
  }

  async end(): Promise<void> {
    this.child.kill('SIGTERM')
    await this.ended
  }
}

/** By the user: where Node.js keeps what it made of the sources, which takes half the CPU time of a start. */
const compiledFolders = new Map<number | undefined, string>()

afterAll(() => {
  for (const folder of compiledFolders.values()) rmSync(folder, { recursive: true, force: true })
})

function compiledBy(account: Account | undefined): string {
  const known = compiledFolders.get(account?.uid)
  if (known !== undefined) return known
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-compiled-'))
  if (account !== undefined) chownSync(folder, account.uid, account.gid)
  compiledFolders.set(account?.uid, folder)
  return folder
}

function startService(dataDir: string, account?: Account): ServiceProcess {
  return new ServiceProcess(dataDir, ['service'], account)
}

async function runCommand(dataDir: string, account?: Account): Promise<ServiceProcess> {
  const command = new ServiceProcess(dataDir, ['command'], account)
  expect(await command.ended).toBe(0)
  return command
}

/** The way to a new data folder, which does not exist yet, in a folder of the account. */
async function makeParent(account: Account | undefined, mode = 0o755): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'heliograph-e2e-'))
  folders.add(parent)
  if (account !== undefined) await chown(parent, account.uid, account.gid)
  await chmod(parent, mode)
  return parent
}

/** By the user: a data folder that a service has used and stopped on. */
const usedFolders = new Map<number | undefined, Promise<string>>()

afterAll(async () => {
  for (const folder of usedFolders.values()) await removeFolder(dirname(await folder))
})

async function makeUsedFolder(account: Account | undefined): Promise<string> {
  const parent = await makeParent(account)
  folders.delete(parent)
  const dataDir = join(parent, 'data')
  const service = startService(dataDir, account)
  await service.waitFor('acknowledged', 5)
  await service.end()
  return dataDir
}

/** A data folder with a database and a few rows: a copy, because making a database takes longer. */
async function copyUsedFolder(account: Account | undefined): Promise<string> {
  const used = usedFolders.get(account?.uid) ?? makeUsedFolder(account)
  usedFolders.set(account?.uid, used)
  const dataDir = join(await makeParent(account), 'data')
  // Keeps the owners and the modes.
  execFileSync('cp', ['-a', await used, dataDir])
  return dataDir
}

async function removeFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const home = await realpath(join(folder, name, 'postgres')).catch(() => undefined)
    if (home === undefined) continue
    const leftover = await findLeftover(join(home, 'cluster'))
    if (leftover.kind === 'running') process.kill(leftover.pid, 'SIGQUIT')
    await vi.waitFor(
      async () => expect((await findLeftover(join(home, 'cluster'))).kind).toBe('none'),
      10_000,
    )
    await rm(home, { recursive: true, force: true })
  }
  await rm(folder, { recursive: true, force: true })
}

async function findServerPid(dataDir: string): Promise<number> {
  const cluster = join(await realpath(join(dataDir, 'postgres')), 'cluster')
  const leftover = await findLeftover(cluster)
  if (leftover.kind !== 'running') throw new Error('No server runs')
  return leftover.pid
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A process whose parent died is gone when the system has collected it, up to two seconds later. */
async function expectGone(pid: number): Promise<void> {
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), 10_000)
}

function lastAcknowledged(service: ServiceProcess): number {
  return service.values('acknowledged').at(-1) as number
}

/** No acknowledged row is missing and there is no gap before the last. */
function expectNothingLost(found: ServiceProcess, acknowledged: number): void {
  const rows = found.values('found')[0] as number[]
  expect(rows.length).toBeGreaterThanOrEqual(acknowledged)
  expect(rows).toEqual(rows.map((_, index) => index + 1))
}

describe.each(ACCOUNTS)('the embedded database, started by %s', (_, account) => {
  test('is created at the first start, keeps its rows, and leaves no process when it stops', async () => {
    const dataDir = join(await makeParent(account), 'data')
    const first = startService(dataDir, account)
    expect(await first.waitFor('ready')).toMatchObject({ rows: 0 })
    await first.waitFor('acknowledged', 5)
    const serverPid = await findServerPid(dataDir)
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    expect(first.values('stopped')).toHaveLength(1)
    expect(isAlive(serverPid)).toBe(false)
    expect(existsSync(join(dataDir, 'database.json'))).toBe(false)

    const second = startService(dataDir, account)
    expect(await second.waitFor('ready')).toMatchObject({ rows: lastAcknowledged(first) })
  })

  test('keeps its data and its socket from everybody else', async () => {
    const dataDir = join(await makeParent(account), 'data')
    const service = startService(dataDir, account)
    await service.waitFor('ready')
    const modes = await Promise.all(
      ['postgres/cluster', 'postgres/socket', 'database.json', 'lock.json', 'lock.sqlite'].map(
        async (name) => ((await stat(join(dataDir, name))).mode & 0o777).toString(8),
      ),
    )
    expect(modes).toEqual(['700', '700', '600', '600', '600'])
    expect((await stat(join(dataDir, 'postgres/cluster'))).uid).not.toBe(0)
    expect((await stat(dataDir)).mode & 0o066).toBe(0)
    const status = await readFile(`/proc/${await findServerPid(dataDir)}/status`, 'utf8')
    expect(status).not.toMatch(/^Uid:\t0\b/m)
    expect(status).not.toMatch(/^Groups:.*\b0\b/m)
  })

  test('loses nothing when the service is killed, and stops the server that was left behind', async () => {
    const dataDir = await copyUsedFolder(account)
    const killed = startService(dataDir, account)
    await killed.waitFor('acknowledged', ROWS_BEFORE_KILL)
    const orphanPid = await findServerPid(dataDir)
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(isAlive(orphanPid)).toBe(true)

    expectNothingLost(await runCommand(dataDir, account), lastAcknowledged(killed))
    await expectGone(orphanPid)
  })

  test('loses nothing when the service and the server are killed together', async () => {
    const dataDir = await copyUsedFolder(account)
    const killed = startService(dataDir, account)
    await killed.waitFor('acknowledged', ROWS_BEFORE_KILL)
    const serverPid = await findServerPid(dataDir)
    killed.child.kill('SIGKILL')
    process.kill(serverPid, 'SIGKILL')
    await killed.ended
    expectNothingLost(await runCommand(dataDir, account), lastAcknowledged(killed))
  })

  test('starts again when the server is killed, while the service goes on', async () => {
    const dataDir = await copyUsedFolder(account)
    const service = startService(dataDir, account)
    for (const round of [1, 2]) {
      await service.waitFor(
        'acknowledged',
        service.values('acknowledged').length + ROWS_BEFORE_KILL,
      )
      const serverPid = await findServerPid(dataDir)
      process.kill(serverPid, 'SIGKILL')
      await service.waitFor('unavailable', service.values('unavailable').length + 1)
      await service.waitFor(
        'acknowledged',
        service.values('acknowledged').length + ROWS_BEFORE_KILL,
      )
      expect(await findServerPid(dataDir)).not.toBe(serverPid)
      expect(service.lines.filter(({ value }) => isDeath(value))).toHaveLength(round)
    }
    const acknowledged = lastAcknowledged(service)
    expectNothingLost(await runCommand(dataDir, account), acknowledged)
  })

  test('is whole after a first start that was killed at any point', async () => {
    const dataDir = join(await makeParent(account), 'data')
    for (const delayMs of [250, 500, 800, 1_200]) {
      const killed = startService(dataDir, account)
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      killed.child.kill('SIGKILL')
      await killed.ended
    }
    const service = startService(dataDir, account)
    await service.waitFor('acknowledged', 5)
    expectNothingLost(await runCommand(dataDir, account), 5)
  })

  test('refuses a second service and names the first, and serves commands beside it', async () => {
    const dataDir = await copyUsedFolder(account)
    const first = startService(dataDir, account)
    await first.waitFor('acknowledged', 5)
    const serverPid = await findServerPid(dataDir)
    const second = startService(dataDir, account)
    expect(await second.ended).toBe(1)
    expect(second.values('refused')[0]).toContain(`process ${String(first.child.pid)} `)

    const command = await runCommand(dataDir, account)
    expect((command.values('found')[0] as number[]).length).toBeGreaterThan(0)
    expect(await findServerPid(dataDir)).toBe(serverPid)
    await first.waitFor('acknowledged', first.values('acknowledged').length + 5)
  })

  test('lets a command work without a service, and a service wait for the command', async () => {
    const dataDir = await copyUsedFolder(account)
    const command = new ServiceProcess(dataDir, ['command', '1500'], account)
    await command.waitFor('found')
    const service = startService(dataDir, account)
    await service.waitFor('ready')
    expect(await command.ended).toBe(0)
    expect(service.values('refused')).toEqual([])
  })

  test('works in a data folder whose path is too long for a socket', async () => {
    const parent = await makeParent(account)
    const dataDir = join(parent, 'a-rather-long-name-'.repeat(6))
    const service = startService(dataDir, account)
    const ready = (await service.waitFor('ready')) as { connection: { host: string } }
    const { host } = ready.connection
    expect(host.startsWith(parent)).toBe(false)
    expect((await stat(host)).mode & 0o777).toBe(0o700)
    await service.waitFor('acknowledged', 5)
    const serverPid = await findServerPid(dataDir)
    service.child.kill('SIGKILL')
    await service.ended
    expectNothingLost(await runCommand(dataDir, account), lastAcknowledged(service))
    await expectGone(serverPid)
    expect(existsSync(host)).toBe(false)
  })
})

function isDeath(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'message' in value &&
    value.message === 'database.server_died'
  )
}

describe.skipIf(!IS_ROOT)('the embedded database below a folder that only root can enter', () => {
  test('lives in a system folder that the data folder leads to', async () => {
    const dataDir = join(await makeParent(undefined, 0o700), 'data')
    const service = startService(dataDir)
    await service.waitFor('acknowledged', 5)
    expect((await lstat(join(dataDir, 'postgres'))).isSymbolicLink()).toBe(true)
    const home = await realpath(join(dataDir, 'postgres'))
    expect((await stat(join(home, 'cluster'))).mode & 0o777).toBe(0o700)
    await service.end()
    expectNothingLost(await runCommand(dataDir), lastAcknowledged(service))
  })

  test('is not replaced by an empty one when that system folder is missing', async () => {
    const dataDir = join(await makeParent(undefined, 0o700), 'data')
    const service = startService(dataDir)
    await service.waitFor('ready')
    await service.end()
    await rm(await realpath(join(dataDir, 'postgres')), { recursive: true })
    const refused = startService(dataDir)
    expect(await refused.ended).toBe(1)
    expect(refused.values('refused')[0]).toMatch(/the database of this data folder is missing/)
  })
})

describe.skipIf(ACCOUNTS.length < 2)('the embedded database of an ordinary user', () => {
  test('serves commands of root, and stays usable for its owner', async () => {
    const account = await findNamedAccount()
    const dataDir = await copyUsedFolder(account)
    const first = startService(dataDir, account)
    await first.waitFor('acknowledged', 5)
    await runCommand(dataDir)
    await first.end()
    expectNothingLost(await runCommand(dataDir), lastAcknowledged(first))
    const again = startService(dataDir, account)
    await again.waitFor('acknowledged', 5)
  })
})

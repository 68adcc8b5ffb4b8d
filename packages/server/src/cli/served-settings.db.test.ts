import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { runCommand } from '../../test/support/run-command.ts'
import { toUrl } from '../../test/support/to-url.ts'
import { loadConfig } from '../app/config/load-config.ts'
import { tellServedSettings } from '../app/served-settings.ts'
import { startService } from '../app/service.ts'
import { SILENT_LOGGER } from '../platform/silent-logger.ts'

const database = await createTestDatabase()
const dataDir = await mkdtemp(join(tmpdir(), 'admin-link-'))
afterAll(async () => {
  await database.close()
  await rm(dataDir, { recursive: true, force: true })
})
const environment = {
  DATABASE_URL: toUrl(database.connection),
  HELIOGRAPH_MASTER_KEY: randomBytes(32).toString('base64'),
  HELIOGRAPH_DATA_DIR: dataDir,
}

/** The origin in the link that the command prints. */
async function originOfLink(given: Readonly<Record<string, string>> = {}): Promise<string> {
  const admin = ['--email', 'ada@example.com', '--name', 'Ada Lovelace']
  const { printed, told } = await runCommand(['admins', 'link', ...admin, '--json'], {
    ...environment,
    ...given,
  })
  expect(told).toBe('')
  return new URL((JSON.parse(printed) as { url: string }).url).origin
}

it('leads to the service that runs on the data folder, unless a base URL is given', async () => {
  const service = await startService(
    loadConfig({ ...environment, HELIOGRAPH_PORT: '0', HELIOGRAPH_ROLES: 'api' }),
    SILENT_LOGGER,
  )
  try {
    expect(await originOfLink()).toBe(`http://localhost:${service.port}`)
    const { printed } = await runCommand(
      ['ssf-clients', 'create', '--name', 'Wiki', '--scope', 'ssf.manage', '--json'],
      environment,
    )
    expect(printed).toContain(`http://127.0.0.1:${service.port}/`)
    const given = { HELIOGRAPH_BASE_URL: 'https://trust.example.com' }
    expect(await originOfLink(given)).toBe('https://trust.example.com')
  } finally {
    await service.stop()
  }
  expect(await originOfLink()).toBe('http://localhost:8080')
})

it('reaches the targets that the service beside it may reach, unless it is given some', async () => {
  const url = ['--url', 'http://10.1.2.3/hook', '--event', 'issues.new']
  const create = (given: Readonly<Record<string, string>> = {}) =>
    runCommand(['webhooks', 'create', '--name', 'Tickets', ...url], { ...environment, ...given })
  const settings = {
    ...environment,
    HELIOGRAPH_PORT: '0',
    HELIOGRAPH_ROLES: 'api',
    HELIOGRAPH_ALLOWED_TARGETS: '10.1.0.0/16',
  }
  const service = await startService(loadConfig(settings), SILENT_LOGGER)
  try {
    expect(await create()).toMatchObject({ exitCode: 0, told: '' })
    expect((await create({ HELIOGRAPH_ALLOWED_TARGETS: '10.2.0.0/16' })).exitCode).toBe(1)
    expect((await create({ HELIOGRAPH_ALLOWED_TARGETS: '' })).exitCode).toBe(1)
  } finally {
    await service.stop()
  }
  expect((await create()).exitCode).toBe(1)
})

it('names what the settings say beside a file that is damaged', async () => {
  await writeFile(join(dataDir, 'service.json'), JSON.stringify({ pid: 'x' }))
  expect(await originOfLink()).toBe('http://localhost:8080')
})

it('does not go by what a killed service left, also where another process has its number by now', async () => {
  const path = join(dataDir, 'service.json')
  const told = { dataDir, baseUrl: 'http://localhost:9', allowedTargets: '' }
  await tellServedSettings({ ...told, databaseUrl: environment.DATABASE_URL })
  expect(await originOfLink()).toBe('http://localhost:9')
  const left = JSON.parse(await readFile(path, 'utf8')) as { started: string }
  expect(left.started).toMatch(/^\d+$/)
  const isGone = { ...left, pid: 2 ** 31 - 1 }
  const isAnother = { ...left, started: `${Number(left.started) - 1}` }
  for (const killed of [isGone, isAnother]) {
    await writeFile(path, JSON.stringify(killed))
    expect(await originOfLink()).toBe('http://localhost:8080')
  }
})

it('a service that ends leaves what another one with its number has told since', async () => {
  const path = join(dataDir, 'service.json')
  const told = { dataDir, baseUrl: 'http://localhost:9', allowedTargets: '' }
  const takeBack = await tellServedSettings({ ...told, databaseUrl: undefined })
  const own = await readFile(path, 'utf8')
  const other = JSON.stringify({ ...(JSON.parse(own) as object), started: '1' })
  await writeFile(path, other)
  await takeBack()
  expect(await readFile(path, 'utf8')).toBe(other)
  await writeFile(path, own)
  await takeBack()
  await expect(readFile(path)).rejects.toThrow('ENOENT')
})

it('does not go by a service of another database, and goes by one whoever connects to its own', async () => {
  const told = { dataDir, baseUrl: 'http://localhost:9', allowedTargets: '' }
  const other = new URL(environment.DATABASE_URL)
  other.pathname = '/other'
  const takeBack = await tellServedSettings({ ...told, databaseUrl: other.href })
  expect(await originOfLink()).toBe('http://localhost:8080')
  await tellServedSettings({ ...told, databaseUrl: undefined })
  expect(await originOfLink()).toBe('http://localhost:8080')
  const sameByAnother = new URL(environment.DATABASE_URL)
  sameByAnother.username = 'somebody'
  await tellServedSettings({ ...told, databaseUrl: sameByAnother.href })
  expect(await originOfLink()).toBe('http://localhost:9')
  await takeBack()
})

it('does not keep a service from starting where it cannot be told', async () => {
  await rm(join(dataDir, 'service.json'), { force: true })
  await mkdir(join(dataDir, 'service.json'))
  const started = loadConfig({ ...environment, HELIOGRAPH_PORT: '0', HELIOGRAPH_ROLES: 'api' })
  const service = await startService(started, SILENT_LOGGER)
  await service.stop()
  expect(await originOfLink()).toBe('http://localhost:8080')
})

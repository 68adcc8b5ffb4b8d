/*
 * The way from the first start to a console, in a browser and with real processes: the link that `heliograph serve`
 * prints, a passkey, and a second process on the same database, at which the session ends for the first as well.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CleanupStack } from '../../src/platform/cleanup-stack.ts'
import { reservePort } from '../support/reserve-ports.ts'
import { ServiceProcess } from '../e2e/support/service-process.ts'
import { OWN_PAGE } from '../support/console-session.ts'
import { createTestDatabase } from '../support/database.ts'
import { toUrl } from '../support/to-url.ts'
import { addAuthenticator } from './support/add-authenticator.ts'
import { launchBrowser } from './support/launch-browser.ts'

const PRINTED_LINK = /http:\/\/localhost:\d+(\/console\/sign-in#token=[\w-]+)/

const cleanup = new CleanupStack()
let baseUrl: string
let first: ServiceProcess
let startSecond: () => Promise<ServiceProcess>

beforeAll(async () => {
  const database = await createTestDatabase()
  cleanup.add(() => database.close())
  const dataDir = await mkdtemp(join(tmpdir(), 'first-admin-'))
  cleanup.add(() => rm(dataDir, { recursive: true, force: true }))
  const port = await reservePort()
  // A passkey belongs to a name, not to an address.
  baseUrl = `http://localhost:${port}`
  const environment = {
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_REPORTING_DATABASE_URL: toUrl(database.reporting.connection),
    HELIOGRAPH_BASE_URL: baseUrl,
    HELIOGRAPH_MASTER_KEY: randomBytes(32).toString('base64'),
  }
  const start = async (ownPort: number) => {
    const service = new ServiceProcess({ dataDir, port: ownPort, environment })
    cleanup.add(() => service.stop())
    await service.start()
    return service
  }
  startSecond = async () => start(await reservePort())
  first = await start(port)
})
afterAll(() => cleanup.run())

it('leads the first admin from the printed link to a passkey; a session ends in every process at once', async () => {
  await expect.poll(() => first.output).toMatch(PRINTED_LINK)
  const [, link = ''] = PRINTED_LINK.exec(first.output) ?? []
  const browser = await launchBrowser()
  cleanup.add(() => browser.close())
  const context = await browser.newContext({ baseURL: baseUrl, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await addAuthenticator(page)
  await page.goto(link)
  await page.getByLabel('First name').fill('Ada')
  await page.getByLabel('Last name').fill('Lovelace')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByRole('button', { name: 'Create the first admin' }).click()
  await page.getByRole('button', { name: 'Create a passkey' }).click()
  await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Ada Lovelace' }).waitFor()

  const other = await browser.newContext({ baseURL: baseUrl })
  const late = await other.newPage()
  await late.goto(link)
  await late.getByText('This link signs nobody in').waitFor()
  await other.close()

  const second = await startSecond()
  await page.getByRole('link', { name: 'Devices' }).click()
  await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
  const [cookie] = await context.cookies()
  if (cookie === undefined) throw new Error('the session has a cookie')
  const headers = { ...OWN_PAGE, cookie: `${cookie.name}=${cookie.value}` }
  const ask = async (service: ServiceProcess, method: 'GET' | 'DELETE', path: string) => {
    const { statusCode, body } = await request(`${service.baseUrl}${path}`, { method, headers })
    await body.dump()
    return statusCode
  }
  expect(await ask(first, 'GET', '/devices')).toBe(200)
  expect(await ask(second, 'GET', '/devices')).toBe(200)
  expect(await ask(second, 'DELETE', '/console/session')).toBe(204)
  expect(await ask(first, 'GET', '/devices')).toBe(401)

  await page.waitForURL(/sign-in\?next=/)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
  // Nobody becomes the first admin any more.
  expect(second.output).not.toMatch(PRINTED_LINK)
})

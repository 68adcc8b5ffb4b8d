/*
 * Admins who use the console from trusted devices alone, as they see it: a real browser at a simulated computer, on the
 * way from the console to the proof of its device and back.
 */
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { toConsoleSite } from '../../src/organisation/admin-sign-in/console-site.ts'
import { insertAdmin } from '../../src/organisation/admins/admin-store.ts'
import { toUrl } from '../support/to-url.ts'
import { createConsoleSession, type TestSessionOptions } from '../support/console-session.ts'
import { runCommand } from '../support/run-command.ts'
import { expectAccessible, expectFitting } from '../console/support/open-console.ts'
import { lookAtPages, type LookedAtPages } from './looked-at-pages.ts'
import { openSignInWorld, type Computer, type SignInWorld, type Somebody } from './sign-in-world.ts'

/** For a step; a machine that does much else takes long. */
const WAIT_MAX_MS = 90_000
const ASKED = 'This console asks for a trusted device'
const SWITCH = 'Admins use the console from trusted devices alone'

let world: SignInWorld
let pages: LookedAtPages
let ada: Somebody
let adminId: string
let computer: Computer

beforeAll(async () => {
  world = await openSignInWorld()
  pages = lookAtPages(world.browser)
  ada = await world.addPerson('Ada')
  computer = await world.addComputer(ada)
  adminId = await addAdmin(ada.email)
})
afterEach(async () => {
  world.sitAt(undefined)
  await Promise.all(world.browser.contexts().map((context) => context.close()))
  expect(pages.complaints).toEqual([])
})
afterAll(() => world.close())

async function addAdmin(email: string): Promise<string> {
  const at = new Date()
  const { id } = await insertAdmin(world.services.db, {
    email,
    firstName: 'Ada',
    lastName: 'Lovelace',
    access: 'full',
    restrictions: [],
    createdAt: at,
    updatedAt: at,
  })
  return id
}

/** A page of the console in a browser of its own, in which Ada has just signed in. */
async function openConsole(
  path: string,
  options: TestSessionOptions = {},
): Promise<readonly [page: Page, context: BrowserContext]> {
  const { token } = await createConsoleSession(world.services.db, { adminId, ...options })
  const page = await pages.open('about:blank', { locale: 'en-GB' })
  page.setDefaultTimeout(WAIT_MAX_MS)
  const context = page.context()
  const { name } = toConsoleSite(world.baseUrl).cookie
  const url = world.baseUrl
  await context.addCookies([{ name, value: token, url, httpOnly: true, sameSite: 'Lax' }])
  await page.goto(`${world.baseUrl}/console${path}`)
  return [page, context]
}

async function expectGood(page: Page, name: string): Promise<void> {
  await expectAccessible(page)
  await expectFitting(page, name)
}

const heading = (page: Page, text: string) =>
  page.getByRole('heading', { level: 1, name: text }).waitFor()
const prove = (page: Page) =>
  page.getByRole('button', { name: 'Continue with this device' }).click()

async function setRequired(isRequired: boolean): Promise<void> {
  await world.services.db
    .updateTable('organisation')
    .set({ admins_require_trusted_device: isRequired })
    .execute()
}

async function setAuthState(authState: 'Good' | 'Blocked'): Promise<void> {
  await world.services.db
    .updateTable('device')
    .set({ auth_state: authState })
    .where('id', '=', computer.id)
    .execute()
}

/** Waits for an address, by whatever way: a page may leave for another one before it has loaded. */
async function reach(page: Page, address: RegExp): Promise<void> {
  await expect.poll(() => page.url()).toMatch(address)
}

/** Follows a link of the page if it is still there: what the page asks for by itself may have led it away before. */
async function followNow(page: Page, path: string): Promise<void> {
  await page.evaluate(`document.querySelector('a[href="${path}"]')?.click()`)
}

it('an admin proves the own device, asks the others for theirs, and is told who would have none', async () => {
  await setRequired(false)
  world.sitAt(computer)
  const [page] = await openConsole('/settings/organisation')
  await page.getByRole('switch', { name: SWITCH }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Prove your own device first').waitFor()
  await dialog.getByText(/grace@example.com\): no person has this email address/).waitFor()
  const confirm = dialog.getByRole('button', { name: 'Ask for a trusted device' })
  expect(await confirm.isDisabled()).toBe(true)
  await expectGood(page, 'device-switch')
  await dialog.getByRole('link', { name: 'Prove your device' }).click()
  await heading(page, 'Prove your device')
  await prove(page)
  await reach(page, /\/console\/settings\/organisation$/)
  await page.getByRole('switch', { name: SWITCH }).click()
  await confirm.click()
  await page.getByText('The organisation was changed').waitFor()
  await expect.poll(() => page.getByRole('switch', { name: SWITCH }).isChecked()).toBe(true)
  await page.goto(`${world.baseUrl}/console/devices`)
  await page.getByRole('link', { name: computer.name }).waitFor()
})

it('a new session is asked for its device, and comes back to where it wanted to go', async () => {
  await setRequired(true)
  world.sitAt(computer)
  const [page] = await openConsole('/devices?query=auth_state%3AGood')
  await heading(page, ASKED)
  await expectGood(page, 'device-asked')
  await prove(page)
  await reach(page, /\/console\/devices\?query=auth_state/)
  await page.getByRole('link', { name: computer.name }).waitFor()
})

it('who came by a one-time link proves the device first, and then sets a way to sign in up', async () => {
  await setRequired(true)
  world.sitAt(computer)
  const [page] = await openConsole('/', { isSetupPending: true })
  await heading(page, ASKED)
  await prove(page)
  await reach(page, /\/console\/sign-in/)
  await page
    .getByRole('button', { name: /passkey/i })
    .first()
    .waitFor()
})

it('an admin at a computer that is none of theirs gets no further', async () => {
  await setRequired(true)
  const [page] = await openConsole('/devices')
  await heading(page, ASKED)
  await prove(page)
  await reach(page, /\/sign-in\/attempts\//)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.goto(`${world.baseUrl}/console/devices`)
  await page.getByText('This session has not proven yet on which device it is.').waitFor()
  await expectGood(page, 'device-refused')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await reach(page, /\/console\/sign-in$/)
})

it('an open page leads to the reason when the device becomes Blocked, and on once it is good', async () => {
  await setRequired(true)
  world.sitAt(computer)
  const [page] = await openConsole('/devices')
  await heading(page, ASKED)
  await prove(page)
  await page.getByRole('link', { name: computer.name }).waitFor()
  await setAuthState('Blocked')
  await followNow(page, '/console/checks')
  await heading(page, ASKED)
  await page.getByText('Your device is Blocked.').waitFor()
  await expectGood(page, 'device-blocked')
  await setAuthState('Good')
  await page.getByRole('button', { name: 'Look again' }).click()
  await heading(page, 'Your device is trusted')
  await page.getByRole('link', { name: 'Go on to the console' }).click()
  await reach(page, /\/console\/(checks|devices)$/)
})

it('a command on the machine lets everybody in again, and is in the audit log', async () => {
  await setRequired(true)
  const [page] = await openConsole('/devices')
  await heading(page, ASKED)
  const { config, connection } = world.services
  const { exitCode, told } = await runCommand(['admins', 'allow-any-device'], {
    DATABASE_URL: toUrl(connection),
    HELIOGRAPH_DATA_DIR: config.dataDir,
    HELIOGRAPH_MASTER_KEY: config.masterKey ?? '',
  })
  expect([exitCode, told]).toEqual([0, ''])
  await page.goto(`${world.baseUrl}/console/devices`)
  await page.getByRole('link', { name: computer.name }).waitFor()
  const entry = await world.services.db
    .selectFrom('audit_entry')
    .select(['actor_type', 'before', 'after'])
    .where('action', '=', 'organisation.updated')
    .orderBy('sequence', 'desc')
    .executeTakeFirstOrThrow()
  expect([entry.before, entry.after]).toMatchObject([
    { admins_require_trusted_device: true },
    { admins_require_trusted_device: false },
  ])
})

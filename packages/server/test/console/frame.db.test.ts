import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import type { TestSessionOptions } from '../support/console-session.ts'
import { insertDevice } from '../support/factories.ts'
import {
  expectAccessible,
  expectFitting,
  openConsole,
  type ConsoleTest,
} from './support/open-console.ts'

let console: ConsoleTest
beforeAll(async () => {
  console = await openConsole()
})
afterEach(() => expect(console.complaints).toEqual([]))
afterAll(() => console.close())

const addDevice = (name: string) =>
  console.api.services.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const id = await insertDevice(console.api.services.db, { name })
    change.markChanged(`devices:${id}`)
  })

describe('the frame of the console', () => {
  it('leads to its pages by the navigation, by keys and by the palette', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('heading', { name: 'Devices' }).waitFor()
    await page.getByRole('link', { name: 'Checks' }).click()
    await page.getByRole('heading', { name: 'Checks', level: 1 }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('p')
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search or jump to …').fill('jwks')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Signing keys', level: 1 }).waitFor()
  })

  it('fits wide and narrow windows and hinders nobody', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('heading', { name: 'Devices' }).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'devices')
  })

  it('shows nothing without a session', async () => {
    const page = await console.openPage('/devices', null)
    await page.waitForURL(/\/console\/sign-in\?next=/)
  })

  it('has one live connection for all windows, which another one takes over', async () => {
    const context = await console.newContext()
    let connections = 0
    context.on('request', (request) => {
      if (new URL(request.url()).pathname === '/live') connections += 1
    })
    const [first, second, third] = [
      await context.newPage(),
      await context.newPage(),
      await context.newPage(),
    ]
    for (const page of [first, second, third]) {
      await page.goto('/console/devices')
      await page.getByRole('img', { name: 'Live: the page moves by itself' }).waitFor()
    }
    expect(connections).toBe(1)
    await addDevice('seen by all')
    await second.getByRole('link', { name: 'seen by all' }).waitFor()
    await third.getByRole('link', { name: 'seen by all' }).waitFor()
    await first.close()
    await expect.poll(() => connections).toBe(2)
    await addDevice('seen by those who are left')
    await second.getByRole('link', { name: 'seen by those who are left' }).waitFor()
    await third.getByRole('link', { name: 'seen by those who are left' }).waitFor()
    await context.close()
  })

  it('looks for what is typed into the palette, and leads by keys into rows and to pages', async () => {
    await addDevice('a "quoted" laptop')
    const page = await console.openPage('/checks')
    await page.getByRole('heading', { name: 'Checks', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search or jump to …').fill('a "quoted')
    await page.getByText('Devices with “a "quoted” in their name').click()
    await page.getByRole('link', { name: 'a "quoted" laptop' }).waitFor()
    await page.getByText('1 row', { exact: true }).waitFor()
    await page.locator('main').focus()
    await page.keyboard.press('j')
    await page.locator('[role=row]:focus').waitFor()
    // The second key would open the row.
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    await page.locator('main:focus').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'a "quoted" laptop' }).waitFor()
  })

  it('shows an admin the places that are open to them', async () => {
    const places = async (session: TestSessionOptions) => {
      const page = await console.openPage('/settings', session)
      await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
      return page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents()
    }
    expect(await places({ access: 'billing_only' })).toEqual(['Settings'])
    const limited = await places({ access: 'limited', restrictions: ['webhooks', 'sign_ins'] })
    expect(limited).toEqual(expect.arrayContaining(['Now', 'Devices', 'Streams']))
    expect(limited).not.toEqual(expect.arrayContaining(['Webhooks']))
    expect(limited).not.toEqual(expect.arrayContaining(['Sign-ins']))
    expect(limited).not.toEqual(expect.arrayContaining(['Audit log']))
  })

  it('says so when signing out did not reach the service, and stays signed in', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('heading', { name: 'Devices' }).waitFor()
    await page.route('**/console/session', (route) =>
      route.request().method() === 'DELETE' ? route.abort() : route.continue(),
    )
    await page.getByRole('button', { name: /Ada Lovelace/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByText('You are still signed in').waitFor()
    expect(page.url()).toContain('/devices')
  })
})

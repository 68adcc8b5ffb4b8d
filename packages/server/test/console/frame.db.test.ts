import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { insertStatusCounts } from '../../src/posture/overview/status-count-store.ts'
import { HOUR_MS } from '../../src/platform/clock.ts'
import type { TestSessionOptions } from '../support/console-session.ts'
import { insertDevice } from '../support/factories.ts'
import { startLoopbackReceiver } from '../support/loopback-receiver.ts'
import { consoleForTests } from './support/open-console.ts'

const console = consoleForTests()

const addDevice = (name: string) =>
  console.api.services.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const id = await insertDevice(console.api.services.db, { name })
    change.markChanged(`devices:${id}`)
  })

async function hasFocus(page: Page, target: Locator): Promise<boolean> {
  return (await target.and(page.locator(':focus')).count()) > 0
}

/** The classes of what is drawn from what lies below it. */
const BLURRED = `[...document.querySelectorAll('*')]
  .filter((element) => getComputedStyle(element).backdropFilter !== 'none')
  .map(({ className }) => className)`

/** Presses Tab until something has the focus; nothing may keep the focus from it. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor({ state: 'attached' })
  for (let presses = 0; presses < 80; presses += 1) {
    if (await hasFocus(page, target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the keyboard does not lead to ${String(target)}`)
}

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

  it('hears no key for a page while a dialog lies over it', async () => {
    const page = await console.openPage('/groups')
    await page.getByRole('heading', { name: 'Groups', level: 1 }).waitFor()
    await page.getByRole('textbox', { name: 'Search' }).waitFor()
    await page.getByRole('button', { name: 'New group' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New device group' })
    const cancel = dialog.getByRole('button', { name: 'Cancel' })
    await cancel.focus()
    await page.keyboard.press('/')
    expect(await hasFocus(page, cancel)).toBe(true)
    // As when the button that had it is disabled.
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.type('/gd')
    expect(await page.locator('#root :focus').count()).toBe(0)
    expect(new URL(page.url()).pathname).toBe('/console/groups')
    await dialog.waitFor()
    await cancel.click()
    await dialog.waitFor({ state: 'hidden' })
    await page.keyboard.press('/')
    await expect.poll(() => page.locator('#root input:focus').count()).toBe(1)
  })

  it('gives the focus back to what opened a dialog, also through a menu', async () => {
    const page = await console.openPage('/groups')
    const create = page.getByRole('button', { name: 'New group' }).first()
    await create.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New device group' })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => hasFocus(page, create)).toBe(true)
    await page.goto('/console/devices')
    const views = page.getByRole('button', { name: 'Views' })
    await views.focus()
    await page.keyboard.press('Enter')
    const save = page.getByRole('menuitem', { name: /^Save what is shown/ })
    await expect.poll(() => hasFocus(page, save)).toBe(true)
    await page.keyboard.press('Enter')
    const saving = page.getByRole('dialog')
    await saving.getByLabel('Name').waitFor()
    await page.keyboard.press('Escape')
    await saving.waitFor({ state: 'detached' })
    await expect.poll(() => hasFocus(page, views)).toBe(true)
  })

  it('leads the keyboard to the first item of a menu of actions', async () => {
    const id = await insertDevice(console.api.services.db)
    const page = await console.openPage(`/devices/${id}`)
    const actions = page.getByRole('button', { name: 'Actions' })
    await actions.focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => hasFocus(page, page.getByRole('menuitem').first())).toBe(true)
    await page.keyboard.press('Escape')
    await expect.poll(() => hasFocus(page, actions)).toBe(true)
  })

  it('gives the focus to the button of a menu that had none, as in browsers that focus no button', async () => {
    const page = await console.openPage('/devices')
    const views = page.getByRole('button', { name: 'Views' })
    await views.hover()
    await page.getByRole('tooltip', { name: 'Views' }).waitFor()
    await views.dispatchEvent('click')
    await page.getByRole('button', { name: 'Views', expanded: true }).waitFor()
    await page.getByRole('menuitem', { name: /^Save what is shown/ }).click()
    const saving = page.getByRole('dialog')
    await saving.getByLabel('Name').waitFor()
    await page.keyboard.press('Escape')
    await saving.waitFor({ state: 'detached' })
    await expect.poll(() => hasFocus(page, views)).toBe(true)
  })

  it('leads the keyboard into the menu of the columns, and out of it again', async () => {
    const page = await console.openPage('/devices')
    const columns = page.getByRole('button', { name: 'Choose columns' })
    await columns.focus()
    await page.keyboard.press('Enter')
    const owner = page.getByRole('menuitemcheckbox', { name: 'Owner' })
    for (let at = 0; !(await hasFocus(page, owner)) && at < 10; at += 1) {
      await page.getByRole('menu').locator(':focus').waitFor()
      await page.keyboard.press('ArrowDown')
    }
    await page.keyboard.press('Enter')
    await page.getByRole('columnheader', { name: 'Owner' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await expect.poll(() => hasFocus(page, columns)).toBe(true)
  })

  it('names the key of the palette as the keyboard at hand does', async () => {
    const page = await (await console.newContext()).newPage()
    await page.goto('/console/devices')
    const search = page.getByRole('button', { name: /^Search or jump to/ })
    await search.getByText('Ctrl K', { exact: true }).waitFor()
    await page.addInitScript(
      "Object.defineProperty(navigator, 'userAgent', { get: () => 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)' })",
    )
    await page.reload()
    await search.getByText('⌘K', { exact: true }).waitFor()
  })

  it('leads on by the palette from an address that is no page', async () => {
    const page = await console.openPage('/nowhere')
    await page.getByRole('heading', { name: 'There is no such page', level: 1 }).waitFor()
    expect(await page.title()).toBe('There is no such page · Heliograph')
    await page.getByRole('link', { name: 'Devices' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search or jump to …').fill('jwks')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Signing keys', level: 1 }).waitFor()
  })

  it('gives the page of a record that is not there a title of its own', async () => {
    const page = await console.openPage('/checks/999999')
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.title()).not.toMatch(/^Heliograph/)
  })

  it('creates a stream, finds its way about and switches it off by the keyboard alone', async () => {
    const receiver = await startLoopbackReceiver()
    const page = await console.openPage('/')
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor()
    const { keyboard } = page
    await keyboard.press('g')
    await keyboard.press('t')
    await page.getByRole('heading', { name: 'Streams', level: 1 }).waitFor()
    await tabTo(page, page.getByRole('button', { name: 'Create stream' }).first())
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Create stream', level: 1 }).waitFor()
    await tabTo(page, page.getByLabel('Name'))
    await keyboard.type('By keys')
    await tabTo(page, page.getByRole('radio', { name: 'Push' }))
    await keyboard.press('ArrowRight')
    await page.getByText('The receiver fetches events and acknowledges them.').waitFor()
    await keyboard.press('ArrowLeft')
    await tabTo(page, page.getByLabel('URL'))
    await keyboard.type(`${receiver.url}/events`)
    await tabTo(page, page.getByRole('combobox', { name: 'Spec Version' }))
    await keyboard.press('ArrowDown')
    await page.getByRole('option', { name: 'Draft' }).waitFor()
    await keyboard.press('ArrowDown')
    await keyboard.press('Enter')
    await tabTo(page, page.getByRole('button', { name: 'Create stream' }))
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'By keys', level: 1 }).waitFor()
    const settings = page.getByRole('region', { name: 'Settings' })
    await settings.getByText('Draft', { exact: true }).waitFor()
    await tabTo(page, page.getByRole('tab', { name: 'Overview' }))
    await keyboard.press('ArrowRight')
    await page.getByRole('tab', { name: 'Deliveries', selected: true }).waitFor()
    await tabTo(page, page.getByRole('button', { name: 'Actions for By keys' }))
    await keyboard.press('Enter')
    const switchOff = page.getByRole('menuitem', { name: 'Switch off' })
    await switchOff.waitFor()
    for (let at = 0; !(await hasFocus(page, switchOff)) && at < 10; at += 1) {
      await keyboard.press('ArrowDown')
    }
    await keyboard.press('Enter')
    await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Switch stream off' }))
    await keyboard.press('Enter')
    await page.getByText('Disabled', { exact: true }).first().waitFor()
    await receiver.close()
  })

  it('blurs nothing below a dialog, which is drawn anew at each blink of a caret', async () => {
    const page = await console.openPage('/groups')
    await page.getByRole('button', { name: 'New group' }).first().click()
    await page.getByRole('dialog', { name: 'New device group' }).waitFor()
    expect(await page.evaluate(BLURRED)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search or jump to …').waitFor()
    expect(await page.evaluate(BLURRED)).toEqual([])
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

  it('draws its charts where the language of the browser is none', async () => {
    const { db } = console.api.services
    await addDevice('Drawn')
    for (const hours of [1, 2, 3]) {
      const at = new Date(Date.now() - hours * HOUR_MS)
      await insertStatusCounts(db, { at, good: hours, notified: 0, willBlock: 0, blocked: 1 })
    }
    const context = await console.newContext()
    await context.addInitScript(
      "Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })",
    )
    const page = await context.newPage()
    await page.goto('/console/')
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor()
    await page.locator('.uplot').first().waitFor()
  })
})

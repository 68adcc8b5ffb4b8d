/* The end of a session while something is typed, in a real browser: nothing is lost, and nobody else gets to see it. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { toConsoleSite } from '../../src/organisation/admin-sign-in/console-site.ts'
import { createTestKey } from '../support/api-keys.ts'
import { insertCheck } from '../support/factories.ts'
import { createConsoleSession } from '../support/console-session.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests({ HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1' })

const endedDialogOf = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' })

interface Own {
  readonly session: string
  readonly admin: string
}

/** The session that was opened last. */
async function findSession(): Promise<Own> {
  return console.api.services.db
    .selectFrom('admin_session')
    .select(['id as session', 'admin_id as admin'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
}

/** Ends a session as another admin does; its pages are told. */
async function endSession({ session }: Own): Promise<void> {
  const { services, http } = console.api
  const key = await createTestKey(services, ['Manage Admins'])
  const headers = { authorization: `Bearer ${key}` }
  const url = `/admin_sessions/${session}`
  expect((await http.inject({ method: 'DELETE', url, headers })).statusCode).toBe(204)
}

/** Ends a session as its time does: its pages learn of it by what they ask for. */
async function expireSession({ session }: Own): Promise<void> {
  await console.api.services.db.deleteFrom('admin_session').where('id', '=', session).execute()
}

/** Opens a new session in the browser of a page, as a sign-in in another of its windows does. */
async function signInAgain(page: Page, adminId?: string): Promise<void> {
  const { db } = console.api.services
  const { token } = await createConsoleSession(db, adminId === undefined ? {} : { adminId })
  const { name } = toConsoleSite(console.baseUrl).cookie
  const cookie = { name, value: token, url: console.baseUrl, httpOnly: true, sameSite: 'Lax' }
  await page.context().addCookies([cookie as never])
}

/** The window gets the focus, as when somebody comes back to it. */
async function comeBack(page: Page): Promise<void> {
  await page.evaluate("window.dispatchEvent(new Event('focus'))")
}

/** The form of a new webhook, all of which is typed. */
async function writeWebhook(): Promise<{ readonly page: Page; readonly own: Own }> {
  const page = await console.openPage('/signals/webhooks/new')
  await page.getByLabel('Name').fill('Alerts')
  await page.getByLabel('URL').fill('http://127.0.0.1:9/hook')
  await page.getByLabel('issues.new').check()
  await page.getByRole('img', { name: /Live/ }).waitFor()
  return { page, own: await findSession() }
}

describe('a page on which something is typed, whose session ends', () => {
  it('stays as it is, and is saved after the next sign-in in another window', async () => {
    const { page, own } = await writeWebhook()
    await endSession(own)
    await endedDialogOf(page).waitFor()
    await comeBack(page)
    await page.keyboard.press('Escape')
    expect(await endedDialogOf(page).isVisible()).toBe(true)
    expect(await page.getByLabel('Name').inputValue()).toBe('Alerts')
    await signInAgain(page, own.admin)
    await comeBack(page)
    await endedDialogOf(page).waitFor({ state: 'hidden' })
    expect(await page.getByLabel('URL').inputValue()).toBe('http://127.0.0.1:9/hook')
    expect(await page.getByLabel('issues.new').isChecked()).toBe(true)
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
  })

  it('stays when saving it is what finds the session ended', async () => {
    const id = await insertCheck(console.api.services.db, { remediation_strategy: 'report_only' })
    const page = await console.openPage(`/checks/${id}/strategy`)
    await page.getByLabel('Block at once').check()
    const own = await findSession()
    const save = page.getByRole('dialog').getByRole('button', { name: 'Save the strategy' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await save.waitFor()
    await expireSession(own)
    // It may be covered by now: what the page asks for by itself finds the session ended too.
    await page
      .locator('[role=dialog] button', { hasText: 'Save the strategy' })
      .evaluate((button: { click: () => void }) => button.click())
    await endedDialogOf(page).waitFor()
    await signInAgain(page, own.admin)
    await comeBack(page)
    await endedDialogOf(page).waitFor({ state: 'hidden' })
    await save.click()
    await page.getByText('The strategy is saved.').waitFor()
  })

  it('leads to the sign-in in another window, and says so in words that can be read', async () => {
    const { page, own } = await writeWebhook()
    await endSession(own)
    await endedDialogOf(page).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'ended-session')
    const opened = page.waitForEvent('popup')
    await endedDialogOf(page).getByRole('link', { name: 'Sign in in another tab' }).click()
    await (await opened).getByRole('heading', { level: 1 }).waitFor()
    expect(new URL((await opened).url()).pathname).toBe('/console/sign-in')
    expect(await page.getByLabel('Name').inputValue()).toBe('Alerts')
  })

  it('is left for the sign-in by who wants that, and the browser asks nothing', async () => {
    const { page, own } = await writeWebhook()
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.accept()
    })
    await endSession(own)
    await endedDialogOf(page).getByRole('button', { name: 'Leave without saving' }).click()
    await page.waitForURL(/sign-in\?next=/)
    expect(asked).toEqual([])
  })

  it('keeps nothing for another admin who signs in', async () => {
    const { page, own } = await writeWebhook()
    await endSession(own)
    await endedDialogOf(page).waitFor()
    await signInAgain(page)
    await comeBack(page)
    await endedDialogOf(page).waitFor({ state: 'hidden' })
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('')
  })

  it('shows nothing to another admin before it is loaded anew for them', async () => {
    const { page, own } = await writeWebhook()
    await endSession(own)
    await endedDialogOf(page).waitFor()
    await signInAgain(page)
    // What is there once the cover is gone, up to the moment at which the page goes.
    await page.evaluate(`new MutationObserver(() => {
      if (document.querySelector('[role=dialog]') !== null) return
      const values = [...document.querySelectorAll('input')].map(({ value }) => value)
      if (values.includes('Alerts')) sessionStorage.setItem('seen', 'typed')
      else sessionStorage.setItem('seen', sessionStorage.getItem('seen') ?? 'nothing')
    }).observe(document.body, { childList: true, subtree: true })`)
    await comeBack(page)
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('')
    expect(await page.evaluate("sessionStorage.getItem('seen')")).toBe('nothing')
  })

  it('shows nothing of what it holds to whoever looks at the screen', async () => {
    const { page, own } = await writeWebhook()
    await endSession(own)
    await endedDialogOf(page).waitFor()
    const covered = await page.screenshot({ animations: 'disabled' })
    await page.evaluate("document.querySelector('#root').style.visibility = 'hidden'")
    const empty = await page.screenshot({ animations: 'disabled' })
    expect(covered.equals(empty)).toBe(true)
  })

  it('keeps a secret that is shown once', async () => {
    const { page, own } = await writeWebhook()
    await page.getByRole('button', { name: 'Create webhook' }).click()
    const stored = page.getByRole('button', { name: 'I have stored it' })
    await stored.waitFor()
    await endSession(own)
    await endedDialogOf(page).waitFor()
    await signInAgain(page, own.admin)
    await comeBack(page)
    await endedDialogOf(page).waitFor({ state: 'hidden' })
    await stored.click()
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
  })
})

describe('a dialog in which something is typed, whose session ends', () => {
  it('stays as it is, under what covers the page, and is saved after the next sign-in', async () => {
    const page = await console.openPage('/groups')
    await page.getByRole('button', { name: 'New group' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New device group' })
    await dialog.getByLabel('Name').fill('Laptops')
    await page.getByRole('img', { name: /Live/ }).waitFor()
    const own = await findSession()
    await endSession(own)
    await endedDialogOf(page).waitFor()
    await page.keyboard.press('Escape')
    await signInAgain(page, own.admin)
    await comeBack(page)
    await endedDialogOf(page).waitFor({ state: 'hidden' })
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Laptops')
    await dialog.getByRole('button', { name: 'Create group' }).click()
    await page.getByRole('heading', { name: 'Laptops', level: 1 }).waitFor()
  })

  it('is reached by no key meanwhile, also when the focus is on nothing', async () => {
    const page = await console.openPage('/groups')
    await page.getByRole('button', { name: 'New group' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New device group' })
    await dialog.getByLabel('Name').fill('Laptops')
    await page.getByRole('img', { name: /Live/ }).waitFor()
    const own = await findSession()
    await endSession(own)
    await endedDialogOf(page).waitFor()
    await page.mouse.click(5, 5)
    await page.keyboard.type('gd/x')
    const isInCover = 'document.activeElement.closest("[role=dialog]") !== null'
    const places: unknown[] = []
    for (const key of ['Shift+Tab', 'Shift+Tab', 'Tab', 'Tab', 'Tab']) {
      await page.keyboard.press(key)
      const ofPage = `!(document.activeElement === document.body || ${isInCover})`
      places.push(await page.evaluate(ofPage))
    }
    expect(places).not.toContain(true)
    expect(new URL(page.url()).pathname).toBe('/console/groups')
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Laptops')
    const reached = `[...document.querySelectorAll('#root, [data-mantine-shared-portal-node]')]
      .filter((each) => !each.inert).length`
    expect(await page.evaluate(reached)).toBe(0)
    // What opens meanwhile, as of an answer that comes late.
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('div'), { id: 'late' }))`,
    )
    await page.locator('#late[inert]').waitFor({ state: 'attached' })
    await signInAgain(page, own.admin)
    await comeBack(page)
    await endedDialogOf(page).waitFor({ state: 'hidden' })
    expect(await page.locator('[inert]').count()).toBe(0)
    await dialog.getByLabel('Name').fill('Desktops')
    await dialog.getByRole('button', { name: 'Create group' }).click()
    await page.getByRole('heading', { name: 'Desktops', level: 1 }).waitFor()
  })

  it('stays in the dialog of a new API key too', async () => {
    const page = await console.openPage('/settings/developers/api-keys')
    await page.getByRole('button', { name: 'Create New Key' }).first().click()
    const name = page.getByRole('dialog').getByLabel('Name')
    await name.fill('Robot')
    await page.getByRole('img', { name: /Live/ }).waitFor()
    const own = await findSession()
    await endSession(own)
    await endedDialogOf(page).waitFor()
    await signInAgain(page, own.admin)
    await comeBack(page)
    await endedDialogOf(page).waitFor({ state: 'hidden' })
    expect(await name.inputValue()).toBe('Robot')
  })

  it('in which nothing is typed leads to the sign-in at once', async () => {
    const page = await console.openPage('/groups')
    await page.getByRole('button', { name: 'New group' }).first().click()
    await page.getByRole('dialog', { name: 'New device group' }).waitFor()
    await page.getByRole('img', { name: /Live/ }).waitFor()
    await endSession(await findSession())
    await page.waitForURL(/sign-in\?next=/)
  })
})

describe('a page on which nothing is typed, whose session ends', () => {
  it('leads to the sign-in at once', async () => {
    const page = await console.openPage('/signals/webhooks/new')
    await page.getByRole('img', { name: /Live/ }).waitFor()
    await endSession(await findSession())
    await page.waitForURL(/sign-in\?next=/)
  })
})

/*
 * Pages that hold what is not saved, in a real browser: nobody leaves them without being asked, and whoever saves is
 * never asked.
 */
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { insertCheck } from '../support/factories.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests({ HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1' })

const QUESTION = 'Leave without saving?'

const questionOf = (page: Page) => page.getByRole('dialog', { name: QUESTION })

async function answer(page: Page, label: string): Promise<void> {
  await questionOf(page).getByRole('button', { name: label, exact: true }).click()
  await questionOf(page).waitFor({ state: 'hidden' })
}

/** A new webhook, come to by a link from the list of webhooks, with a name that is typed. */
async function writeWebhook(): Promise<{ readonly page: Page; readonly name: Locator }> {
  const page = await console.openPage('/signals/webhooks')
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  const name = page.getByRole('textbox', { name: 'Name' })
  await name.fill('Alerts')
  return { page, name }
}

/** Presses the Back button, and waits until the page has heard of it. */
async function pressBack(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    addEventListener('popstate', () => setTimeout(resolve), { once: true })
    history.back()
  })`)
}

async function createApplication(name: string): Promise<string> {
  const other = await console.otherAdmin()
  const { id } = await other.send<{ readonly id: string }>('POST', '/sign_in_applications', {
    name,
    redirect_uris: ['https://wiki.example.com/callback'],
  })
  return id
}

describe('a page on which something is typed', () => {
  it('asks before a link leads away: who stays keeps it, who leaves is there', async () => {
    const { page, name } = await writeWebhook()
    await page.getByRole('link', { name: 'Devices', exact: true }).click()
    await questionOf(page).waitFor()
    expect(new URL(page.url()).pathname).toBe('/console/signals/webhooks/new')
    await answer(page, 'Stay on the page')
    expect(await name.inputValue()).toBe('Alerts')
    await page.getByRole('link', { name: 'Devices', exact: true }).click()
    await answer(page, 'Leave')
    await page.waitForURL('**/console/devices')
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
  })

  it('asks before the Back button leads away: who stays keeps it and its address, who leaves is there', async () => {
    const { page, name } = await writeWebhook()
    await page.goBack()
    await answer(page, 'Stay on the page')
    await page.waitForURL('**/signals/webhooks/new')
    expect(await name.inputValue()).toBe('Alerts')
    await page.goBack()
    await answer(page, 'Leave')
    await page.waitForURL('**/console/signals/webhooks')
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
  })

  it('asks before it is left by Cancel, and before the session is ended from it', async () => {
    const { page, name } = await writeWebhook()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await answer(page, 'Stay on the page')
    await page.getByRole('button', { name: /Ada Lovelace/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await answer(page, 'Stay on the page')
    expect(await name.inputValue()).toBe('Alerts')
    await page.getByRole('button', { name: /Ada Lovelace/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await answer(page, 'Leave')
    await page.waitForURL(/sign-in/)
  })

  it('has the browser ask before its window is loaded anew', async () => {
    const { page } = await writeWebhook()
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.accept()
    })
    await page.reload()
    expect(asked).toEqual(['beforeunload'])
    await page.reload()
    expect(asked).toHaveLength(1)
  })

  it('asks nothing once what was typed is taken back', async () => {
    const { page, name } = await writeWebhook()
    await name.fill('')
    await page.getByRole('link', { name: 'Devices', exact: true }).click()
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
  })

  it('asks in words that can be read in both themes and at any width', async () => {
    const { page } = await writeWebhook()
    await page.getByRole('link', { name: 'Devices', exact: true }).click()
    await questionOf(page).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'leave-unsaved')
  })
})

describe('what is typed on one tab of a page', () => {
  it('is asked about before another tab takes its place, and Cancel takes it back without a question', async () => {
    const id = await createApplication('Wiki')
    const page = await console.openPage(`/settings/sign-in/applications/${id}?tab=settings`)
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('Handbook')
    await page.getByRole('tab', { name: 'Granted sessions' }).click()
    await answer(page, 'Stay on the page')
    expect(await name.inputValue()).toBe('Handbook')
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    expect(await name.inputValue()).toBe('Wiki')
    await page.getByRole('tab', { name: 'Granted sessions' }).click()
    await page.waitForURL(/tab=sessions/)
  })

  it('is asked about on the way from one guide to the others', async () => {
    const page = await console.openPage('/settings/sign-in/new')
    await page.getByRole('link', { name: /Any OpenID Connect client/ }).click()
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('Handbook')
    await page.goBack()
    await answer(page, 'Stay on the page')
    expect(await name.inputValue()).toBe('Handbook')
  })
})

describe('a page on which nothing is typed', () => {
  it('asks nothing about SQL whose lines were broken in another way than its editor does it', async () => {
    const other = await console.otherAdmin()
    const { id } = await other.send<{ readonly id: number }>('POST', '/reporting/queries', {
      name: 'Broken lines',
      sql: 'select 1,\r\n2',
    })
    const page = await console.openPage(`/reports/${id}/edit`)
    const editor = page.getByRole('textbox', { name: 'SQL' })
    await editor.getByText('select 1,').waitFor()
    await page.getByRole('link', { name: 'Devices', exact: true }).click()
    const devices = page.getByRole('heading', { name: 'Devices', level: 1 })
    await devices.or(questionOf(page)).waitFor()
    expect(await questionOf(page).count()).toBe(0)
  })
})

describe('a strategy', () => {
  it('that is changed and then discarded leads on without a question, and asks as long as it is changed', async () => {
    const id = await insertCheck(console.api.services.db, { remediation_strategy: 'report_only' })
    const page = await console.openPage(`/checks/${id}/strategy`)
    await page.getByLabel('Block at once').check()
    await page.getByRole('link', { name: 'Issues', exact: true }).click()
    await answer(page, 'Stay on the page')
    expect(await page.getByLabel('Block at once').isChecked()).toBe(true)
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('link', { name: 'Issues', exact: true }).click()
    await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor()
  })

  it('that is saved leads on without a question', async () => {
    const id = await insertCheck(console.api.services.db, { remediation_strategy: 'report_only' })
    const page = await console.openPage(`/checks/${id}/strategy`)
    await page.getByLabel('Block at once').check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save the strategy' }).click()
    await page.getByText('The strategy is saved.').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: 'Issues', exact: true }).click()
    await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor()
  })
})

describe('whoever saves is asked nothing', () => {
  it('for a page that goes to its record: a webhook that is changed', async () => {
    const other = await console.otherAdmin()
    const { id } = await other.send<{ readonly id: string }>('POST', '/webhooks', {
      ...{ name: 'Before', url: 'http://127.0.0.1:9/hook', events: ['issues.new'] },
    })
    const page = await console.openPage(`/signals/webhooks/${id}/edit`)
    await page.getByRole('textbox', { name: 'Name' }).fill('After')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('heading', { name: 'After', level: 1 }).waitFor()
    expect(await questionOf(page).count()).toBe(0)
  })

  it('for a page that stays: an application that is changed', async () => {
    const id = await createApplication('Intranet')
    const page = await console.openPage(`/settings/sign-in/applications/${id}?tab=settings`)
    await page.getByLabel('Sessions last (minutes)').fill('30')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The changes are saved.').waitFor()
    await page.getByRole('link', { name: 'Devices', exact: true }).click()
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
  })

  it('for the name of the organisation', async () => {
    const page = await console.openPage('/settings/organisation')
    await page.getByLabel('Name').fill('Acme')
    await page.getByRole('link', { name: 'Devices', exact: true }).click()
    await answer(page, 'Stay on the page')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await expect
      .poll(() => page.getByRole('button', { name: 'Save changes' }).isDisabled())
      .toBe(true)
    await page.getByRole('link', { name: 'Devices', exact: true }).click()
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
  })

  it('for a report and a live query that are new', async () => {
    const page = await console.openPage('/reports/new?sql=select%201')
    await page.getByLabel('Name').fill('One')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'One', level: 1 }).waitFor()
    await page.goto('/console/live-queries/new')
    await page.getByLabel('Name').fill('Uptime')
    await page.getByRole('textbox', { name: 'SQL' }).click()
    await page.keyboard.type('select * from uptime')
    await page.getByRole('button', { name: 'Keep as draft' }).click()
    await page.getByRole('heading', { name: 'Uptime', level: 1 }).waitFor()
    expect(await questionOf(page).count()).toBe(0)
  })
})

describe('a secret that is shown once', () => {
  it('on the page that says where it is entered is not left by the Back button without a question', async () => {
    const page = await console.openPage('/settings/sign-in/new')
    await page.getByRole('link', { name: /Any OpenID Connect client/ }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Handbook')
    await page.getByLabel('Redirect URI').fill('https://handbook.example.com/callback')
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('heading', { name: /^Enter it at/, level: 1 }).waitFor()
    await pressBack(page)
    await answer(page, 'Stay on the page')
    await page.getByRole('group', { name: 'Client secret' }).waitFor()
    await page.getByRole('button', { name: 'It is entered' }).click()
    await page.getByRole('heading', { name: 'Handbook', level: 1 }).waitFor()
    expect(await questionOf(page).count()).toBe(0)
  })

  it('of a new webhook stays whatever the Back button wants, and leads to the webhook without a question', async () => {
    const { page } = await writeWebhook()
    await page.getByLabel('URL').fill('http://127.0.0.1:9/hook')
    await page.getByRole('checkbox').first().check()
    await page.getByRole('button', { name: 'Create webhook' }).click()
    const shown = page.getByRole('dialog')
    await shown.getByRole('button', { name: 'I have stored it' }).waitFor()
    await pressBack(page)
    await page.waitForURL('**/signals/webhooks/new')
    await shown.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  it('of new devices stays whatever the Back button wants', async () => {
    const page = await console.openPage('/settings')
    await page.getByRole('link', { name: 'Enrollment', exact: true }).click()
    await page.getByRole('button', { name: 'Create secret' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill('Laptops')
    await page.getByRole('dialog').getByRole('button', { name: 'Create secret' }).click()
    const stored = page.getByRole('dialog').getByRole('button', { name: 'I have stored it' })
    await stored.waitFor()
    await pressBack(page)
    await page.waitForURL('**/settings/enrollment')
    await stored.click()
    await stored.waitFor({ state: 'hidden' })
    await page.goBack()
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  })
})

/* What somebody types into a page stays, whatever others change meanwhile, in a real browser. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { insertCheck } from '../support/factories.ts'
import { consoleForTests } from './support/open-console.ts'

const console = consoleForTests()

/** Sends a request as the admin of a page does; answers the body. */
async function send(page: Page, method: string, path: string, body: object): Promise<unknown> {
  const request = {
    method,
    headers: { 'content-type': 'application/json', 'x-heliograph-console': '1' },
    body: JSON.stringify(body),
  }
  return page.evaluate<unknown>(
    `fetch(${JSON.stringify(path)}, ${JSON.stringify(request)}).then((answer) =>
      answer.ok ? answer.json() : answer.text().then((text) => Promise.reject(new Error(text))))`,
  )
}

describe('a search', () => {
  it('keeps what is typed while what was typed before is looked up', async () => {
    const page = await console.openPage('/issues')
    const search = page.getByRole('textbox', { name: 'Search' })
    await search.focus()
    await page.keyboard.type('open:true ')
    await page.waitForURL(/query=open/)
    await page
      .getByRole('radio', { name: 'Open' })
      .and(page.locator(':checked'))
      .waitFor({ state: 'attached' })
    await page.keyboard.type('AND')
    expect(await search.inputValue()).toBe('open:true AND')
  })

  it('follows what is chosen beside it, and the way back', async () => {
    const page = await console.openPage('/issues')
    const search = page.getByRole('textbox', { name: 'Search' })
    await page.getByText('Open', { exact: true }).click()
    await expect.poll(() => search.inputValue()).toBe('open:true')
    await page.getByText('All', { exact: true }).click()
    await expect.poll(() => search.inputValue()).toBe('')
    await page.waitForURL((url) => url.search === '')
  })
})

describe('the form of', () => {
  it('a strategy keeps what is edited when somebody else saves, and saves no more than that', async () => {
    const { db } = console.api.services
    const id = await insertCheck(db, { remediation_strategy: 'warn_then_block' })
    const page = await console.openPage(`/checks/${id}/strategy`)
    const days = page.getByLabel('Days to fix it')
    await days.fill('9')
    const other = await console.openPage('/checks')
    await send(other, 'PATCH', `/checks/${id}/configurations`, { snooze_disallowed: true })
    await page.getByText(/Revision \d+/).waitFor()
    expect(await days.inputValue()).toBe('9')
    const snooze = page.getByLabel('Owners may put it off')
    await expect.poll(() => snooze.isChecked()).toBe(false)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('The strategy is saved.').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    const saved = await db
      .selectFrom('posture_check')
      .select(['grace_period_days', 'snooze_disallowed'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(saved).toEqual({ grace_period_days: 9, snooze_disallowed: true })
  })

  it('a draft keeps what is typed when somebody else saves, and saves no more than that', async () => {
    const other = await console.openPage('/checks/drafts')
    const draft = (await send(other, 'POST', '/custom_check_drafts', { name: 'Firewall' })) as {
      readonly id: string
    }
    const page = await console.openPage(`/checks/drafts/${draft.id}`)
    const description = page.getByLabel('What it checks')
    await page.getByText('Save a query first').waitFor()
    await description.fill('Whether the firewall is on')
    await send(other, 'PATCH', `/custom_check_drafts/${draft.id}`, { name: 'Firewall is on' })
    await page.getByRole('heading', { name: 'Firewall is on', level: 1 }).waitFor()
    expect(await description.inputValue()).toBe('Whether the firewall is on')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The draft is saved.').waitFor()
    const saved = await console.api.services.db
      .selectFrom('custom_check_draft')
      .select(['name', 'description'])
      .executeTakeFirstOrThrow()
    expect(saved).toEqual({
      name: 'Firewall is on',
      description: 'Whether the firewall is on',
    })
  })

  it('a draft says before it is published that what is typed and not saved is left out', async () => {
    const page = await console.openPage('/checks/drafts')
    const draft = (await send(page, 'POST', '/custom_check_drafts', { name: 'Disk' })) as {
      readonly id: string
    }
    await send(page, 'PATCH', `/custom_check_drafts/${draft.id}`, {
      description: 'Whether the disk is encrypted',
      issue_title: 'The disk is not encrypted',
      platforms: ['darwin'],
      osquery_sql: "select 'PASS' as KOLIDE_CHECK_STATUS",
      rationale_template: 'It gets lost.',
      fix_instructions_template: 'Encrypt it.',
      privacy_info: 'Whether it is encrypted.',
      privacy_center_example_data: { darwin: { encrypted: '1' } },
    })
    await page.goto(`/console/checks/drafts/${draft.id}`)
    const publish = page.getByRole('button', { name: 'Publish' })
    const told = page.getByText('What is entered and not saved is left out.')
    await publish.click()
    await page.getByRole('dialog').getByText('A check is made of it').waitFor()
    expect(await told.count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByLabel('What it checks').fill('Whether all of it is encrypted')
    await publish.click()
    await told.waitFor()
  })
})

/* An open page of the console whose parts an upgrade of the service has taken away. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { consoleForTests } from './support/open-console.ts'

const console = consoleForTests()

async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', '/console${path}')`)
}

async function openSettings(): Promise<Page> {
  const context = await console.newContext()
  const page = await context.newPage()
  // That a part could not be loaded, the browser complains of by right.
  page.removeAllListeners('console')
  await page.goto('/console/settings')
  await page.getByRole('heading', { level: 1, name: 'Settings', exact: true }).waitFor()
  return page
}

const PART = /\/assets\/sql-editor-view-.*\.js$/
const INSTEAD = [
  ['is not there', { status: 404, body: 'Not found' }],
  ['is a page', { status: 200, contentType: 'text/html', body: '<!doctype html>' }],
] as const

describe('a part of the console that an upgrade has taken away', () => {
  it.each(INSTEAD)('has the page loaded anew once, where it %s', async (_what, answer) => {
    const page = await openSettings()
    let loads = 0
    page.on('load', () => (loads += 1))
    await page.route(PART, async (route) =>
      loads === 0 ? route.fulfill(answer) : route.continue(),
    )
    await goTo(page, '/live-queries/new')
    await page.locator('.cm-editor').waitFor()
    expect(loads).toBe(1)
  })

  it('is told where it is missing for good, with a way to load the page anew', async () => {
    const page = await openSettings()
    let loads = 0
    page.on('load', () => (loads += 1))
    await page.route(PART, async (route) => route.fulfill({ status: 404 }))
    await goTo(page, '/live-queries/new')
    await expect.poll(() => loads).toBe(1)
    await page.getByText('A part of the console is missing').waitFor()
    await page.getByRole('button', { name: 'Load the page anew' }).click()
    await expect.poll(() => loads).toBe(2)
    await page.getByText('A part of the console is missing').waitFor()
    expect(loads).toBe(2)
  })

  it('leaves the page as it is where it asks for a step-up, and says so', async () => {
    const page = await openSettings()
    await page.route(/\/assets\/step-up-dialog-.*\.js$/, async (route) =>
      route.fulfill({ status: 404 }),
    )
    await page.route(/\d\/devices\?/, async (route) =>
      route.fulfill({
        status: 403,
        json: { error: 'x', code: 'step_up_required', message: 'Prove yourself again.' },
      }),
    )
    await goTo(page, '/devices')
    const dialog = page.getByRole('dialog', { name: 'A part of the console is missing' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Prove yourself again.').waitFor()
  })
})

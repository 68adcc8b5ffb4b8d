/* An open page of the console whose parts do not come: an upgrade has taken them away, or the service is away. */
import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests()

const PART = /\/assets\/sql-editor-view-.*\.js$/
/** A whole page of the console. */
const PAGE_PART = /\/assets\/people-page-.*\.js$/

async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', '/console${path}')`)
}

interface OpenPage {
  readonly page: Page
  /** How often the page was loaded anew. */
  readonly countLoads: () => number
}

async function openSettings(): Promise<OpenPage> {
  const context = await console.newContext()
  const page = await context.newPage()
  // That a part could not be loaded, the browser complains of by right.
  page.removeAllListeners('console')
  await page.goto('/console/settings')
  await page.getByRole('heading', { level: 1, name: 'Settings', exact: true }).waitFor()
  let loads = 0
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads += 1
  })
  return { page, countLoads: () => loads }
}

/** The service has another version of the console from now on, as far as the open page can tell. */
async function upgrade(page: Page, version: string): Promise<void> {
  await page.route('**/console/', async (route) =>
    route.request().isNavigationRequest()
      ? route.continue()
      : route.fulfill({
          contentType: 'text/html',
          body: `<!doctype html><script type="module" src="/console/assets/index-${version}.js">`,
        }),
  )
}

const refuse = async (route: Route) => route.fulfill({ status: 404, body: 'Not found' })
const refuseWithoutProof = async (route: Route) =>
  route.fulfill({
    status: 403,
    json: { error: 'x', code: 'step_up_required', message: 'Prove yourself again.' },
  })
const cut = async (route: Route) => route.abort('connectionrefused')

const INSTEAD = [
  ['is not there', { status: 404, body: 'Not found' }],
  ['is a page', { status: 200, contentType: 'text/html', body: '<!doctype html>' }],
] as const

describe('a part of the console that an upgrade has taken away', () => {
  it.each(INSTEAD)('has the page loaded anew once, where it %s', async (_what, answer) => {
    const { page, countLoads } = await openSettings()
    await upgrade(page, 'second')
    await page.route(PART, async (route) =>
      countLoads() === 0 ? route.fulfill(answer) : route.continue(),
    )
    await goTo(page, '/live-queries/new')
    await page.locator('.cm-editor').waitFor()
    expect(countLoads()).toBe(1)
  })

  it('is told where it is missing for good, and the page is not loaded in a circle', async () => {
    const { page, countLoads } = await openSettings()
    await upgrade(page, 'second')
    await page.route(/\/assets\/(sql-editor-view|people-page)-.*\.js$/, refuse)
    await goTo(page, '/live-queries/new')
    // Is shown only once it is clear that the page stays.
    await page.getByText('A part of the console is missing').waitFor()
    expect(countLoads()).toBe(1)
    // The same version: another part is no reason to begin anew either.
    await goTo(page, '/people')
    await page.getByRole('heading', { name: 'A part of the console is missing' }).waitFor()
    expect(countLoads()).toBe(1)
    await page.getByRole('button', { name: 'Load the page anew' }).click()
    await expect.poll(countLoads).toBe(2)
    await page.getByRole('heading', { name: 'A part of the console is missing' }).waitFor()
    expect(countLoads()).toBe(2)
  })

  it('has the page loaded anew again after the next upgrade', async () => {
    const { page, countLoads } = await openSettings()
    await upgrade(page, 'second')
    await page.route(PART, refuse)
    await goTo(page, '/live-queries/new')
    await page.getByText('A part of the console is missing').waitFor()
    await upgrade(page, 'third')
    await page.route(PAGE_PART, async (route) =>
      countLoads() === 1 ? refuse(route) : route.continue(),
    )
    await goTo(page, '/people')
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
    expect(countLoads()).toBe(2)
  })

  it('does not have the page loaded anew that holds what was typed', async () => {
    const { page, countLoads } = await openSettings()
    await upgrade(page, 'second')
    await page.route(PART, async (route) => {
      await page.getByLabel('Name').fill('Who has it?')
      await refuse(route)
    })
    await goTo(page, '/live-queries/new')
    await page.getByText('A part of the console is missing').waitFor()
    expect(countLoads()).toBe(0)
    expect(await page.getByLabel('Name').inputValue()).toBe('Who has it?')
  })

  it('leaves the page as it is where it asks for a step-up, and says so', async () => {
    const { page, countLoads } = await openSettings()
    await upgrade(page, 'second')
    await page.route(/\/assets\/step-up-dialog-.*\.js$/, refuse)
    await page.route(/\d\/devices\?/, refuseWithoutProof)
    await goTo(page, '/devices')
    const dialog = page.getByRole('dialog', { name: 'A part of the console is missing' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Prove yourself again.').waitFor()
    expect(countLoads()).toBe(0)
  })
})

describe('a part of the console while the service is away', () => {
  it('says so in its place, and leaves what was typed beside it, also once the service is back', async () => {
    const { page, countLoads } = await openSettings()
    await page.route(PART, cut)
    await page.route('**/console/', cut)
    await goTo(page, '/live-queries/new')
    await page.getByText('The service cannot be reached', { exact: true }).waitFor()
    await page.getByLabel('Name').fill('Who has it?')
    await expectAccessible(page)
    await expectFitting(page, 'missing-part-unreachable')
    const retry = page.getByRole('button', { name: 'Try again' })
    await retry.click()
    await page.locator('button:not([data-loading])', { hasText: 'Try again' }).waitFor()
    await page.unroute('**/console/')
    await retry.click()
    await page.getByRole('button', { name: 'Load the page anew' }).waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('Who has it?')
    expect(countLoads()).toBe(0)
  })

  it('comes without the page being loaded anew, where the browser had no network', async () => {
    const { page, countLoads } = await openSettings()
    await page.context().setOffline(true)
    await goTo(page, '/people')
    await page.getByRole('heading', { name: 'The service cannot be reached', level: 1 }).waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
    expect(countLoads()).toBe(0)
  })

  it('says so in the place of a page, within the frame, and loads nothing anew before it is back', async () => {
    const { page, countLoads } = await openSettings()
    await page.route(PAGE_PART, cut)
    await page.route('**/console/', async (route) => route.fulfill({ status: 502, body: 'no' }))
    await goTo(page, '/people')
    const told = page.getByRole('heading', { name: 'The service cannot be reached', level: 1 })
    await told.waitFor()
    expect(await page.title()).toBe('The service cannot be reached · Heliograph')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    const asked = page.waitForRequest('**/console/')
    await page.getByRole('button', { name: 'Try again' }).click()
    await asked
    await page.locator('button:not([data-loading])', { hasText: 'Try again' }).waitFor()
    expect(countLoads()).toBe(0)
    await page.unroute(PAGE_PART)
    await page.unroute('**/console/')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
  })

  it('comes where only the first attempt failed, with the page loaded anew once', async () => {
    const { page, countLoads } = await openSettings()
    await page.route(PART, cut, { times: 1 })
    await goTo(page, '/live-queries/new')
    await page.locator('.cm-editor').waitFor()
    expect(countLoads()).toBe(1)
  })

  it('can be tried again where it asks for a step-up', async () => {
    const { page, countLoads } = await openSettings()
    await page.route(/\/assets\/step-up-dialog-.*\.js$/, cut)
    await page.route('**/console/', cut)
    await page.route(/\d\/devices\?/, refuseWithoutProof)
    await goTo(page, '/devices')
    const away = page.getByRole('dialog', { name: 'The service cannot be reached' })
    await away.waitFor()
    await page.unroute('**/console/')
    await away.getByRole('button', { name: 'Try again' }).click()
    const missing = page.getByRole('dialog', { name: 'A part of the console is missing' })
    await missing.getByRole('button', { name: 'Load the page anew' }).waitFor()
    await missing.getByRole('button', { name: 'Try again' }).waitFor()
    await expectAccessible(page)
    expect(countLoads()).toBe(0)
  })

  it('has a step-up that waits for the reason say so, and be given up', async () => {
    const { page } = await openSettings()
    await page.route(/\/assets\/step-up-dialog-.*\.js$/, cut)
    await page.route('**/console/', () => undefined)
    await page.route(/\d\/devices\?/, refuseWithoutProof)
    await goTo(page, '/devices')
    const waiting = page.getByRole('dialog', { name: 'Loading' })
    await waiting.getByRole('status').waitFor()
    await waiting.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Prove yourself again.').waitFor()
  })
})

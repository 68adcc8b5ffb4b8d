/*
 * What every page of the console does when something is wrong: a service that fails or does not answer, access
 * that is missing, records that do not exist. The pages are those that `routes.ts` of the folders declare.
 */
import { globSync, readFileSync } from 'node:fs'
import type { BrowserContext, Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { consoleForTests } from './support/open-console.ts'

/** So many pages are looked at side by side. */
const SIDE_BY_SIDE = 4
const NOBODY = '999999'

/** Pages that read nothing before something is typed or chosen, but for what helps with it. */
const READ_NOTHING = new Set([
  '/live-queries/new',
  '/sign-in',
  '/sign-in/provider',
  '/settings',
  '/settings/developers',
  '/settings/sign-in/upstream-providers/new',
  '/signals/find',
  '/reports/new',
  '/settings/sign-in/new',
  '/signals/clients/new',
  '/signals/streams/new',
  '/signals/webhooks/new',
  '/trusted-device',
])
/** What is read here is shown to whoever is signed in; the first page leads to what opens. */
const OPEN_TO_ALL = new Set(['/', '/settings/account', '/settings/organisation'])

/** Of those that read nothing, the ones that say at once what access is missing. */
const NEED_ACCESS = [
  '/live-queries/new',
  '/reports/new',
  '/settings/sign-in/new',
  '/settings/sign-in/upstream-providers/new',
]

const folder = new URL('../../../console/src/', import.meta.url).pathname
const ROUTES = globSync('*/routes.ts', { cwd: folder })
  .flatMap((file) => [...readFileSync(`${folder}${file}`, 'utf8').matchAll(/path: '([^']+)'/g)])
  .map(([, path = '']) => path)
  .filter((path) => !READ_NOTHING.has(path))
  .sort()

/** An address of each page, of a record that does not exist where it is about one. */
function addressOf(route: string): string {
  return route.replace('$kind', 'stream').replace('$tab', 'api-keys').replaceAll(/\$\w+/g, NOBODY)
}

const console = consoleForTests()

/**
 * Goes to a page as a link of the console does, without loading the console again. It goes by way of a page that reads
 * nothing, so that what the page before has said is not taken for what this one says.
 */
async function go(page: Page, route: string): Promise<void> {
  const push = async (address: string) =>
    page.evaluate(`history.pushState(null, '', '/console${address}')`)
  await push('/settings')
  await page.getByRole('heading', { level: 1, name: 'Settings', exact: true }).waitFor()
  await push(addressOf(route))
}

/** Opens every page in one of a few windows, and gathers what is wrong with each. */
async function lookAtAll(
  routes: readonly string[],
  context: BrowserContext,
  look: (page: Page, route: string) => Promise<string | undefined>,
): Promise<string[]> {
  const waiting = [...routes]
  const wrong: string[] = []
  const work = async () => {
    const page = await context.newPage()
    await page.goto('/console/settings')
    await page.getByRole('heading', { level: 1 }).waitFor()
    for (let route = waiting.shift(); route !== undefined; route = waiting.shift()) {
      const finding = await look(page, route)
      if (finding !== undefined) wrong.push(`${route}: ${finding}`)
    }
    await page.close()
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))
  return wrong.sort()
}

/** What a page says of a failure; nothing is wrong when it says one of these in time. */
async function expectTold(page: Page, words: RegExp): Promise<string | undefined> {
  const told = page.getByRole('main').filter({ hasText: words })
  try {
    await told.waitFor()
    return undefined
  } catch {
    return `says ${JSON.stringify((await page.getByRole('main').innerText()).slice(0, 200))}`
  }
}

/** What the console needs to show a page at all. */
const KEPT = new Set(['/console/session'])

/** Answers what the console asks of the API, but for the session and the live connection. */
async function answerAll(
  context: BrowserContext,
  respond: (route: Route) => Promise<void>,
): Promise<void> {
  await context.route('**/*', async (route) => {
    const request = route.request()
    const { pathname } = new URL(request.url())
    const isOfApi = request.resourceType() === 'fetch' && !KEPT.has(pathname)
    await (isOfApi ? respond(route) : route.continue())
  })
}

describe('every page', () => {
  it('shows that it loads, then what failed in the words of the service with the id of the request', async () => {
    const context = await console.newContext()
    const held = new Map<Page, Promise<void>>()
    await answerAll(context, async (route) => {
      await held.get(route.request().frame().page())
      await route.fulfill({
        status: 503,
        headers: { 'request-id': 'req_failed' },
        json: { error: 'x', code: 'unavailable', message: 'The database is away.' },
      })
    })
    const wrong = await lookAtAll(ROUTES, context, async (page, route) => {
      let release: () => void = () => undefined
      held.set(page, new Promise((resolve) => (release = resolve)))
      await go(page, route)
      const main = page.getByRole('main')
      const isBlank = async () =>
        (await main.innerText()).trim() === '' &&
        (await main.locator('[class*=Skeleton]').count()) === 0
      await expect.poll(isBlank).toBe(false)
      release()
      return expectTold(page, /The database is away\.[^]*req_failed/)
    })
    expect(wrong).toEqual([])
    await context.close()
  })

  it('says what access is missing, and who can give it', async () => {
    const context = await console.newContext({ access: 'billing_only' })
    const closed = [...ROUTES, ...NEED_ACCESS].filter((route) => !OPEN_TO_ALL.has(route))
    const wrong = await lookAtAll(closed, context, async (page, route) => {
      await go(page, route)
      return expectTold(page, /An admin with full access can widen it, under Settings, Admins/)
    })
    expect(wrong).toEqual([])
    await context.close()
  })

  it('of a record says that there is none where there is none', async () => {
    const context = await console.newContext()
    const ofRecords = ROUTES.filter((route) => route.includes('$') && !route.endsWith('$tab'))
    const wrong = await lookAtAll(ofRecords, context, async (page, route) => {
      await go(page, route)
      return expectTold(page, /There is nothing here/)
    })
    expect(wrong).toEqual([])
    await context.close()
  })
})

/* Two tabs of one browser, of which one ends the session or loses its access, and an admin to whom little is open. */
import type { BrowserContext, Page, Request } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { digestOf } from '../../src/organisation/admin-sign-in/sign-in.ts'
import { RESTRICTION_NAMES } from '../../src/schema/access-levels.ts'
import type { TestSessionOptions } from '../support/console-session.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests()

/** Each tab asks when it hears of the end, when it is refused, and at the sign-in. */
const REFUSED_MAX = 5

/** What the service refused to the pages of a browser, by path. */
function listenToRefusals(context: BrowserContext): string[] {
  const refused: string[] = []
  context.on('response', (response) => {
    if (response.status() === 401 || response.status() === 403) {
      refused.push(new URL(response.url()).pathname)
    }
  })
  return refused
}

/** The requests that wait for their answer; the one that tells of changes always does. */
function listenToRequests(page: Page): Set<Request> {
  const waiting = new Set<Request>()
  page.on('request', (request) => {
    if (!request.url().endsWith('/live')) waiting.add(request)
  })
  page.on('requestfinished', (request) => waiting.delete(request))
  page.on('requestfailed', (request) => waiting.delete(request))
  return waiting
}

async function openTab(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`/console${path}`)
  await page.getByRole('img', { name: /Live/ }).waitFor()
  return page
}

/** How often the path that was refused most was asked for, but for changes, which are tried for every ten seconds. */
function countMostRefused(refused: readonly string[]): number {
  const paths = refused.filter((path) => path !== '/live')
  return Math.max(0, ...paths.map((path) => paths.filter((other) => other === path).length))
}

async function openTabs(session: TestSessionOptions, ...paths: readonly string[]) {
  const context = await console.newContext(session)
  const refused = listenToRefusals(context)
  const pages: Page[] = []
  for (const path of paths) pages.push(await openTab(context, path))
  return { context, refused, pages }
}

/** A sign-in asks twice before it takes nobody for signed in: whoever signs in between would seem to have been. */
async function waitUntilSignedOut(page: Page): Promise<void> {
  const countRefused = () =>
    page.evaluate<number>(`performance.getEntriesByType('resource').filter(
      ({ name, responseStatus }) => name.endsWith('/console/session') && responseStatus === 401,
    ).length`)
  await expect.poll(countRefused).toBeGreaterThan(1)
}

/** Comes back to the tab of a sign-in, until it leaves: what is being looked up already is not asked for once more. */
async function comeBack(page: Page): Promise<void> {
  let isLeaving = false
  page.on('request', (request) => {
    isLeaving ||= request.isNavigationRequest()
  })
  await expect
    .poll(async () => {
      if (!isLeaving) {
        await page.evaluate(
          "document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))",
        )
      }
      return isLeaving
    })
    .toBe(true)
}

/** A page that begins to hear of changes asks for its session anew, and may take a refusal of just then back. */
async function keepFromLive(page: Page): Promise<void> {
  await page.route('**/live', () => undefined)
}

/** The session of a browser. */
async function findSession(context: BrowserContext): Promise<string | undefined> {
  const [cookie] = await context.cookies()
  const session = await console.api.services.db
    .selectFrom('admin_session')
    .select('id')
    .where('token_hash', '=', digestOf(cookie?.value ?? ''))
    .executeTakeFirst()
  return session?.id
}

async function isSessionOpen(id: string | undefined): Promise<boolean> {
  const { db } = console.api.services
  const found = db
    .selectFrom('admin_session')
    .select('id')
    .where('id', '=', id ?? '')
  return (await found.executeTakeFirst()) !== undefined
}

async function findAdmin(): Promise<string> {
  const { id } = await console.api.services.db
    .selectFrom('admin_user')
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return id
}

describe('signing out in one tab', () => {
  // The first one listens for all of them.
  it.each([0, 1])(
    'leads the other ones to the sign-in, but for what is typed: tab %i',
    async (at) => {
      const { refused, pages } = await openTabs({}, '/devices', '/checks', '/signals/webhooks/new')
      const typed = pages[2] as Page
      const leaving = pages[at] as Page
      const other = pages[1 - at] as Page
      await typed.getByLabel('Name').fill('Alerts')
      await leaving.bringToFront()
      await leaving.getByRole('button', { name: /Ada Lovelace/ }).click()
      await leaving.getByRole('menuitem', { name: 'Sign out' }).click()
      await leaving.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
      await other.waitForURL(/sign-in\?next=/)
      await other.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
      await typed.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
      expect(await typed.getByLabel('Name').inputValue()).toBe('Alerts')
      expect(countMostRefused(refused)).toBeLessThanOrEqual(REFUSED_MAX * pages.length)
      // Nothing goes on asking, but for whoever comes back to the tab.
      const before = refused.length
      await typed.evaluate("window.dispatchEvent(new Event('focus'))")
      await expect.poll(() => refused.length).toBeGreaterThan(before)
      expect(refused.slice(before).every((path) => path === '/console/session')).toBe(true)
    },
  )
})

describe('signing in again in one tab', () => {
  it('opens the page that another one was led away from, once somebody comes back to it', async () => {
    const { context, pages } = await openTabs({}, '/devices', '/checks')
    const [leaving, other] = pages as [Page, Page]
    await leaving.getByRole('button', { name: /Ada Lovelace/ }).click()
    await leaving.getByRole('menuitem', { name: 'Sign out' }).click()
    await other.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
    await waitUntilSignedOut(other)
    await console.signIn(context)
    await comeBack(other)
    await other.getByRole('heading', { name: 'Checks', level: 1 }).waitFor()
  })

  it.each([
    '/console/sign-in',
    '/console/sign-in?next=%2Fconsole%2Fsign-in',
    'http://127.0.0.1:9/elsewhere',
  ])('opens the console where the tab was to go on to %s', async (next) => {
    const context = await console.newContext(null)
    const page = await context.newPage()
    await page.goto(`/console/sign-in?next=${encodeURIComponent(next)}`)
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
    await waitUntilSignedOut(page)
    await console.signIn(context)
    await comeBack(page)
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/console/')
  })
})

describe('the sign-in of somebody who is signed in', () => {
  it('goes on to its page without a word, also when it is opened again after another one', async () => {
    const page = await (await console.newContext()).newPage()
    const told: string[] = []
    await page.exposeFunction('tell', (text: string) => told.push(text))
    // What is drawn for a moment only.
    await page.addInitScript(`new MutationObserver(() => {
      const text = document.body?.textContent ?? ''
      if (/You are signed in as/.test(text)) tell(text)
    }).observe(document, { childList: true, subtree: true, characterData: true })`)
    await page.goto('/console/sign-in?next=%2Fconsole%2Fchecks')
    await page.getByRole('heading', { name: 'Checks', level: 1 }).waitFor()
    await page.goto('/console/sign-in?next=%2Fconsole%2Fdevices')
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
    await page.goto('/console/sign-in?next=%2Fconsole%2Fchecks')
    await page.getByRole('heading', { name: 'Checks', level: 1 }).waitFor()
    expect(told).toEqual([])
  })

  it('is no page that somebody goes back to', async () => {
    const page = await (await console.newContext()).newPage()
    await page.goto('/console/devices')
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
    await page.goto('/console/sign-in?next=%2Fconsole%2Fchecks')
    await page.getByRole('heading', { name: 'Checks', level: 1 }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
  })

  describe('whose page is refused all the same', () => {
    const signedIn = /^You are signed in as .*@example.com$/

    async function openRefused() {
      const context = await console.newContext()
      const page = await context.newPage()
      await page.route(
        ({ pathname }) => pathname === '/checks',
        async (route) => route.fulfill({ status: 401, json: { code: 'unauthorized' } }),
      )
      await keepFromLive(page)
      let signIns = 0
      page.on('request', (request) => {
        if (request.isNavigationRequest() && request.url().includes('/sign-in?')) signIns += 1
      })
      await page.goto('/console/checks')
      // The first one goes on to the page once more.
      await expect.poll(() => signIns).toBe(2)
      await page.getByText(signedIn).waitFor()
      return { context, page }
    }

    it('says who they are, and goes on to the page when they say so', async () => {
      const { page } = await openRefused()
      await expectAccessible(page)
      await expectFitting(page, 'sign-in-signed-in')
      await page.unrouteAll()
      await page.getByRole('link', { name: 'Go on' }).click()
      await page.getByRole('heading', { name: 'Checks', level: 1 }).waitFor()
    })

    it('signs them out for another account, which goes on to the page', async () => {
      const { context, page } = await openRefused()
      await page.unrouteAll()
      const session = await findSession(context)
      expect(await isSessionOpen(session)).toBe(true)
      const loaded = page.waitForEvent('load')
      await page.getByRole('button', { name: 'Use another account' }).click()
      await loaded
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
      expect(await isSessionOpen(session)).toBe(false)
      await waitUntilSignedOut(page)
      expect(await page.getByText(signedIn).count()).toBe(0)
      await console.signIn(context)
      await comeBack(page)
      await page.getByRole('heading', { name: 'Checks', level: 1 }).waitFor()
    })
  })
})

describe('a page that is refused although its session is valid', () => {
  it('is tried once more, not back and forth, and again after somebody has signed in', async () => {
    const context = await console.newContext()
    const page = await context.newPage()
    const documents: string[] = []
    page.on('request', (request) => {
      if (request.isNavigationRequest()) documents.push(new URL(request.url()).pathname)
    })
    const refuse = { status: 401, json: { code: 'unauthorized', message: 'Sign in.' } }
    await page.route(
      ({ pathname }) => pathname === '/checks',
      async (route) => route.fulfill(refuse),
    )
    await keepFromLive(page)
    const tried = ['/console/checks', '/console/sign-in', '/console/checks', '/console/sign-in']
    await page.goto('/console/checks')
    await expect.poll(() => documents).toEqual(tried)
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(documents).toEqual(tried)
    await context.clearCookies()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
    await waitUntilSignedOut(page)
    await console.signIn(context)
    documents.length = 0
    await comeBack(page)
    await expect.poll(() => documents).toEqual(tried)
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(documents).toEqual(tried)
  })
})

describe('the list of sign-ins', () => {
  it('leads to the sign-in whoever is not signed in', async () => {
    const page = await (await console.newContext(null)).newPage()
    await page.goto('/console/sign-ins')
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
    expect(new URL(page.url()).searchParams.get('next')).toBe('/console/sign-ins')
  })
})

describe('a service that takes no connections for changes for a while', () => {
  it('is asked for the session by one tab alone', async () => {
    const { context, pages } = await openTabs({}, '/devices', '/checks')
    await context.route('**/live', async (route) => route.fulfill({ status: 503 }))
    const asked = [0, 0]
    for (const [at, page] of pages.entries()) {
      page.on('request', (request) => {
        if (request.url().endsWith('/console/session')) asked[at] = (asked[at] ?? 0) + 1
      })
    }
    await (pages[0] as Page).reload()
    await expect.poll(() => asked[1]).toBeGreaterThan(1)
    expect(asked[0]).toBe(1)
  })
})

describe('access that is taken away while pages are open', () => {
  it('ends the session in each of them, and nothing is asked for again and again', async () => {
    const { refused, pages } = await openTabs({}, '/signals/webhooks', '/devices')
    const id = await findAdmin()
    const admin = await console.otherAdmin()
    await admin.send('PATCH', `/admin_users/${id}`, {
      access: 'limited',
      restrictions: ['webhooks'],
    })
    for (const page of pages) {
      await page.waitForURL(/sign-in\?next=/)
      await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
    }
    expect(countMostRefused(refused)).toBeLessThanOrEqual(REFUSED_MAX * pages.length)
  })
})

describe('an admin with every restriction', () => {
  it('is led to what is open alone, which asks for nothing that is refused', async () => {
    const session = { access: 'limited', restrictions: RESTRICTION_NAMES } as const
    const { refused, pages } = await openTabs(session, '/')
    const [page] = pages as [Page]
    const waiting = listenToRequests(page)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const names = await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link')
      .allInnerTexts()
    for (const name of names) {
      await page
        .getByRole('navigation', { name: 'Main' })
        .getByRole('link', { name, exact: true })
        .click()
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await expect.poll(() => waiting.size).toBe(0)
    }
    await expectAccessible(page)
    await expectFitting(page, 'everything-closed')
    expect(refused).toEqual([])
  })
})

/*
 * The console in a real browser, on a service of its own with a real database. Owns the browser, the port and
 * the session; what a test looks at is the page.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { toConsoleSite } from '../../../src/organisation/admin-sign-in/console-site.ts'
import { CleanupStack } from '../../../src/platform/cleanup-stack.ts'
import { reservePort } from '../../support/reserve-ports.ts'
import { findViolations, toFinding } from '../../support/axe-violations.ts'
import { composeTestApi, type ComposedApi } from '../../support/composed-api.ts'
import { createConsoleSession, type TestSessionOptions } from '../../support/console-session.ts'
import { findFaintBorders } from './faint-borders.ts'
import { launchBrowser } from './launch-browser.ts'
import { signInOtherAdmin, type OtherAdmin } from './other-admin.ts'
import { UsedPage } from './used-page.ts'
import { walkTo } from './walk-to.ts'

const WIDE = { width: 1440, height: 900 } as const
export const LAPTOP = { width: 1280, height: 800 } as const
const NARROW = { width: 320, height: 720 } as const

interface ConsoleTest {
  readonly api: ComposedApi
  readonly baseUrl: string
  /** A new browser profile, signed in as a new admin; `null` stays signed out. */
  readonly newContext: (session?: TestSessionOptions | null) => Promise<BrowserContext>
  /**
   * A page of the console, loaded; `path` begins behind `/console`. The next test may go on in it as another admin:
   * what stays with a page for good, as a script that runs at its start or a clock, needs one of a `newContext`.
   */
  readonly openPage: (path: string, session?: TestSessionOptions | null) => Promise<Page>
  /**
   * One page for the tests of a file that only look: each walks from where the test before has left it. Notices stay,
   * and whatever a test does to the page itself: what changes records, or answers for the service, opens a page of its
   * own.
   */
  readonly walkTo: (path: string) => Promise<Page>
  /** Signs a new admin in to a browser profile, as in another of its windows. */
  readonly signIn: (context: BrowserContext) => Promise<void>
  /** Another admin, who has no page open. */
  readonly otherAdmin: () => Promise<OtherAdmin>
}

interface OpenConsole extends ConsoleTest {
  /**
   * What browsers have complained of since the last time: faults of scripts, and what the policy of the page refused.
   */
  readonly takeComplaints: () => string[]
  /** What is open now stays open after the test. */
  readonly keepOpen: () => void
  /** Closes the pages that a test has opened. Of a test that failed, tells what they show to a reader of screens. */
  readonly closePages: (failedTest?: string) => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * The console for the tests of a file: open while they run, on a service with all roles of its own. No test may leave
 * a complaint of the browser behind.
 */
export function consoleForTests(environment: Readonly<Record<string, string>> = {}): ConsoleTest {
  let opened: OpenConsole | undefined
  const current = () => {
    if (opened === undefined) throw new Error('the console opens before the first test')
    return opened
  }
  beforeAll(async () => {
    opened = await openConsole(environment)
  })
  beforeEach(() => current().keepOpen())
  afterEach(async ({ task }) => {
    await current().closePages(task.result?.state === 'fail' ? task.name : undefined)
    expect(current().takeComplaints()).toEqual([])
  })
  afterAll(() => opened?.close())
  return {
    get api() {
      return current().api
    },
    get baseUrl() {
      return current().baseUrl
    },
    newContext: (session) => current().newContext(session),
    openPage: (path, session) => current().openPage(path, session),
    walkTo: (path) => current().walkTo(path),
    signIn: (context) => current().signIn(context),
    otherAdmin: () => current().otherAdmin(),
  }
}

async function openConsole(environment: Readonly<Record<string, string>>): Promise<OpenConsole> {
  const cleanup = new CleanupStack()
  const port = await reservePort('localhost')
  const baseUrl = `http://localhost:${port}`
  const api = await composeTestApi({
    environment: {
      HELIOGRAPH_BASE_URL: baseUrl,
      HELIOGRAPH_ROLES: 'api,worker,agents',
      HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '100000',
      ...environment,
    },
  })
  cleanup.add(() => api.close())
  await api.http.listen({ port, host: 'localhost' })
  const browser = await launchBrowser()
  cleanup.add(() => browser.close())
  const complaints: string[] = []
  const signIn = async (context: BrowserContext, session: TestSessionOptions = {}) => {
    const { token } = await createConsoleSession(api.services.db, session)
    const { name } = toConsoleSite(baseUrl).cookie
    await context.addCookies([
      { name, value: token, url: baseUrl, httpOnly: true, sameSite: 'Lax' },
    ])
  }
  const newContext = async (session: TestSessionOptions | null = {}) => {
    const context = await browser.newContext({
      viewport: WIDE,
      baseURL: baseUrl,
      reducedMotion: 'reduce',
    })
    if (session !== null) await signIn(context, session)
    context.on('page', (page) => listen(page, complaints))
    return context
  }
  const used = new UsedPage(`${baseUrl}/console`)
  const openPage = async (path: string, session?: TestSessionOptions | null) => {
    const left = await used.take()
    if (left !== undefined && session !== null) await signIn(left.context(), session)
    const page = left ?? (await (await newContext(session)).newPage())
    used.add(page)
    await page.goto(`/console${path}`)
    return page
  }
  let walked: Page | undefined
  const walk = async (path: string) => {
    if (walked === undefined) {
      walked = await (await newContext()).newPage()
      await walked.goto(`/console${path}`)
      return walked
    }
    await walked.setViewportSize(WIDE)
    await walkTo(walked, path)
    return walked
  }
  const otherAdmin = () => signInOtherAdmin(api.http, api.services.db, baseUrl)
  const takeComplaints = () => complaints.splice(0)
  let kept: readonly BrowserContext[] = []
  const keepOpen = () => {
    const passedOn = [walked?.context(), used.keepOpen()?.context()]
    kept = browser.contexts().filter((context) => !passedOn.includes(context))
  }
  const closePages = async (failedTest?: string) => {
    // After a test that failed the next one walks on a new page.
    if (failedTest !== undefined) {
      walked = undefined
      used.forget()
    }
    const left = await used.leave()
    const passedOn = [...kept, walked?.context(), left?.context()]
    const contexts = browser.contexts().filter((each) => !passedOn.includes(each))
    if (failedTest !== undefined) {
      const pages = contexts.flatMap((context) => context.pages())
      const shown = await Promise.all(pages.map(describePage))
      process.stderr.write([failedTest, ...shown, ''].join('\n'))
    }
    await Promise.all(contexts.map((context) => context.close()))
  }
  const close = () => cleanup.run()
  const forTests = { api, baseUrl, newContext, openPage, walkTo: walk, signIn, otherAdmin }
  return { ...forTests, takeComplaints, keepOpen, closePages, close }
}

async function describePage(page: Page): Promise<string> {
  const shown = page.locator('body').ariaSnapshot({ timeout: 10_000 })
  return `${page.url()}\n${await shown.catch(String)}`
}

function listen(page: Page, complaints: string[]): void {
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    // A refusal that the page shows to its reader is told by the browser as well.
    if (message.type() !== 'error' || text.startsWith('Failed to load resource')) return
    complaints.push(`${page.url()}: ${text}`)
  })
}

const COLOUR_RULES = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } as const

/** Waits until the page has heard of the theme, and until nothing moves any more. */
async function setTheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  // Asked again and again from outside: the policy of the page lets nobody make functions from texts in it.
  const isSettled = () =>
    page.evaluate<boolean>(`document.documentElement.dataset.mantineColorScheme === '${colorScheme}'
      && document.getAnimations().every(({ playState }) => playState !== 'running')`)
  await expect.poll(isSettled).toBe(true)
}

/** What hinders somebody: of the findings of axe all by day, at night what depends on colours; and faint borders. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const scheme of ['light', 'dark'] as const) {
    await setTheme(page, scheme)
    const violations = await findViolations(page, scheme === 'light' ? undefined : COLOUR_RULES)
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect(serious.map(toFinding), scheme).toEqual([])
    expect(await findFaintBorders(page), scheme).toEqual([])
  }
}

/** By how many px the page, or a part of it, is wider than there is room; `parts` are those that are looked at. */
const TOO_WIDE = (parts: string) => `Math.max(...[document.documentElement, ${parts}]
  .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))`
const CARDS_AND_LISTS =
  "...document.querySelectorAll('main section, [data-testid=rows], [data-testid=short-table], [role=dialog]')"

/** Dialogs and open menus that reach beyond a side of the window, or above or below it where nothing scrolls there. */
const OUT_OF_REACH = `[...document.querySelectorAll('[role=dialog], [role=menu]')].flatMap((part) => {
  const isScrolled = (element) => element !== null &&
    (/auto|scroll/.test(getComputedStyle(element).overflowY) || isScrolled(element.parentElement))
  const page = document.documentElement
  const { left, right, top, bottom, width } = part.getBoundingClientRect()
  if (width === 0) return []
  const isBeside = left < -1 || right > innerWidth + 1
  const isCut = /hidden|clip/.test(getComputedStyle(part).overflowY) && part.scrollHeight > part.clientHeight + 1
  const isBelow = bottom > innerHeight + 1 && bottom + scrollY > page.scrollHeight + 1
  const isLost = top < -1 || isCut || (isBelow && !isScrolled(part.parentElement))
  return isBeside || isLost ? [[part.role, part.className, left, top, right, bottom].join(' ')] : []
})`

/** Finds dialogs and open menus of which something cannot be scrolled to. */
export async function expectWithinReach(page: Page, message: string): Promise<void> {
  await expect.poll(() => page.evaluate<string[]>(OUT_OF_REACH), { message }).toEqual([])
}

interface FittingOptions {
  readonly mayListsScroll?: boolean
  readonly viewports?: readonly (typeof NARROW | typeof LAPTOP)[]
}

/** The sizes of windows in which pages are looked at. */
const VIEWPORTS = [NARROW, LAPTOP] as const

/**
 * Keeps pictures of a page in both themes and widths where `HELIOGRAPH_TEST_SCREENSHOTS` names a folder, and
 * finds what reaches beyond the window or its card at either width, and lists that hide a column, but where they may.
 */
export async function expectFitting(
  page: Page,
  name: string,
  { mayListsScroll = false, viewports = VIEWPORTS }: FittingOptions = {},
): Promise<void> {
  const folder = process.env['HELIOGRAPH_TEST_SCREENSHOTS']
  if (folder !== undefined) await mkdir(folder, { recursive: true })
  for (const viewport of viewports) {
    await page.setViewportSize(viewport)
    const tooWide = () => page.evaluate<number>(TOO_WIDE(mayListsScroll ? '' : CARDS_AND_LISTS))
    // A page takes its new width up when its turn comes.
    await expect.poll(tooWide, { message: `${name} at ${viewport.width}` }).toBeLessThanOrEqual(0)
    await expectWithinReach(page, `${name} at ${viewport.width}`)
    if (folder === undefined) continue
    for (const colorScheme of ['light', 'dark'] as const) {
      await setTheme(page, colorScheme)
      const path = join(folder, `${name}-${viewport.width}-${colorScheme}.png`)
      await page.screenshot({ path })
    }
  }
}

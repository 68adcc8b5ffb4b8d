/*
 * Every page of the console with one record of everything, each text of which tries to be more than text: nothing of
 * it runs, nothing hinders anybody in either theme, nothing reaches beyond the window, no list hides a column. Nor does
 * anything where the browser is set to texts twice as large, of which none is cut.
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeEveryPage, PAGE_NAMES, type EveryPage, type PageName } from './support/every-page.ts'
import { HOSTILE_TEXT, makeTextsHostile } from './support/hostile-texts.ts'
import { expectLargeText, setLargeText } from '../support/large-text.ts'
import { consoleForTests, expectAccessible, expectFitting, LAPTOP } from './support/open-console.ts'
import { walkTo } from './support/walk-to.ts'

const console = consoleForTests({
  HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
  HELIOGRAPH_LOG_LEVEL: 'error',
})
let pages: EveryPage
let page: Page
let large: Page

beforeAll(async () => {
  pages = await makeEveryPage(console.api)
  await makeTextsHostile(console.api.services)
  page = await console.openPage('/settings')
  large = await (await console.newContext()).newPage()
  await setLargeText(large)
  await large.goto('/console/settings')
})
afterAll(async () => {
  await pages.close()
})

/** Lists with as many columns as what they list has. */
const WIDE_LISTS: ReadonlySet<PageName> = new Set(['report-table'])

/** What has run of what is only text, and which elements it has become. */
const FOUND = `({
  ran: globalThis.hostileTextRan === true,
  elements: document.querySelectorAll('img[src="x"], [onerror], a[href^="javascript:"]').length,
})`

async function openWhole(on: Page, name: PageName): Promise<void> {
  await walkTo(on, pages.toPath(name))
  await on.getByRole('heading', { level: 1 }).first().waitFor()
  await on
    .locator('[aria-label=Loading], .mantine-Skeleton-root')
    .first()
    .waitFor({ state: 'detached' })
}

describe('every page', () => {
  it.each(PAGE_NAMES)('%s', async (name) => {
    await openWhole(page, name)
    expect(await page.evaluate(FOUND)).toEqual({ ran: false, elements: 0 })
    await expectAccessible(page)
    await expectFitting(page, name, { mayListsScroll: WIDE_LISTS.has(name) })
  })

  it.each(PAGE_NAMES)('%s in large text', async (name) => {
    await openWhole(large, name)
    const mayListsScroll = WIDE_LISTS.has(name)
    await expectFitting(large, `${name}-large`, { mayListsScroll, viewports: [LAPTOP] })
    await expectLargeText(large, name)
  })

  it('shows the hostile texts as texts', async () => {
    await page.goto('/console/devices')
    await page.getByText(HOSTILE_TEXT).first().waitFor()
  })
})

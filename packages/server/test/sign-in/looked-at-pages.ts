/* Pages for people in a real browser: what a test looks at is the page, in both themes, widths and languages. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectLargeText, setLargeText } from '../support/large-text.ts'
import { COLOUR_RULES, findViolations, toFinding } from '../support/axe-violations.ts'

const LAPTOP = { width: 1280, height: 900 } as const
const SIZES = [{ width: 320, height: 700 }, { width: 390, height: 844 }, LAPTOP] as const
const TOO_WIDE = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
const RULES = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
} as const
const THEMES = ['light', 'dark'] as const

export interface LookedAtPages {
  /** A page of a browser profile of its own; what it complains of is kept. */
  readonly open: (url: string, options?: BrowserContextOptions) => Promise<Page>
  /** Faults of scripts, and what the policy of a page refused. */
  readonly complaints: readonly string[]
}

export function lookAtPages(browser: Browser): LookedAtPages {
  const complaints: string[] = []
  return {
    complaints,
    open: async (url, options = {}) => {
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
      const page = await context.newPage()
      page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
      page.on('console', (message) => {
        const text = message.text()
        // A refusal that is shown to its reader is told by the browser as well.
        if (message.type() !== 'error' || text.startsWith('Failed to load resource')) return
        complaints.push(`${page.url()}: ${text}`)
      })
      await page.goto(url)
      return page
    },
  }
}

/**
 * Finds what hinders somebody, in the dark what depends on colours: the themes differ in nothing else, which
 * `page-themes.test.ts` holds. Finds what reaches beyond the window at any width, and in texts twice as large. Pictures
 * are kept in both themes where `HELIOGRAPH_TEST_SCREENSHOTS` names a folder.
 */
export async function expectGood(page: Page, name: string): Promise<void> {
  const folder = process.env['HELIOGRAPH_TEST_SCREENSHOTS']
  if (folder !== undefined) await mkdir(folder, { recursive: true })
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const rules = colorScheme === 'light' ? RULES : COLOUR_RULES
    const found = (await findViolations(page, rules)).map(toFinding)
    expect(found, `${name}, ${colorScheme}`).toEqual([])
    if (folder === undefined && colorScheme === 'dark') continue
    const setUsualText = await setLargeText(page)
    await page.setViewportSize(LAPTOP)
    expect(await page.evaluate<number>(TOO_WIDE), `${name} in large text`).toBeLessThanOrEqual(0)
    await expectLargeText(page, `${name} in large text`)
    if (folder !== undefined) {
      const path = join(folder, `${name}-large-${colorScheme}.png`)
      // A picture of more than the window would take the size of texts back.
      await page.screenshot({ path })
    }
    await setUsualText()
    for (const viewport of SIZES) {
      await page.setViewportSize(viewport)
      expect(
        await page.evaluate<number>(TOO_WIDE),
        `${name} at ${viewport.width}`,
      ).toBeLessThanOrEqual(0)
      if (folder === undefined) continue
      const path = join(folder, `${name}-${viewport.width}-${colorScheme}.png`)
      await page.screenshot({ path, fullPage: true })
    }
  }
}

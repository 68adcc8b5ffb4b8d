/* A browser that is set to texts twice as large as usual, which is another thing than a page that is made larger. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/**
 * Sets what the settings of the browser call the size of texts; what is answered takes it back. Scripts that have
 * measured texts do not hear of it.
 */
export async function setLargeText(page: Page): Promise<() => Promise<void>> {
  const browser = await page.context().newCDPSession(page)
  await browser.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
  return async () => {
    await browser.send('Page.setFontSizes', { fontSizes: { standard: 16, fixed: 13 } })
    await browser.detach()
  }
}

/** The smallest text of any page, twice as large. */
const TEXT_PX_MIN = 24

/** Texts that have not grown, and those of which something is not to be seen and no ellipsis says so. */
const FAULTY = `[...document.querySelectorAll('body :not(textarea, input, style, script)')].flatMap((part) => {
  const says = [...part.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
  const { clip, clipPath, fontSize, overflowX, overflowY, textOverflow, display } = getComputedStyle(part)
  if (!says || clip !== 'auto' || clipPath !== 'none' || !part.checkVisibility()) return []
  const hides = (overflow) => /hidden|clip/.test(overflow) && display !== 'inline'
  const isBeside = hides(overflowX) && textOverflow !== 'ellipsis' && part.scrollWidth > part.clientWidth + 1
  const isBelow = hides(overflowY) && part.scrollHeight > part.clientHeight + 2
  const isSmall = parseFloat(fontSize) < ${TEXT_PX_MIN}
  return isBeside || isBelow || isSmall ? [fontSize + ' ' + part.className + ': ' + part.textContent] : []
})`

/** Finds texts that are cut, or as small as ever. */
export async function expectLargeText(page: Page, message: string): Promise<void> {
  await expect.poll(() => page.evaluate<string[]>(FAULTY), { message }).toEqual([])
}

import type { Page } from 'playwright-core'

/** Goes to a page as a link of the console does: from a page that shows nothing, without loading the console anew. */
export async function walkTo(page: Page, path: string): Promise<void> {
  const nowhere = page.getByText('There is no such page')
  await page.evaluate("history.pushState({}, '', '/console/nowhere')")
  await nowhere.waitFor()
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(`/console${path}`)})`)
  await nowhere.waitFor({ state: 'detached' })
}

/* Typing that is quicker than the page, in a real browser: what comes later never takes the place of what is typed. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { insertCheck, insertCheckTag } from '../support/factories.ts'
import { consoleForTests } from './support/open-console.ts'

const console = consoleForTests()

/** Presses keys one after the other while the page does nothing else. */
async function typeAtOnce(page: Page, label: string, ...keys: readonly string[]): Promise<void> {
  await page.evaluate(`{
    const input = document.querySelector('input[aria-label="${label}"]')
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
    for (const key of ${JSON.stringify(keys)}) {
      if (key === 'Enter') input.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
      else {
        set.call(input, input.value + key)
        input.dispatchEvent(new Event('input', { bubbles: true }))
      }
    }
  }`)
}

describe('what is typed quickly', () => {
  it('stays whole where the list of checks is narrowed by it', async () => {
    const page = await console.openPage('/checks')
    const find = page.getByLabel('Find a check')
    await find.fill('Disk')
    await page.waitForURL(/name=Disk/)
    await typeAtOnce(page, 'Find a check', ' ', 'e', 'n', 'c')
    await page.waitForURL(/name=Disk(\+|%20)enc/)
    expect(await find.inputValue()).toBe('Disk enc')
  })

  it('stays whole where it is sent on the way', async () => {
    const page = await console.openPage('/devices')
    const search = page.getByLabel('Search', { exact: true })
    await search.waitFor()
    await typeAtOnce(page, 'Search', 'name', 'Enter', '~', 'a')
    await page.waitForURL(/query=name~a|query=name%7Ea/)
    expect(await search.inputValue()).toBe('name~a')
  })

  it('stays whole where SQL is written', async () => {
    const page = await console.openPage('/live-queries/new')
    const sql = 'select name, version from os_version where major >= 14 limit 5'
    const editor = page.getByRole('textbox', { name: 'SQL' })
    await editor.click()
    // Each key meets the page at another moment of its work on the one before.
    await page.evaluate(`(async () => {
      for (const key of ${JSON.stringify(sql)}) {
        document.execCommand('insertText', false, key)
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
      }
    })()`)
    expect(await editor.innerText()).toBe(sql)
  })
})

describe('what is typed while a list is read', () => {
  it('stays where a tag is looked for among those that come later', async () => {
    const { db } = console.api.services
    await insertCheckTag(db, await insertCheck(db), {
      name: 'Encryption',
      color: 'rgba(0, 0, 0, 1)',
    })
    const page = await console.openPage('/devices')
    const { promise: isTyped, resolve: release } = Promise.withResolvers<undefined>()
    await page.route(
      ({ pathname }) => pathname === '/checks',
      async (route) => {
        await isTyped
        await route.continue()
      },
    )
    await page.goto('/console/checks?tag=Encryption')
    const tags = page.getByRole('combobox', { name: 'Tags' })
    await tags.fill('Acc')
    release(undefined)
    await page.getByRole('row').nth(1).waitFor()
    // Whatever the list has brought about is done before a key is taken.
    await tags.press('e')
    expect(await tags.inputValue()).toBe('Acce')
  })
})

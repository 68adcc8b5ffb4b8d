/* What every list of the console offers, on the list of devices in a browser: export, order and views. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { insertDevice } from '../support/factories.ts'
import { setLargeText } from '../support/large-text.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'
import { sendAs } from './support/send-as.ts'

const HOSTILE = '=HYPERLINK("https://evil.example.com";"click")'

const console = consoleForTests()

beforeAll(async () => {
  const { db } = console.api.services
  for (const name of [HOSTILE, 'a;=1+1', '＋2', 'quiet "mac", of Ada']) {
    await insertDevice(db, { name, auth_state: 'Blocked' })
  }
  await insertDevice(db, { name: 'good-mac', auth_state: 'Good' })
})

const rowsOf = (page: Page) => page.getByRole('rowgroup').getByRole('row')

/** The lines of the file that the page saves. */
async function exportLines(page: Page): Promise<string[]> {
  const waiting = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export as CSV' }).click()
  const download = await waiting
  expect(download.suggestedFilename()).toBe('devices.csv')
  return (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
}

/** By how many px the second row begins below the first. */
const ROW_DISTANCE = `(([first, second]) => second.getBoundingClientRect().top - first.getBoundingClientRect().top)(
  document.querySelectorAll('[data-index]'))`

/** How much of the list is cut off, in px, where nobody can scroll to it. */
const CUT_OFF = `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(
  document.querySelector('main section'))`

describe('a list in a low window, as of a page that is made larger', () => {
  it.each([
    ['rows', '/devices', 'good-mac'],
    ['why there are none', '/groups', 'No device group'],
  ])('leaves everything in reach: %s', async (_what, path, text) => {
    const page = await console.openPage(path)
    await page.setViewportSize({ width: 640, height: 360 })
    await page.getByText(text).first().waitFor()
    await expect.poll(() => page.evaluate<number>(CUT_OFF)).toBeLessThanOrEqual(0)
  })
})

describe('a list that is open while somebody makes the texts of their browser larger', () => {
  it('moves its rows apart', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('link', { name: 'good-mac' }).waitFor()
    const takeBack = await setLargeText(page)
    await expect.poll(() => page.evaluate<number>(ROW_DISTANCE)).toBe(76)
    await takeBack()
    await expect.poll(() => page.evaluate<number>(ROW_DISTANCE)).toBe(38)
  })
})

describe('an export', () => {
  it('saves what the search finds, in the order that is shown, and no formula', async () => {
    const page = await console.openPage('/devices?query=auth_state:Blocked')
    await expect.poll(() => rowsOf(page).count()).toBe(4)
    const lines = await exportLines(page)
    expect(lines[0]).toMatch(/^\uFEFF"id","name"/)
    const names = lines.slice(1).map((line) => /^"\d+","((?:[^"]|"")*)"/.exec(line)?.[1])
    expect(names).toEqual([
      `'=HYPERLINK(""https://evil.example.com"";""click"")`,
      `a;'=1+1`,
      `'＋2`,
      'quiet ""mac"", of Ada',
    ])
  })

  it('shows the words of the service when it is refused', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('link', { name: 'good-mac' }).waitFor()
    await page.route('**/exports/**', (route) =>
      route.fulfill({
        status: 429,
        json: { code: 'rate_limited', message: 'Too many files are being exported.' },
      }),
    )
    await page.getByRole('button', { name: 'Export as CSV' }).click()
    await page.getByText('Too many files are being exported.').waitFor()
  })
})

describe('a list', () => {
  it('says above its rows that it could not be read again, and not of its search', async () => {
    const page = await console.openPage('/groups')
    const add = async (name: string) => sendAs(page, 'POST', '/device_groups', { name })
    await add('Read before')
    await page.getByRole('link', { name: 'Read before' }).waitFor()
    const reads = '**/device_groups?*'
    await page.route(reads, (route) =>
      route.fulfill({ status: 409, json: { code: 'conflict', message: 'Not now.' } }),
    )
    await add('Read later')
    await page.getByText('This could not be read again and may be out of date: Not now.').waitFor()
    await page.getByRole('link', { name: 'Read before' }).waitFor()
    expect(await page.getByRole('search').getByText('Not now.').count()).toBe(0)
    await page.unroute(reads)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'Read later' }).waitFor()
  })
})

describe('a filter', () => {
  it('compares a time with others, as nobody picks its millisecond', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const dialog = page.getByRole('dialog')
    const options = dialog.getByRole('option')
    const compareBy = async (field: string) => {
      await dialog.getByRole('combobox', { name: 'Field' }).fill(field)
      await dialog.getByRole('option', { name: field, exact: true }).click()
      await dialog.getByRole('combobox', { name: 'Comparison' }).click()
    }
    await compareBy('auth_state')
    await expect.poll(() => options.allTextContents()).toEqual(['is'])
    await options.click()
    await compareBy('registered_at')
    await expect.poll(() => options.allTextContents()).toEqual(['is before', 'is after'])
    await expectFitting(page, 'filter')
  })
})

describe('a row', () => {
  it('says on pointing when exactly something was, opens by a click beside its links, and is walked by keys', async () => {
    const page = await console.openPage('/devices')
    const row = rowsOf(page).filter({ hasText: 'good-mac' })
    const time = row.locator('time').first()
    const exact = new Date((await time.getAttribute('datetime')) ?? '').getUTCFullYear()
    await time.hover()
    await page.getByRole('tooltip').getByText(String(exact)).waitFor()
    await page.keyboard.press('j')
    await rowsOf(page).first().and(page.locator(':focus')).waitFor()
    await rowsOf(page).first().getByRole('link').first().focus()
    await page.keyboard.press('ArrowDown')
    await rowsOf(page).nth(1).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('End')
    await row.and(page.locator(':focus')).waitFor()
    await row.getByRole('cell').nth(3).click()
    await page.getByRole('heading', { level: 1, name: 'good-mac' }).waitFor()
  })
})

describe('keys that are pressed one right after the other', () => {
  it('all count: the row that opens is the one that they lead to', async () => {
    const page = await console.openPage('/devices')
    const second = rowsOf(page).nth(1)
    const name = (await second.getByRole('link').first().textContent()) ?? ''
    await page.evaluate(`for (const key of ['j', 'j', 'Enter'])
      (document.activeElement ?? document.body).dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))`)
    await page.getByRole('heading', { level: 1, name }).waitFor()
  })
})

describe('the order', () => {
  it('is chosen with the columns, kept, and that of the export as well', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('link', { name: 'good-mac' }).waitFor()
    await page.getByRole('button', { name: 'Choose columns' }).click()
    await page.getByRole('menuitemradio', { name: 'Newest first' }).click()
    await expect.poll(() => rowsOf(page).first().textContent()).toContain('good-mac')
    await expectAccessible(page)
    await page.reload()
    await page.getByRole('link', { name: 'good-mac' }).waitFor()
    expect(await rowsOf(page).first().textContent()).toContain('good-mac')
    expect((await exportLines(page))[1]).toContain('good-mac')
  })
})

describe('a view', () => {
  it('is saved with its search, columns and order, opened from the palette, shared and deleted', async () => {
    const page = await console.openPage('/devices?query=auth_state:Blocked')
    await expect.poll(() => rowsOf(page).count()).toBe(4)
    await page.getByRole('button', { name: 'Choose columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Serial' }).click()
    await page.getByRole('menuitemradio', { name: 'Newest first' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save what is shown' }).click()
    const save = page.getByRole('dialog', { name: 'Save a view' })
    await save.getByLabel('Name').fill('Blocked <b>now</b>')
    await save.getByRole('switch', { name: 'Share with the organisation' }).click()
    await expectAccessible(page)
    await save.getByRole('button', { name: 'Save view' }).click()
    await page.getByRole('button', { name: 'View: Blocked <b>now</b>' }).waitFor()

    // Somebody else, who looks at another page, finds it in the palette at once.
    const other = await console.openPage('/checks', { access: 'limited' })
    await other.getByRole('heading', { level: 1, name: 'Checks' }).waitFor()
    await other.keyboard.press('Control+k')
    await other.getByLabel('Search or jump to …').fill('Blocked <b>')
    await other.getByRole('button', { name: /Blocked <b>now<\/b>/ }).click()
    await other.getByRole('button', { name: 'View: Blocked <b>now</b>' }).waitFor()
    await expect.poll(() => rowsOf(other).count()).toBe(4)
    expect(await rowsOf(other).first().textContent()).toContain('quiet "mac", of Ada')
    expect(await other.getByRole('columnheader', { name: 'Serial' }).count()).toBe(0)
    await other.getByRole('button', { name: 'View: Blocked <b>now</b>' }).click()
    await other.getByRole('menuitem', { name: 'Rename, share and delete' }).click()
    const button = other.getByRole('button', { name: 'Delete Blocked <b>now</b>' })
    expect(await button.isDisabled()).toBe(true)
    await other.keyboard.press('Escape')

    await page.getByRole('button', { name: 'View: Blocked <b>now</b>' }).click()
    await page.getByRole('menuitem', { name: 'Rename, share and delete' }).click()
    await page.getByRole('button', { name: 'Edit Blocked <b>now</b>' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Blocked today')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Blocked today').waitFor()
    await expectFitting(page, 'views')
    await other.getByRole('button', { name: 'View: Blocked today' }).waitFor()
    const remove = page.getByRole('button', { name: 'Delete Blocked today' })
    await remove.click()
    // Escape closes the question alone, and not the dialog below it.
    await page.getByRole('button', { name: 'Delete view' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Delete view' }).waitFor({ state: 'hidden' })
    await remove.click()
    await page.getByRole('button', { name: 'Delete view' }).click()
    await page.getByText('No view of this list is saved yet').first().waitFor()
    await other.getByRole('button', { name: 'Views', exact: true }).waitFor()
  })
})

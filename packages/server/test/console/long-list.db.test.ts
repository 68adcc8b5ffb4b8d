/* A list of many pages in a browser: it holds every row once, and moves without reading again what nobody sees. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { insertDevice } from '../support/factories.ts'
import { consoleForTests } from './support/open-console.ts'

const DEVICES = 650
const PER_PAGE = 100

const console = consoleForTests()
let ids: string[]

beforeAll(async () => {
  const { db } = console.api.services
  ids = []
  for (let number = 1; number <= DEVICES; number += 1) {
    ids.push(await insertDevice(db, { name: nameOf(number), auth_state: 'Good' }))
  }
})

const nameOf = (number: number) => `device-${String(number).padStart(4, '0')}`

/** What runs in the page, as texts: tests know no types of the browser. */
const ROWS = "document.querySelector('[data-testid=rows]')"
/** Every row that comes into view on the way down, by its place; goes on when what is on view has been drawn. */
const GO_THROUGH = `(async () => {
  const rows = ${ROWS}
  const names = new Map()
  for (;;) {
    await new Promise((resolve) => requestAnimationFrame(resolve))
    const drawn = [...rows.querySelectorAll('[data-index]')]
    for (const row of drawn) names.set(Number(row.dataset.index), row.querySelector('a')?.textContent ?? '')
    const lowest = Math.max(...drawn.map((row) => row.getBoundingClientRect().bottom))
    const { bottom } = rows.getBoundingClientRect()
    const isAtEnd = rows.scrollTop + rows.clientHeight >= rows.scrollHeight - 1
    if (isAtEnd && document.body.innerText.includes('${DEVICES} rows')) return [...names]
    if (!isAtEnd && lowest >= bottom) rows.scrollTop += rows.clientHeight / 2
  }
})()`
const setHidden = (isHidden: boolean) => `
  Object.defineProperty(document, 'hidden', { value: ${String(isHidden)}, configurable: true })
  document.dispatchEvent(new Event('visibilitychange'))`

/** Every row, in the order of their places. */
async function scrollThrough(page: Page): Promise<string[]> {
  const names = await page.evaluate<[number, string][]>(GO_THROUGH)
  return names.sort(([a], [b]) => a - b).map(([, name]) => name)
}

/** The requests for pages of the list, from now on. */
function countReads(page: Page): () => number {
  let count = 0
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/devices') count += 1
  })
  return () => count
}

const change = (id: string, name: string) =>
  console.api.services.runChange({ actor: SYSTEM_ACTOR }, async (own) => {
    await own.tx.updateTable('device').set({ name }).where('id', '=', id).execute()
    own.markChanged(`devices:${id}`)
  })

it('holds every row once, and follows changes where somebody looks', async () => {
  const page = await console.openPage('/devices')
  await page.getByRole('link', { name: nameOf(1), exact: true }).waitFor()
  const read = countReads(page)
  expect(await scrollThrough(page)).toEqual(ids.map((_, index) => nameOf(index + 1)))
  expect(read()).toBeLessThan(Math.ceil(DEVICES / PER_PAGE))

  const before = read()
  await change(ids[DEVICES - 2] ?? '', 'renamed at the end')
  await page.getByRole('link', { name: 'renamed at the end' }).waitFor()
  await change(ids[0] ?? '', 'renamed at the beginning')
  await sleep(4_000)
  // The one or two pages on view are read after each of the two; the other five are not.
  expect(read() - before).toBeLessThanOrEqual(4)

  await page.evaluate(`${ROWS}.scrollTo(0, 0)`)
  await page.getByRole('link', { name: 'renamed at the beginning' }).waitFor()
})

it('asks rarely for what changes without end, and not at all while nobody sees it', async () => {
  const page = await console.openPage('/devices')
  await page.getByRole('link', { name: 'device-0002', exact: true }).waitFor()
  const read = countReads(page)
  const beganAt = performance.now()
  for (let changes = 0; changes < 80; changes += 1) {
    await change(ids[1] ?? '', nameOf(2))
    await sleep(50)
  }
  await expect.poll(read).toBeGreaterThan(0)
  expect(read()).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - beganAt) / 3_000))

  await change(ids[1] ?? '', 'renamed before')
  await page.getByRole('link', { name: 'renamed before' }).waitFor()
  await page.evaluate(setHidden(true))
  // What is read of the changes before may come late on a busy machine.
  let before: number
  do {
    before = read()
    await sleep(3_500)
  } while (read() > before)
  await change(ids[1] ?? '', 'renamed unseen')
  await sleep(3_500)
  expect(read()).toBe(before)
  await page.evaluate(setHidden(false))
  await page.getByRole('link', { name: 'renamed unseen' }).waitFor()
})

it('begins at its beginning when another search is asked for', async () => {
  const page = await console.openPage('/devices')
  await page.getByRole('link', { name: 'device-0003', exact: true }).waitFor()
  await page.evaluate(`${ROWS}.scrollTo(0, 3000)`)
  await page.getByRole('link', { name: nameOf(85), exact: true }).waitFor()
  await page.getByLabel('Search', { exact: true }).fill('name~"device"')
  await page.getByRole('link', { name: nameOf(3), exact: true }).waitFor()
  expect(await page.evaluate(`${ROWS}.scrollTop`)).toBe(0)
})

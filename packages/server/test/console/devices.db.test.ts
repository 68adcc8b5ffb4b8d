/* The pages of devices in a browser: the list and its search, the page of a device, and what is done there. */
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { recordLiveAnswers } from '../../src/posture/live-queries/record-live-answers.ts'
import {
  insertAuthLogSession,
  insertCheck,
  insertDevice,
  insertIssue,
  insertPerson,
} from '../support/factories.ts'
import {
  expectAccessible,
  expectFitting,
  openConsole,
  type ConsoleTest,
} from './support/open-console.ts'

let console: ConsoleTest
let mac: string

beforeAll(async () => {
  console = await openConsole()
  const { db } = console.api.services
  const owner = await insertPerson(db, { name: 'Ada Lovelace', email: 'ada@example.com' })
  const registered = { owner_person_id: owner, registered_at: new Date('2026-01-10T00:00:00Z') }
  mac = await insertDevice(db, {
    ...registered,
    name: 'ada-macbook',
    auth_state: 'Blocked',
    operating_system: 'macOS 26.1',
    serial: 'C02ALPHA',
    note: '<img src=x onerror=alert(1)>',
  })
  await insertDevice(db, {
    name: 'bo-laptop',
    platform: 'linux',
    auth_state: 'Good',
    ...registered,
  })
  const checkId = await insertCheck(db)
  await insertIssue(db, {
    check_id: checkId,
    device_id: mac,
    blocks_device_at: new Date('2026-01-03T00:00:00Z'),
  })
  await insertAuthLogSession(db, { device_id: mac, result: 'Fail' })
})
afterEach(() => expect(console.complaints).toEqual([]))
afterAll(() => console.close())

const rowsOf = (page: Page) => page.getByRole('rowgroup').getByRole('row')

describe('the list of devices', () => {
  it('is narrowed by a click and by what is typed, and the address keeps it', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('link', { name: 'bo-laptop' }).waitFor()
    await page.getByRole('button', { name: 'Blocked' }).click()
    await page.waitForURL(/query=/)
    await expect.poll(() => rowsOf(page).count()).toBe(1)
    expect(await rowsOf(page).first().textContent()).toContain('Ada Lovelace')
    await page
      .getByLabel('Search', { exact: true })
      .fill('owner~lovelace AND operating_system~macos')
    await expect.poll(() => new URL(page.url()).searchParams.get('query')).toContain('owner')
    await page.reload()
    await page.getByRole('link', { name: 'ada-macbook' }).waitFor()
    expect(await rowsOf(page).count()).toBe(1)
  })

  it('shows the words of the service for a search that it does not understand', async () => {
    const page = await console.openPage('/devices?query=colour:red')
    await page
      .getByText(/colour/)
      .first()
      .waitFor()
  })

  it('opens a device by the keyboard', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('link', { name: 'ada-macbook' }).waitFor()
    await rowsOf(page).first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'ada-macbook' }).waitFor()
  })
})

describe('the page of a device', () => {
  it('says why in a sentence, and shows issues, what led there and texts as they are', async () => {
    const page = await console.openPage(`/devices/${mac}`)
    await page.getByText('Sign-ins are stopped by: The firewall is off.').waitFor()
    await page.getByText('Began to fail: The firewall is off').waitFor()
    await page.getByText('The sign-in of Ada Lovelace was stopped').waitFor()
    await page.getByText('<img src=x onerror=alert(1)>').waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'device')
  })

  it('lists the sign-ins with the device', async () => {
    const page = await console.openPage(`/devices/${mac}?tab=sign-ins`)
    await page.getByRole('cell', { name: 'Stopped' }).waitFor()
  })

  it('says that a device which does not exist is not there', async () => {
    const page = await console.openPage('/devices/999999')
    await page
      .getByRole('alert')
      .getByText(/999999/)
      .waitFor()
  })
})

describe('asking a device', () => {
  it('shows its rows when it has answered, and asks the same question again', async () => {
    const page = await console.openPage(`/devices/${mac}?tab=ask`)
    await page.getByRole('textbox', { name: /SQL/ }).waitFor()
    const ask = page.getByRole('button', { name: /^Ask ?⌘/ })
    await ask.click()
    await page.getByText('Asked; waiting for the device …').waitFor()
    const id = await answer(1, [{ days: '41', hours: '2' }])
    await page.getByRole('cell', { name: '41' }).waitFor()
    await ask.click()
    await page.getByText('Asked; waiting for the device …').waitFor()
    expect(await answer(2, [{ days: '42', hours: '2' }])).toBe(id)
    await page.getByRole('cell', { name: '42' }).waitFor()
    await expectAccessible(page)
  })

  it('shows what is wrong with the SQL beside it', async () => {
    const page = await console.openPage(`/devices/${mac}?tab=ask&sql=delete%20from%20users`)
    await page.getByRole('textbox', { name: /SQL/ }).waitFor()
    await page.getByRole('button', { name: /^Ask ?⌘/ }).click()
    await page.getByText(/must be a SELECT/).waitFor()
  })
})

/** Answers the only campaign as the agent of the device would. */
async function answer(revision: number, rows: readonly Record<string, string>[]): Promise<string> {
  const { db, runChange } = console.api.services
  const { id } = await db
    .selectFrom('live_query_campaign')
    .select('id')
    .where('revision', '=', revision)
    .executeTakeFirstOrThrow()
  await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    recordLiveAnswers(change, { forget: () => undefined }, mac, [
      { id: `live:${id}:${revision}`, rows, statusCode: 0, message: '' },
    ]),
  )
  return id
}

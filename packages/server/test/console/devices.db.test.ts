/* The pages of devices in a browser: the list and its search, the page of a device, and what is done there. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { recordLiveAnswers } from '../../src/posture/live-queries/record-live-answers.ts'
import { recordCheckResults } from '../../src/posture/checks/record-check-results.ts'
import {
  insertAuthLogSession,
  insertDevice,
  insertPerson,
  insertPersonGroup,
} from '../support/factories.ts'
import { createPosture, FAIL } from '../support/posture-fixtures.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'
import { sendAs } from './support/send-as.ts'

/** What a device, a person and an admin can write is shown, and never done. */
const HOSTILE = '<img src=x onerror=alert(1)>'

const console = consoleForTests()
let mac: string
let checkId: string

beforeAll(async () => {
  const { db } = console.api.services
  const owner = await insertPerson(db, { name: 'Ada Lovelace', email: 'ada@example.com' })
  const registered = { owner_person_id: owner, registered_at: new Date('2026-01-10T00:00:00Z') }
  // Those that ship with the service would leave the device without an answer.
  await db.updateTable('posture_check').set({ paused_at: new Date() }).execute()
  const posture = createPosture(db, new Date().toISOString())
  checkId = await posture.insertCheck({
    name: 'Firewall',
    issue_title: `The firewall is off ${HOSTILE}`,
    platforms: ['darwin'],
  })
  mac = await posture.insertDevice({
    ...registered,
    name: 'ada-macbook',
    node_key_hash: Buffer.alloc(32, 1),
    operating_system: 'macOS 26.1',
    serial: 'C02ALPHA',
    note: `Spare **laptop** ${HOSTILE} [here](javascript:alert(1))`,
  })
  await posture.report(mac, { [checkId]: FAIL.map((row) => ({ ...row, firewall: HOSTILE })) })
  await insertDevice(db, {
    name: 'bo-laptop',
    platform: 'linux',
    auth_state: 'Good',
    ...registered,
  })
  await insertAuthLogSession(db, { device_id: mac, result: 'Fail', app_name: HOSTILE })
})

const rowsOf = (page: Page) => page.getByRole('rowgroup').getByRole('row')

describe('the list of devices', () => {
  it('is narrowed by a click and by what is typed, and the address keeps it', async () => {
    const page = await console.walkTo('/devices')
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
    const page = await console.walkTo('/devices?query=colour:red')
    await page
      .getByText(/colour/)
      .first()
      .waitFor()
  })

  it('opens a device by the keyboard', async () => {
    const page = await console.walkTo('/devices')
    await page.getByRole('link', { name: 'ada-macbook' }).waitFor()
    await rowsOf(page).first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'ada-macbook' }).waitFor()
  })
})

describe('the page of a device', () => {
  it('says why in a sentence, what would change it, what led there, and texts as they are', async () => {
    const page = await console.walkTo(`/devices/${mac}`)
    await page.getByText(`Blocked: "The firewall is off ${HOSTILE}" blocks the device.`).waitFor()
    await page.getByRole('cell', { name: 'Decides the state' }).waitFor()
    await page.getByText('What would change the state').waitFor()
    await page.getByRole('link', { name: `The issue "The firewall is off ${HOSTILE}"` }).waitFor()
    await page.getByRole('link', { name: `A sign-in to ${HOSTILE} was stopped.` }).waitFor()
    const note = page.getByRole('region', { name: 'Note' })
    await note.getByText('laptop', { exact: true }).waitFor()
    expect(await note.getByRole('link').count()).toBe(0)
    expect(await page.locator('img[src=x]').count()).toBe(0)
    await page.getByRole('region', { name: 'Last heard of' }).getByText('In contact').waitFor()
  })

  it('keeps its open tab in sight where there comes to be no room for all of them', async () => {
    const page = await console.walkTo(`/devices/${mac}?tab=ask`)
    const tabs = page.getByRole('tablist', { name: 'Parts of ada-macbook' })
    const open = tabs.getByRole('tab', { name: 'Ask now', selected: true })
    await open.waitFor()
    await page.setViewportSize({ width: 260, height: 844 })
    const reachesTo = async () => {
      const { x = 0, width = Infinity } = (await open.boundingBox()) ?? {}
      return x + width
    }
    await expect.poll(reachesTo).toBeLessThanOrEqual(260)
  })

  it('keeps a note that is written with a preview', async () => {
    const page = await console.openPage(`/devices/${mac}`)
    await page.getByRole('button', { name: 'Edit the note' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Note' }).fill('# Repair\n\n- **screen**, by the ⓘ')
    await dialog.getByText('Preview').click()
    await dialog.getByRole('listitem').getByText('screen').waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('region', { name: 'Note' }).getByRole('listitem').waitFor()
    await page.getByRole('img', { name: 'info button' }).waitFor()
    await expectFitting(page, 'device-note')
    const saved = console.api.services.db.selectFrom('device').select('note').where('id', '=', mac)
    expect(await saved.executeTakeFirst()).toEqual({ note: '# Repair\n\n- **screen**, by the ⓘ' })
  })

  it('keeps the name of a check off its state, however long it is', async () => {
    const posture = createPosture(console.api.services.db, new Date().toISOString())
    const name = 'Profile_of_the_security_agent_extension_of_a_vendor'
    const check = await posture.insertCheck({ name, issue_title: 'Missing', platforms: ['darwin'] })
    const id = await posture.insertDevice({ name: 'cy-macbook' })
    await posture.report(id, { [check]: FAIL })
    const page = await console.openPage(`/devices/${id}?tab=checks`)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByText(name, { exact: true }).first().waitFor()
    const overhang = `[...document.querySelectorAll('[aria-expanded] > span')]
      .filter(({ textContent }) => textContent === '${name}')
      .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)`
    await expect.poll(() => page.evaluate(overhang)).toEqual([0])
  })

  it('shows the rows that failed, and runs a check again', async () => {
    const page = await console.openPage(`/devices/${mac}?tab=checks`)
    await page.getByRole('cell', { name: HOSTILE, exact: true }).waitFor()
    await page.getByRole('button', { name: 'Run again' }).first().click()
    await page.getByText('The device runs it at its next contact.').waitFor()
  })

  it('lists the sign-ins with the device', async () => {
    const page = await console.walkTo(`/devices/${mac}?tab=sign-ins`)
    await page.getByRole('cell', { name: 'Stopped' }).waitFor()
  })

  it('says that a device which does not exist is not there', async () => {
    const page = await console.walkTo('/devices/999999')
    await page.getByText('There is nothing here').waitFor()
  })
})

describe('asking a device', () => {
  it('shows its rows when it has answered, and asks the same question again', async () => {
    const page = await console.openPage(`/devices/${mac}?tab=ask`)
    await page.getByRole('textbox', { name: /SQL/ }).waitFor()
    const ask = page.getByRole('button', { name: /^Ask ?Ctrl/ })
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
    await page.getByRole('button', { name: /^Ask ?Ctrl/ }).click()
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
    recordLiveAnswers(change, { forget: () => undefined }, [
      {
        deviceId: mac,
        results: [{ id: `live:${id}:${revision}`, rows, statusCode: 0, message: '' }],
      },
    ]),
  )
  return id
}

describe('a page that is open', () => {
  it('moves by itself when the device answers a check otherwise', async () => {
    const page = await console.openPage(`/devices/${mac}`)
    await page.getByRole('img', { name: /Live/ }).waitFor()
    await page.getByText(/^Blocked: /).waitFor()
    const { runChange } = console.api.services
    const rows = [{ KOLIDE_CHECK_STATUS: 'PASS' }]
    const result = { checkId, revision: 1, rows, statusCode: 0, message: '' }
    await runChange({ actor: SYSTEM_ACTOR }, (change) =>
      recordCheckResults(change, { deviceId: mac, results: [result] }),
    )
    await page.getByText(/^Good: no open issue counts/).waitFor()
    await page.getByText(/^The issue .* was resolved/).waitFor()
  })
})

describe('what is done to a device', () => {
  it('names the groups that may sign in before it has read which there are', async () => {
    const { db, clock } = console.api.services
    const group = await insertPersonGroup(db, { name: 'Night shift' })
    const device = await insertDevice(db, { registered_at: clock.now() })
    const page = await console.openPage(`/devices/${device}`)
    await sendAs(page, 'PATCH', `/devices/${device}/authentication_mode`, {
      authentication_mode: 'only_registered_owner_or_group_members',
      person_group_ids: [group],
    })
    await page.getByRole('definition').filter({ hasText: 'Night shift' }).waitFor()
    await page.route('**/person_groups*', () => undefined)
    await page.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Who may sign in' }).click()
    await page.getByRole('dialog').getByText('Night shift', { exact: true }).waitFor()
  })

  it('says who may sign in', async () => {
    const page = await console.openPage(`/devices/${mac}`)
    await page.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Who may sign in' }).click()
    await page.getByRole('radio', { name: 'Anybody' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Who may sign in has changed.').waitFor()
    await page.getByRole('definition').filter({ hasText: 'Anybody' }).waitFor()
  })

  it('is deleted after a question, and kept again', async () => {
    const page = await console.openPage(`/devices/${mac}`)
    await page.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete ada-macbook?' }).waitFor()
    await page.getByRole('button', { name: 'Delete device' }).click()
    await page.getByText(/It will be deleted/).waitFor()
    await page.getByRole('button', { name: 'Keep' }).click()
    await page.getByText('The device is kept.').waitFor()
  })

  it('ends its registration', async () => {
    const page = await console.openPage(`/devices/${mac}`)
    await page.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'End registration' }).click()
    await page.getByRole('button', { name: 'End registration' }).click()
    await page.getByText('The registration has ended.').waitFor()
    await page.getByRole('definition').filter({ hasText: 'Nobody' }).waitFor()
  })

  it('is not offered to those who may not', async () => {
    const page = await console.openPage(`/devices/${mac}`, {
      access: 'limited',
      restrictions: ['devices'],
    })
    await page.getByRole('button', { name: 'Actions' }).click()
    expect(await page.getByRole('menuitem', { name: 'Delete' }).isDisabled()).toBe(true)
  })
})

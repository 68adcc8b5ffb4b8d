/* Live queries in a browser: written, asked, watched, stopped, asked anew, exported, deleted. */
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { recordLiveAnswers } from '../../src/posture/live-queries/record-live-answers.ts'
import { insertDevice } from '../support/factories.ts'
import { consoleForTests } from './support/open-console.ts'

const console = consoleForTests()
let mac: string
let linux: string

beforeAll(async () => {
  const { db } = console.api.services
  mac = await insertDevice(db, { name: 'ada-macbook', platform: 'darwin' })
  linux = await insertDevice(db, { name: 'bo-laptop', platform: 'linux' })
})

/** Answers a campaign as the agent of a device would. */
async function answer(
  deviceId: string,
  query: string,
  given: { rows?: readonly Record<string, string>[]; statusCode?: number; message?: string },
): Promise<void> {
  const { runChange } = console.api.services
  await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    recordLiveAnswers(change, { forget: () => undefined }, [
      {
        deviceId: deviceId,
        results: [{ id: `live:${query}`, rows: [], statusCode: 0, message: '', ...given }],
      },
    ]),
  )
}

/** How long a choice may take to be there once more. */
const CHOICE_MAX_MS = 1_000

describe('live queries', () => {
  it('are written with completion and warnings, asked, and answered before the reader’s eyes', async () => {
    const page = await console.openPage('/live-queries')
    await page.getByText('No live query').waitFor()
    const list = page.getByRole('region', { name: 'Live queries' })
    await list.getByRole('button', { name: 'New query' }).click()
    await page.getByLabel('Name').fill('Hosts')
    await page.getByRole('textbox', { name: 'SQL' }).click()
    await page.keyboard.type('select address, hostnames from etc_ho')
    // The editor takes no choice while it still looks for others to what was typed last: it is made again then.
    const choice = page.getByRole('option', { name: /etc_hosts/ })
    const chosen = page.getByRole('textbox', { name: 'SQL' }).getByText('etc_hosts')
    await choice.waitFor()
    await expect
      .poll(async () => {
        await choice.click({ timeout: CHOICE_MAX_MS }).catch(() => undefined)
        return chosen.count()
      })
      .toBe(1)
    await page.getByText(/It has no WHERE and no LIMIT/).waitFor()
    await page.getByText('About 2 devices will be asked.').waitFor()
    await page.getByRole('button', { name: 'Ask now' }).click()
    await page.getByText('0 of 2 devices have answered.').waitFor()
    const id = /live-queries\/(\d+)/.exec(page.url())?.[1] ?? ''
    await answer(mac, `${id}:1`, { rows: [{ address: '=1+1', hostnames: 'localhost' }] })
    await page.getByRole('cell', { name: 'localhost' }).waitFor()
    await page.getByText('1 of 2 devices have answered.').waitFor()
    await answer(linux, `${id}:1`, { statusCode: 1, message: 'distributed query is denylisted' })
    await page.getByText('2 of 2 devices have answered.').waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const csv = await readFile(await (await downloading).path(), 'utf8')
    expect(csv.split('\r\n')).toEqual([
      '\uFEFF"device","device_id","address","hostnames"',
      `"ada-macbook","${mac}","'=1+1","localhost"`,
      '',
    ])
    await page.getByRole('tab', { name: 'Devices' }).click()
    await page.getByRole('cell', { name: 'Denylisted', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Answered' }).click()
    await page.waitForURL(/state=successful/)
    await expect
      .poll(() => page.getByRole('cell', { name: 'Denylisted', exact: true }).count())
      .toBe(0)
  })

  it('are stopped, asked anew and deleted', async () => {
    const page = await console.openPage('/live-queries')
    await page.getByRole('link', { name: 'Hosts' }).click()
    await page.getByText('2 of 2 devices have answered.').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped: 2 of 2 devices had answered.').waitFor()
    await page.getByRole('button', { name: 'Ask anew' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Ask anew' }).click()
    await page.getByText('0 of 2 devices have answered.').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete query' }).click()
    await page.getByText('No live query').waitFor()
  })

  it('are kept as drafts, and changed', async () => {
    const page = await console.openPage('/live-queries/new')
    await page.getByLabel('Name').fill('Draft of mine')
    await page.getByRole('textbox', { name: 'SQL' }).click()
    await page.keyboard.type('select 1')
    await page.getByText('By platform').click()
    await page.getByLabel('Macs').check()
    await page.getByText('About 1 device will be asked.').waitFor()
    await page.getByRole('button', { name: 'Keep as draft' }).click()
    await page.getByText('Nobody has been asked yet.').waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Name').fill('Renamed')
    await page.getByRole('button', { name: 'Keep as draft' }).click()
    await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor()
  })

  it('show what is wrong with them where it is', async () => {
    const page = await console.openPage('/live-queries/new')
    await page.getByLabel('Name').fill('Wrong')
    await page.getByRole('textbox', { name: 'SQL' }).click()
    await page.keyboard.type('drop table users')
    await page.getByRole('button', { name: 'Ask now' }).click()
    await page.getByText(/must be a SELECT/).waitFor()
  })
})

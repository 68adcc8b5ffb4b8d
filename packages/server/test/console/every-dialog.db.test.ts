/* Every dialog of the console in a window as narrow as one of 1,280 px is at 400 %: nothing of it is out of reach. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { makeEveryPage, type EveryPage, type PageName } from './support/every-page.ts'
import { consoleForTests, expectFitting } from './support/open-console.ts'
import { walkTo } from './support/walk-to.ts'

const console = consoleForTests({ HELIOGRAPH_LOG_LEVEL: 'error' })
let pages: EveryPage
let page: Page

beforeAll(async () => {
  pages = await makeEveryPage(console.api)
  page = await (await console.newContext()).newPage()
  await page.goto('/console/settings')
})
afterAll(async () => {
  await pages.close()
})

/** What is pressed on a page, one after the other, until a dialog is open. */
const DIALOGS: readonly (readonly [PageName, RegExp, RegExp?])[] = [
  ['devices', /^Filter$/],
  ['devices', /^Views$/, /^Save what is shown/],
  ['device', /^Actions$/, /^Who may sign in/],
  ['device', /^Actions$/, /^End registration/],
  ['device', /^Actions$/, /^Delete/],
  ['device', /^Edit the note$/],
  ['device-sign-ins', /^Forget Firefox/],
  ['person', /^Forget the account/],
  ['groups', /^New group$/],
  ['group', /^Delete$/],
  ['group', /^Edit$/],
  ['group', /^Add devices$/],
  ['group', /^Remove/],
  ['live-query', /^Delete$/],
  ['live-query', /^Ask anew$/],
  ['live-query-edit', /^Stop asking/],
  ['report', /^Delete$/],
  ['drafts', /^New draft$/],
  ['streams', /^Actions for/, /^Send test event$/],
  ['stream', /^Actions for/, /^Switch off$/],
  ['stream', /^Actions for/, /^Delete$/],
  ['stream-subjects', /^Add subject$/],
  ['stream-subjects', /^Remove subject$/],
  ['stream-subjects', /^Add .* to the stream|^Add a device$/],
  ['webhooks', /^Actions for/, /^Switch off$/],
  ['webhook', /^Actions for/, /^Delete$/],
  ['delivery-stream', /^More actions$/, /^Send all dead ones again$/],
  ['delivery-stream', /^More actions$/, /^Replay from here$/],
  ['delivery-stream', /^More actions$/, /^Pause the stream$/],
  ['delivery-webhook', /^More actions$/, /^Switch the webhook off$/],
  ['ssf-client', /^Revoke client$/],
  ['ssf-client', /^Rotate secret$/],
  ['keys', /^Rotate key$/],
  ['keys', /^Revoke key/],
  ['admins', /^Invite admin$/],
  ['admin', /^Change access$/],
  ['admin', /^Actions of/, /^New sign-in link$/],
  ['admin', /^Actions of/, /^Deactivate$/],
  ['admin', /^Actions of/, /^Remove$/],
  ['enrollment', /^Create secret$/],
  ['enrollment', /^End$/],
  ['developers-keys', /^Create New Key$/],
  ['api-key', /^Change$/],
  ['api-key', /^Rotate$/],
  ['api-key', /^Revoke$/],
  ['api-key', /^Reveal/],
  ['account', /^Set up$/],
]

describe('every dialog', () => {
  it.each(
    DIALOGS.map(([on, button, item]) => ({
      on,
      button,
      item,
      name: [on, button.source, item?.source ?? ''].join(' ').replaceAll(/[^a-zA-Z -]/g, ''),
    })),
  )('$name', async ({ on, button, item, name }) => {
    await page.setViewportSize({ width: 320, height: 720 })
    await walkTo(page, pages.toPath(on))
    await page.getByRole('main').getByRole('button', { name: button }).first().click()
    if (item !== undefined) await page.getByRole('menuitem', { name: item }).click()
    await page.getByRole('dialog').waitFor()
    await expectFitting(page, name)
  })

  it('keeps its cross and its words in sight with a name that has no spaces', async () => {
    const admin = await console.otherAdmin()
    const { id } = await admin.send<{ id: string }>('POST', '/ssf_streams', {
      name: 'A'.repeat(190),
      delivery: { method: 'urn:ietf:rfc:8936' },
    })
    await page.setViewportSize({ width: 320, height: 720 })
    await walkTo(page, `/signals/streams/${id}`)
    await page.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').waitFor()
    await expectFitting(page, 'long name')
  })
})

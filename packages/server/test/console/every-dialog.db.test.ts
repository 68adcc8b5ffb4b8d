/*
 * The dialogs of the console in a window as small as one of 1,280 by 1,024 px is at 400 %: nothing of them is out of
 * reach, nor where the browser is set to texts twice as large. Left out are those for which the world has no record, or
 * only with more steps: of the sign-in with devices (applications, upstream providers, sessions), of the provider of
 * identities and the switches of the organisation, the strategy of a check, an exemption that is asked for, the
 * publication of a draft, the status of a stream, poll tokens, views that are managed, the own password, work that is
 * not saved, and a session that has ended.
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { makeEveryPage, type EveryPage, type PageName } from './support/every-page.ts'
import { expectLargeText, setLargeText } from '../support/large-text.ts'
import {
  consoleForTests,
  expectFitting,
  expectWithinReach,
  LAPTOP,
} from './support/open-console.ts'
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

const LOW = { width: 320, height: 256 }

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
  ['webhook-secret', /^Rotate secret$/],
  ['stream-replay', /^Backfill stream$/],
  ['draft', /^Delete draft$/],
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
    await page.setViewportSize(LOW)
    await expectWithinReach(page, `${name} in a low window`)
    const setUsualText = await setLargeText(page)
    await expectFitting(page, `${name} in large text`, { viewports: [LAPTOP] })
    await expectLargeText(page, name)
    await setUsualText()
  })

  it('of a request, with the decision', async () => {
    await page.setViewportSize({ width: 320, height: 720 })
    await walkTo(page, pages.toPath('request'))
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await expectFitting(page, 'request')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('dialog', { name: /^Approve/ }).waitFor()
    await expectFitting(page, 'request decision')
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

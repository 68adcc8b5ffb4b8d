import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startLoopbackReceiver, type LoopbackReceiver } from '../support/loopback-receiver.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests()
let receiver: LoopbackReceiver
beforeAll(async () => {
  receiver = await startLoopbackReceiver()
})
afterAll(async () => {
  await receiver.close()
})

/** Creates a webhook by its form, and ends on its page. */
async function createWebhook(name: string): Promise<Page> {
  const page = await console.openPage('/settings/developers/webhooks')
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('URL').fill(`${receiver.url}/hooks`)
  await page.getByLabel('issues.new').check()
  await page.getByRole('button', { name: 'Create webhook' }).click()
  const issued = page.getByRole('dialog', { name: `The secret of ${name}` })
  await issued.getByText('It can be revealed again').waitFor()
  expect(await issued.getByText('It is shown this once').count()).toBe(0)
  await issued.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  return page
}

async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name, exact: true }).click()
}

describe('the webhooks of the console', () => {
  it('creates one, tests it, and checks a signature that the receiver got', async () => {
    const page = await createWebhook('Tickets')
    await page.getByRole('button', { name: 'Send test event' }).click()
    await page.getByText(/The receiver accepted the test event with 202/).waitFor()
    const received = receiver.requests.at(-1)
    expect(received?.path).toBe('/hooks')

    await openTab(page, 'Signature helper')
    const { headers = {}, body = '' } = received ?? {}
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
    await page.getByLabel('Headers, as received').fill(lines.join('\n'))
    const pasted = page.getByLabel('Body, exactly as received')
    await pasted.fill(body)
    await page.getByRole('button', { name: 'Check signature' }).click()
    await page.getByText('The signature fits', { exact: true }).waitFor()
    await expectAccessible(page)
    await pasted.fill(`${body} `)
    await page.getByRole('button', { name: 'Check signature' }).click()
    await page.getByText('The signature does not fit').waitFor()
    await page.getByText('Failed', { exact: true }).waitFor()
    await expectFitting(page, 'webhook-signature')

    await page.setViewportSize({ width: 1440, height: 900 })
    await openTab(page, 'Overview')
    await openTab(page, 'Signature helper')
    await page.setViewportSize({ width: 390, height: 844 })
    const open = page.getByRole('tab', { name: 'Signature helper' })
    const reachesTo = async () => {
      const { x = 0, width = Infinity } = (await open.boundingBox()) ?? {}
      return x + width
    }
    await expect.poll(reachesTo).toBeLessThanOrEqual(390)

    await openTab(page, 'Secret')
    const secret = page.getByRole('group', { name: 'Signing secret' })
    await secret.getByRole('button', { name: 'Reveal Signing secret' }).click()
    await secret.getByText(/^whsec_/).waitFor()

    await openTab(page, 'Deliveries')
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByText('The receiver has accepted it.').waitFor()
  })

  it('rotates the secret, recovers, switches off and on, edits and deletes', async () => {
    const page = await createWebhook('Chat')
    await openTab(page, 'Secret')
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByText('Deliveries are signed with the old secret as well until').waitFor()

    await openTab(page, 'Recover')
    await page.getByLabel('Since').fill('2026-01-02T03:04')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('There is nothing to recover in this time.').waitFor()

    const act = async (action: string) => {
      await page.getByRole('button', { name: 'Actions for Chat' }).click()
      await page.getByRole('menuitem', { name: action, exact: true }).click()
    }
    await act('Switch off')
    await page.getByRole('button', { name: 'Switch webhook off' }).click()
    await page.getByText('An admin switched it off').waitFor()
    await act('Switch on')
    await page.getByText('Nothing has been sent yet, tests aside.').waitFor()
    await act('Edit')
    await page.getByLabel('Description').fill('of the help desk')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('of the help desk').waitFor()
    await act('Delete')
    await page.getByLabel('Type Chat to confirm').fill('Chat')
    await page.getByRole('button', { name: 'Delete webhook' }).click()
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
  })

  it('says of one that is open since when its receiver accepts nothing, as soon as that is so', async () => {
    const made = await createWebhook('Chat')
    const address = made.url()
    const page = await made.context().newPage()
    await page.clock.install()
    await page.goto(address)
    await page.getByText('Nothing has been sent yet').waitFor()
    const { db } = console.api.services
    const ofChat = db.selectFrom('webhook').select('destination_id').where('name', '=', 'Chat')
    await db
      .updateTable('delivery_destination')
      .set({ failing_since: new Date('2026-01-02T03:04:05Z'), consecutive_failures: 1 })
      .where('id', '=', ofChat)
      .execute()
    await page.clock.fastForward(20_000)
    await page.getByText(/^Nothing has been accepted since Jan 2, 2026/).waitFor()
    await expectFitting(page, 'webhook-failing')
  })
})

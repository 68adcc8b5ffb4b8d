import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { insertDevice, insertPerson } from '../support/factories.ts'
import {
  answerWith,
  startLoopbackReceiver,
  type LoopbackReceiver,
} from '../support/loopback-receiver.ts'
import { queueEvents } from '../support/queue-events.ts'
import { getStream, parseStreamReference } from '../../src/signals/streams/stream-store.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'
import { walkTo } from './support/walk-to.ts'

const console = consoleForTests()
let receiver: LoopbackReceiver
beforeAll(async () => {
  receiver = await startLoopbackReceiver()
})
afterEach(() => {
  receiver.respond(answerWith(202))
})
afterAll(async () => {
  await receiver.close()
})

/** Creates a stream by its form and ends on its page. */
async function createPushStream(name: string): Promise<Page> {
  const page = await console.openPage('/signals/streams')
  await page.getByRole('button', { name: 'Create stream' }).first().click()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('URL').fill(`${receiver.url}/events`)
  await page.getByRole('button', { name: 'Create stream' }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  return page
}

async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name, exact: true }).click()
}

/** Chooses from the menu of actions of the page. */
async function act(page: Page, stream: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${stream}` }).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

describe('the streams of the console', () => {
  it('creates a push stream under the names of the interface, and tests it', async () => {
    const page = await createPushStream('Gateway')
    const settings = page.getByRole('region', { name: 'Settings' })
    for (const text of ['Delivery Type', 'Push', 'Spec Version', 'v1.0']) {
      await settings.getByText(text, { exact: true }).waitFor()
    }
    await settings.getByText('device_trust.status_changed').waitFor()
    await page.getByRole('button', { name: 'Send test event' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Send test event' }).click()
    await dialog.getByText('The receiver accepted the event with 202.').waitFor()
    expect(receiver.requests.at(-1)?.path).toBe('/events')
    receiver.respond(answerWith(500))
    await dialog.getByRole('button', { name: 'Send test event' }).click()
    await dialog.getByText('The receiver answered 500.').waitFor()
  })

  it('says beside the input what is wrong with it', async () => {
    const page = await console.openPage('/signals/streams/new')
    await page.getByLabel('Name').fill('Inside')
    await page.getByLabel('URL').fill('https://10.0.0.1/events')
    await page.getByRole('button', { name: 'Create stream' }).click()
    await page.locator('input[aria-invalid=true]').waitFor()
    expect(await page.getByLabel('URL').getAttribute('aria-invalid')).toBe('true')
  })

  it('says which secret another host needs, and takes it with what else is known', async () => {
    const oauth = { token_endpoint: 'https://id.example.com/token', client_id: 'a', scope: 'b' }
    const admin = await console.otherAdmin()
    const { id } = await admin.send<{ id: string }>('POST', '/ssf_streams', {
      name: 'Moving',
      delivery: {
        method: 'urn:ietf:rfc:8935',
        endpoint_url: 'https://one.example.com/events',
        oauth: { ...oauth, auth_method: 'client_secret_post', client_secret: 'first' },
      },
    })
    const page = await console.openPage(`/signals/streams/${id}/edit`)
    await page.getByLabel('URL').fill('https://two.example.com/events')
    await page.getByRole('button', { name: 'Save changes' }).click()
    const proof = page.getByRole('region', { name: 'How the service proves itself' })
    await proof.getByText(/^The client secret of the OAuth access token: .* another host/).waitFor()
    await proof.getByRole('combobox').click()
    await page.getByRole('option', { name: 'OAuth access token' }).click()
    await proof.getByLabel('Client secret').fill('second')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.waitForURL(`**/signals/streams/${id}`)
    const read = `fetch('/ssf_streams/${id}').then((answer) => answer.json())`
    expect(await page.evaluate<unknown>(read)).toMatchObject({
      delivery: {
        endpoint_url: 'https://two.example.com/events',
        oauth: { ...oauth, auth_method: 'client_secret_post' },
      },
    })
  })

  it('says that a client secret takes the place of the keys that a stream signs in by', async () => {
    const admin = await console.otherAdmin()
    const toHelp = async (auth: object) => {
      const oauth = { token_endpoint: 'https://id.example.com/token', client_id: 'a', ...auth }
      const endpoint_url = 'https://one.example.com/events'
      const delivery = { method: 'urn:ietf:rfc:8935', endpoint_url, oauth }
      const body = { name: 'Signing', delivery }
      const { id } = await admin.send<{ id: string }>('POST', '/ssf_streams', body)
      const page = await console.openPage(`/signals/streams/${id}/edit`)
      const proof = page.getByRole('region', { name: 'How the service proves itself' })
      await proof.getByRole('combobox').click()
      await page.getByRole('option', { name: 'OAuth access token' }).click()
      const secret = proof.getByLabel('Client secret')
      await secret.waitFor()
      return proof.getByText('client_secret_basic').count()
    }
    expect(await toHelp({ auth_method: 'private_key_jwt' })).toBe(1)
    expect(await toHelp({ auth_method: 'client_secret_post', client_secret: 'a' })).toBe(0)
  })

  it('shows the poll token of a new poll stream once', async () => {
    const page = await console.openPage('/signals/streams/new')
    await page.getByLabel('Name').fill('Puller')
    await page.getByText('Poll', { exact: true }).click()
    await page.getByRole('button', { name: 'Create stream' }).click()
    const dialog = page.getByRole('dialog')
    const token = dialog.getByRole('group', { name: 'Poll token' })
    await token.getByText('••••').waitFor()
    await token.getByRole('button', { name: 'Reveal Poll token' }).click()
    expect((await token.locator('code').textContent())?.length).toBeGreaterThan(30)
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('heading', { name: 'Puller', level: 1 }).waitFor()
    await openTab(page, 'Poll tokens')
    await page.getByRole('button', { name: 'Issue poll token' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Issue poll token' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await expect.poll(() => page.getByRole('row').count()).toBe(3)
    await page.getByRole('button', { name: 'Revoke all' }).click()
    await page.getByRole('button', { name: 'Revoke poll tokens' }).click()
    await page.getByText('No poll token is valid', { exact: true }).waitFor()
    await openTab(page, 'Events that wait')
    await page.getByText('Nothing waits').waitFor()
    await openTab(page, 'Self-test')
    await page.getByText('This one polls.').waitFor()
  })

  it('edits, pauses, switches off and on, and deletes', async () => {
    const page = await createPushStream('Office')
    await act(page, 'Office', 'Edit')
    await page.getByLabel('Name').fill('Office door')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('heading', { name: 'Office door', level: 1 }).waitFor()

    await openTab(page, 'Status')
    await page.getByText('Paused', { exact: true }).click()
    await page.getByLabel('Reason').fill('moving house')
    await page.getByRole('button', { name: 'Set status' }).click()
    await page.getByText('It is paused and holds its events: moving house').waitFor()

    await act(page, 'Office door', 'Switch on')
    await page.getByText('nothing is waiting').waitFor()
    await act(page, 'Office door', 'Switch off')
    await page.getByRole('button', { name: 'Switch stream off' }).click()
    await page.getByText('It is off and gets no events').waitFor()

    await act(page, 'Office door', 'Delete')
    const remove = page.getByRole('button', { name: 'Delete stream' })
    expect(await remove.isDisabled()).toBe(true)
    await page.getByLabel('Type Office door to confirm').fill('Office door')
    await remove.click()
    await page.getByRole('heading', { name: 'Streams', level: 1 }).waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Office door' }).count()).toBe(0)
  })

  it('replays, backfills, tests the receiver and shows state and keys', async () => {
    const page = await createPushStream('Tools')
    await openTab(page, 'Replay and backfill')
    await page.getByLabel('Events of this time and later').fill('2026-01-02T03:04')
    await page.getByRole('button', { name: 'Replay events' }).click()
    await page.getByText(/There are no events to send again|events are sent again/).waitFor()
    await page.getByRole('button', { name: 'Backfill stream' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Backfill stream' }).click()
    await page.getByText('The backfill has begun.').waitFor()

    await openTab(page, 'Self-test')
    await page.getByRole('button', { name: 'Run self-test' }).click()
    await page.getByText(/The receiver went wrong in \d+ cases/).waitFor()
    await page.getByText('Accepted what is bad').first().waitFor()

    await openTab(page, 'Events that wait')
    await page.getByText('Events are pushed').waitFor()
    await openTab(page, 'Poll tokens')
    await page.getByText('the receiver needs none').waitFor()
    expect(await page.getByRole('button', { name: 'Issue poll token' }).count()).toBe(0)
    await openTab(page, 'Present state')
    await page.getByText('The stream tells of no device').waitFor()
    await openTab(page, 'Key proofs')
    await page.getByText('Signs for this stream').first().waitFor()
    await openTab(page, 'Explain')
    await page.getByRole('button', { name: 'Explain' }).isDisabled()
  })

  it('removes devices and people from what it tells of, and adds them again', async () => {
    const { db } = console.api.services
    await insertDevice(db, { name: 'Laptop of Ada' })
    await insertPerson(db, { name: 'Grace', email: 'grace@example.com' })
    const page = await createPushStream('Selective')
    await openTab(page, 'Subjects')
    await page.getByText('The stream tells of every device', { exact: true }).waitFor()
    const remove = page.getByRole('button', { name: 'Remove subject' })
    const dialog = page.getByRole('dialog')
    const choose = async (kind: string, part: string, name: string) => {
      await remove.click()
      await dialog.getByText('keeps to what it heard last').waitFor()
      await dialog.getByText(kind, { exact: true }).first().click()
      const picker = dialog.getByRole('combobox', { name: kind })
      await picker.click()
      await picker.fill(part)
      await page.getByRole('option', { name }).click()
      await dialog.getByRole('button', { name: 'Remove subject' }).click()
      await dialog.waitFor({ state: 'hidden' })
    }
    await choose('Device', 'of ada', 'Laptop of Ada')
    await choose('Person', 'grace@', 'Grace (grace@example.com)')
    const table = page.getByRole('table', { name: 'Subjects' })
    await table.getByRole('link', { name: 'Laptop of Ada' }).waitFor()
    await table.getByRole('link', { name: 'Grace' }).waitFor()
    expect(await table.getByText('Removed').count()).toBe(2)
    await expectAccessible(page)
    await expectFitting(page, 'stream-subjects')
    await page.getByRole('button', { name: 'Add Laptop of Ada' }).click()
    await expectFitting(page, 'stream-subject-added')
    await dialog.getByRole('button', { name: 'Add subject' }).click()
    await table.getByText('Added').waitFor()
    await page.getByRole('button', { name: 'Remove Laptop of Ada' }).waitFor()
  })

  it('follows a delivery to its token, and checks the signature in the browser', async () => {
    receiver.respond((_request, response) =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"err":"invalid_audience","description":"not for me"}'),
    )
    const page = await createPushStream('Strict receiver')
    await page.getByRole('button', { name: 'Send test event' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send test event' }).click()
    await page.getByText('The receiver answered 400.').waitFor()
    await page.keyboard.press('Escape')
    await act(page, 'Strict receiver', 'View events')
    await page.getByRole('table').getByText('Given up').waitFor()
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByText('Why it failed').waitFor()
    await page.getByText('Attempt 1', { exact: true }).waitFor()
    await page.getByText('"description":"not for me"').waitFor()
    await page.getByRole('img', { name: /^Times by phase/ }).waitFor()
    const signature = page.getByRole('region', { name: 'Signature' })
    await signature.getByText('Verified in this browser').waitFor()
    await signature.getByText('It is for the audience of the stream').waitFor()
    receiver.respond(answerWith(202))
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('The receiver has accepted it.').waitFor()

    await page.getByRole('link', { name: 'Where is it?' }).click()
    await page.getByText('Found by the id of the event').waitFor()
    await page.getByRole('listitem').getByText('Attempt', { exact: true }).first().waitFor()
    await page.getByRole('link', { name: 'Open delivery' }).first().click()
    await page.getByText('The receiver has accepted it.').waitFor()

    await walkTo(page, '/signals/deliveries?query=state:delivered')
    await page.getByRole('table').getByText('Strict receiver').first().waitFor()
    await page.getByText('Dead', { exact: true }).click()
    await page.waitForURL(/state%3Adead/)
  })

  it('says why a delivery was given up, and takes its last failure for no reason of that', async () => {
    receiver.respond(answerWith(503))
    const page = await createPushStream('Busy receiver')
    const streamId = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const { db } = console.api.services
    const { destinationId } = await getStream(db, parseStreamReference(streamId))
    const queued = await queueEvents(console.api.services, destinationId, [null])
    const [eventId = ''] = queued.eventIds
    await page.goto(`/console/signals/deliveries/streams/${streamId}/${eventId}`)
    await page.getByText('Why it failed', { exact: true }).waitFor()
    const remedy = page.getByText('What to do:')
    await remedy.waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Give up' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Give up' }).click()
    await page.getByText('Why it was given up', { exact: true }).waitFor()
    await page.getByText(/^It was given up on request\. Last error: /).waitFor()
    expect(await remedy.count()).toBe(0)
  })

  it('says what can be looked for, and when nothing is known', async () => {
    const page = await console.openPage('/signals/find')
    await page.getByText('What are you looking for?').waitFor()
    const search = page.getByRole('textbox', { name: 'Event, device, person, cause or request' })
    await search.fill('5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByText('Nothing is known of it').waitFor()
  })

  it('does not open to those who may do nothing of it', async () => {
    const page = await console.openPage('/signals/streams', {
      access: 'limited',
      restrictions: ['signals', 'webhooks'],
    })
    const closed = page.getByRole('alert').getByText('Your access does not include this')
    await closed.waitFor()
    for (const what of ['streams', 'clients', 'webhooks']) {
      await walkTo(page, `/signals/${what}/new`)
      await closed.waitFor()
      expect(await page.locator('button[type=submit]').count()).toBe(0)
    }
  })
})

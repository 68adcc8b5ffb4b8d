/* Two admins at the same records, in a real browser: what one types stays, and what the other did is not undone. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import {
  insertCheck,
  insertDevice,
  insertDeviceGroup,
  insertReenrollmentRequest,
} from '../support/factories.ts'
import { consoleForTests, expectAccessible } from './support/open-console.ts'

interface Named {
  readonly id: string
  readonly name: string
}

/** The input of a choice is drawn over. */
const CHECKED = { state: 'attached' } as const

/** The choice of what a stream authenticates by. */
const SIGNS_IN = 'How the service proves itself to the receiver'

const console = consoleForTests()

describe('the page of an API key', () => {
  it('forgets the secret that was revealed when another key is opened in its place', async () => {
    const whose = 'api keys of a test'
    const other = await console.otherAdmin()
    const older = await other.send<Named>('POST', '/api_keys', {
      name: whose,
      responsible_email: other.email,
      permissions: [],
    })
    const newer = await other.send<Named>('POST', `/api_keys/${older.id}/rotate`, {
      overlap_seconds: 3600,
    })
    const page = await console.openPage(`/settings/api-keys/${older.id}`)
    const secret = page.getByRole('group', { name: `Secret ${whose}` })
    await secret.getByText('••••').waitFor()
    await page.goto(`/console/settings/api-keys/${newer.id}`)
    const link = page.locator(`a[href$="/settings/api-keys/${older.id}"]`)
    await link.click()
    await link.waitFor({ state: 'hidden' })
    await page.goBack()
    await link.waitFor()
    await secret.getByRole('button', { name: 'Reveal' }).click()
    await page.getByLabel('Why it is looked at').fill('A test')
    await page.getByRole('dialog').getByRole('button', { name: 'Reveal' }).click()
    await secret.getByText(/^k2sk_v1_/).waitFor()
    await link.click()
    await link.waitFor({ state: 'hidden' })
    await secret.getByText('••••').waitFor()
    expect(await page.getByText(/^k2sk_v1_/).count()).toBe(0)
  })
})

/** A poll stream of its own. */
async function createStream(name: string): Promise<Named> {
  const other = await console.otherAdmin()
  return other.send<Named>('POST', '/ssf_streams', {
    name,
    delivery: { method: 'urn:ietf:rfc:8936' },
  })
}

/** A push stream of its own, with the secret of an OAuth client. */
async function createPushStream(name: string): Promise<Named> {
  const other = await console.otherAdmin()
  const oauth = { token_endpoint: 'https://id.example.com/token', client_id: 'a' }
  return other.send<Named>('POST', '/ssf_streams', {
    name,
    delivery: {
      method: 'urn:ietf:rfc:8935',
      endpoint_url: 'https://one.example.com/events',
      oauth: { ...oauth, client_secret: 'one' },
    },
  })
}

/** Chooses one of the options of a field. */
async function choose(page: Page, field: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

const save = (page: Page) => page.getByRole('button', { name: 'Save changes' }).click()

describe('a webhook', () => {
  it('has its headers kept, removed or replaced', async () => {
    const other = await console.otherAdmin()
    const { id } = await other.send<Named>('POST', '/webhooks', {
      name: 'With headers',
      url: 'https://one.example.com/hooks',
      events: ['issues.new'],
      headers: { 'X-A': 'b' },
    })
    const page = await console.openPage(`/signals/webhooks/${id}/edit`)
    await page.getByText('Set now: X-A').waitFor()
    const url = page.getByLabel('URL')
    await url.fill('https://other.example.com/hooks')
    await save(page)
    await page.getByText('This is required with another host').waitFor()
    await choose(page, 'Headers', 'Remove all of them')
    await save(page)
    await page.getByRole('heading', { name: 'With headers', level: 1, exact: true }).waitFor()
    await page.goto(`/console/signals/webhooks/${id}/edit`)
    await page.getByText('None are set.').waitFor()
    await choose(page, 'Headers', 'Replace all of them')
    await page.getByLabel('New headers').fill(' \n')
    await save(page)
    await page.getByText('Enter at least one header').waitFor()
    await page.getByLabel('New headers').fill('X-B: c')
    await expectAccessible(page)
    await save(page)
    await page.getByRole('heading', { name: 'With headers', level: 1, exact: true }).waitFor()
    await page.goto(`/console/signals/webhooks/${id}/edit`)
    await page.getByText('Set now: X-B').waitFor()
    expect(await url.inputValue()).toBe('https://other.example.com/hooks')
  })
})

describe('a stream', () => {
  it('says at what is kept that another host needs it given again, and can do without', async () => {
    const stream = await createPushStream('Moved')
    const page = await console.openPage(`/signals/streams/${stream.id}/edit`)
    await page.getByLabel('URL').fill('https://other.example.com/events')
    await save(page)
    await page.getByText('This is required with another host').waitFor()
    await choose(page, SIGNS_IN, 'Authorization header')
    await page.getByPlaceholder('Bearer').fill('Bearer two')
    await save(page)
    await page.getByRole('heading', { name: 'Moved', level: 1, exact: true }).waitFor()
  })

  it('needs no secret of an OAuth client where a certificate takes its place', async () => {
    const stream = await createPushStream('Certified')
    const page = await console.openPage(`/signals/streams/${stream.id}/edit`)
    await page.getByLabel('URL').fill('https://other.example.com/events')
    await choose(page, SIGNS_IN, 'TLS client certificate')
    await page.getByLabel('Certificate (PEM)').fill('certificate')
    await page.getByLabel('Private key (PEM)').fill('key')
    await save(page)
    await page.getByText('Is not a PEM certificate.').waitFor()
  })

  it('keeps what another admin changed while its form was open', async () => {
    const stream = await createStream('Before')
    const page = await console.openPage(`/signals/streams/${stream.id}/edit`)
    await page.getByLabel('Description').fill('Written meanwhile')
    const other = await console.otherAdmin()
    await other.send('PATCH', `/ssf_streams/${stream.id}`, { name: 'After' })
    await page.getByRole('heading', { name: /After/, level: 1 }).waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('After')
    expect(await page.getByLabel('Description').inputValue()).toBe('Written meanwhile')
    await other.send('PATCH', `/ssf_streams/${stream.id}`, { description: 'Theirs' })
    await page.getByText('Description: Theirs').waitFor()
    await page.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('heading', { name: 'After', level: 1, exact: true }).waitFor()
    const saved = await page.evaluate<Named & { readonly description: string }>(
      `fetch('/ssf_streams/${stream.id}').then((answer) => answer.json())`,
    )
    expect(saved).toMatchObject({ name: 'After', description: 'Written meanwhile' })
  })

  it('is not switched on again by a page that showed it before it was paused', async () => {
    const stream = await createStream('Paused elsewhere')
    const page = await console.openPage(`/signals/streams/${stream.id}?tab=status`)
    await page
      .getByRole('radio', { name: 'Enabled' })
      .and(page.locator(':checked'))
      .waitFor(CHECKED)
    const other = await console.otherAdmin()
    const { stream_id: streamId } = await page.evaluate<{ readonly stream_id: string }>(
      `fetch('/ssf_streams/${stream.id}').then((answer) => answer.json())`,
    )
    await other.send('POST', '/ssf_streams/status', { stream_id: streamId, status: 'paused' })
    await page.getByText('It is paused').waitFor()
    await page.getByRole('radio', { name: 'Paused' }).and(page.locator(':checked')).waitFor(CHECKED)
    expect(await page.getByRole('button', { name: 'Set status' }).isDisabled()).toBe(true)
  })

  it('says that it was deleted elsewhere, in place of its page', async () => {
    const stream = await createStream('Deleted elsewhere')
    const page = await console.openPage(`/signals/streams/${stream.id}`)
    await page.getByRole('heading', { name: 'Deleted elsewhere', level: 1 }).waitFor()
    const other = await console.otherAdmin()
    await other.send('DELETE', `/ssf_streams/${stream.id}`)
    await page.getByText('This was deleted').waitFor()
    await page.getByRole('button', { name: 'Send test event' }).waitFor({ state: 'detached' })
  })

  it('so does a device', async () => {
    const device = await insertDevice(console.api.services.db, { name: 'Gone soon' })
    const page = await console.openPage(`/devices/${device}`)
    await page.getByRole('heading', { name: 'Gone soon', level: 1 }).waitFor()
    await console.api.services.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      await change.tx.deleteFrom('device').where('id', '=', device).execute()
      change.markChanged(`devices:${device}`)
    })
    await page.getByText('This was deleted').waitFor()
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
  })

  it('keeps its form when reading it again fails, and says so', async () => {
    const stream = await createStream('Not read again')
    const page = await console.openPage(`/signals/streams/${stream.id}/edit`)
    const name = page.getByLabel('Name')
    await name.fill('Typed')
    await page.route(`**/ssf_streams/${stream.id}`, (route) => route.fulfill({ status: 503 }))
    const other = await console.otherAdmin()
    await other.send('PATCH', `/ssf_streams/${stream.id}`, { description: 'Changed' })
    await page.getByText('This could not be read again').waitFor()
    expect(await name.inputValue()).toBe('Typed')
  })
})

describe('a draft', () => {
  it('asks whose text counts when another admin has changed the same', async () => {
    const other = await console.otherAdmin()
    const draft = await other.send<Named>('POST', '/custom_check_drafts', { name: 'Firewall' })
    const page = await console.openPage(`/checks/drafts/${draft.id}`)
    const description = page.getByLabel('What it checks')
    await description.fill('Mine')
    await other.send('PATCH', `/custom_check_drafts/${draft.id}`, { description: 'Theirs' })
    await page.getByText('What it checks: Theirs').waitFor()
    expect(await description.inputValue()).toBe('Mine')
    await page.getByRole('button', { name: 'Take theirs' }).click()
    expect(await description.inputValue()).toBe('Theirs')
  })
})

describe('a live query', () => {
  /** The form of a query that the devices are being asked. */
  const editAsked = async () => {
    const other = await console.otherAdmin()
    const asked = await other.send<Named>('POST', '/live_query_campaigns', {
      name: 'Uptime',
      sql: 'select days from uptime',
      target_all_devices: true,
      published: true,
    })
    const page = await console.openPage(`/live-queries/${asked.id}/edit`)
    return { page, asked }
  }

  it('is not put to anybody by Enter in its name, nor withdrawn without a question', async () => {
    const { page, asked } = await editAsked()
    const name = page.getByLabel('Name')
    await name.fill('How long')
    await name.press('Enter')
    await page.getByRole('button', { name: 'Stop asking and keep as draft' }).click()
    await page.getByRole('dialog', { name: 'Stop asking?' }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/console/live-queries/${asked.id}/edit`)
    const stored = await page.evaluate<object>(
      `fetch('/live_query_campaigns/${asked.id}').then((answer) => answer.json())`,
    )
    expect(stored).toMatchObject({ name: 'Uptime', published: true })
  })

  it('is not said to be asked anew when another name alone is saved', async () => {
    const { page } = await editAsked()
    await page.getByLabel('Name').fill('How long')
    await page.getByRole('button', { name: 'Ask now' }).click()
    await page.getByText('nobody is asked anew').waitFor()
  })
})

describe('requests that are decided together', () => {
  it('are tried again without those that were decided, and open wherever they stand', async () => {
    const { db } = console.api.services
    const device = await insertDevice(db)
    const first = await insertReenrollmentRequest(db, device)
    const second = await insertReenrollmentRequest(db, device)
    const page = await console.openPage('/requests?kind=reenrollment')
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent.push(new URL(request.url()).pathname)
    })
    const refused = `**/reenrollment_requests/${second}`
    await page.route(refused, async (route) => {
      if (route.request().method() !== 'PATCH') return route.fallback()
      return route.fulfill({ status: 409, json: { code: 'conflict', message: 'Not now.' } })
    })
    for (const id of [first, second]) await page.getByLabel(`Select row ${id}`).check()
    await page.getByRole('button', { name: 'Deny' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Deny' }).click()
    await dialog.getByText('1 of 2 could not be decided: Not now.').waitFor()
    await page.unroute(refused)
    await dialog.getByRole('button', { name: 'Deny' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const times = (id: string) => sent.filter((path) => path.endsWith(`/${id}`)).length
    expect([times(first), times(second)]).toEqual([1, 2])
    const elsewhere = `/requests?kind=reenrollment&query=status:approved&open=${first}`
    await page.goto(`/console${elsewhere}`)
    await page.getByRole('dialog', { name: 'Request' }).getByText('Denied').waitFor()
  })
})

describe('a request', () => {
  it('stays open when the question whether it is approved is closed by Escape', async () => {
    const { db } = console.api.services
    const id = await insertReenrollmentRequest(db, await insertDevice(db))
    const page = await console.openPage(`/requests?kind=reenrollment&open=${id}`)
    const request = page.getByRole('dialog', { name: 'Request' })
    await request.getByRole('button', { name: 'Approve' }).click()
    const question = page.getByRole('dialog', { name: 'Approve the request?' })
    await question.getByRole('button', { name: 'Approve' }).waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'hidden' })
    expect(await request.isVisible()).toBe(true)
    expect(new URL(page.url()).searchParams.get('open')).toContain(id)
  })
})

describe('the strategy of a check', () => {
  it('is saved only when its impact is known, and an empty input changes nothing', async () => {
    const id = await insertCheck(console.api.services.db, {
      remediation_strategy: 'warn_then_block',
    })
    const page = await console.openPage(`/checks/${id}/strategy`)
    const days = page.getByLabel('Days to fix it')
    const before = await days.inputValue()
    await days.fill('')
    await days.blur()
    await expect.poll(() => days.inputValue()).toBe(before)
    expect(before).not.toBe('')
    const counting = Promise.withResolvers<undefined>()
    await page.route('**/configurations/preview', async (route) => {
      await counting.promise
      await route.continue()
    })
    await days.fill('9')
    await page.getByText('Counting …').waitFor()
    const save = page.getByRole('button', { name: 'Save' })
    expect(await save.isDisabled()).toBe(true)
    counting.resolve(undefined)
    await save.click()
    await page.getByRole('button', { name: 'Save the strategy' }).click()
    await page.getByText('The strategy is saved.').waitFor()
  })

  it('offers every group, however many there are', async () => {
    const { db } = console.api.services
    const id = await insertCheck(db)
    for (let at = 0; at <= 100; at += 1) await insertDeviceGroup(db, { name: `Group ${at}` })
    const page = await console.openPage(`/checks/${id}/strategy`)
    const groups = page.locator('input').and(page.getByLabel('Only devices in these groups run it'))
    await groups.fill('Group 100')
    await page.getByRole('option', { name: 'Group 100' }).waitFor()
  })

  it('blocks from the day on that is chosen, as days begin where the admin is', async () => {
    const id = await insertCheck(console.api.services.db, {
      remediation_strategy: 'warn_then_block',
      begins_blocking_on: new Date('2026-12-02T02:00:00Z'),
    })
    const page = await (await console.newContext()).newPage()
    const browser = await page.context().newCDPSession(page)
    await browser.send('Emulation.setTimezoneOverride', { timezoneId: 'America/Los_Angeles' })
    await page.goto(`/console/checks/${id}/strategy`)
    const begins = page.getByLabel('Blocks nothing before')
    expect(await begins.inputValue()).toBe('2026-12-01')
    await begins.fill('2026-12-10')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Save the strategy' }).click()
    await page.getByText('The strategy is saved.').waitFor()
    expect(await begins.inputValue()).toBe('2026-12-10')
    const saved = await console.api.services.db
      .selectFrom('posture_check')
      .select('begins_blocking_on')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(saved.begins_blocking_on).toEqual(new Date('2026-12-10T08:00:00Z'))
  })

  it('asks whose values count when another admin has changed the same', async () => {
    const id = await insertCheck(console.api.services.db, {
      remediation_strategy: 'warn_then_block',
    })
    const page = await console.openPage(`/checks/${id}/strategy`)
    const days = page.getByLabel('Days to fix it')
    await days.fill('9')
    const other = await console.otherAdmin()
    await other.send('PATCH', `/checks/${id}/configurations`, {
      block_auth_grace_period_days: 20,
      snooze_disallowed: true,
    })
    await page.getByText('Days to fix it: 20').waitFor()
    expect(await days.inputValue()).toMatch(/^9/)
    await page.getByRole('button', { name: 'Take theirs' }).click()
    expect(await days.inputValue()).toMatch(/^20/)
    expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
  })
})

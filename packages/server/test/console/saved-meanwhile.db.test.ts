/*
 * Dialogs and forms that are open while another admin saves the same record, or while what was sent from them is on its
 * way, in a real browser: nothing is written over that was not changed in them, and nothing typed is lost.
 */
import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { insertProvider } from '../../src/organisation/admin-oidc/identity-provider-store.ts'
import { secretContext } from '../../src/organisation/admin-oidc/provider-gateway.ts'
import {
  insertCheck,
  insertDevice,
  insertDeviceGroup,
  insertPersonGroup,
} from '../support/factories.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'
import type { OtherAdmin } from './support/other-admin.ts'

const console = consoleForTests({ HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1' })

interface Identified {
  readonly id: string
}

/** What the API says of a record. */
async function read(page: Page, path: string): Promise<unknown> {
  return page.evaluate<unknown>(`fetch('${path}').then((answer) => answer.json())`)
}

async function createKey(admin: OtherAdmin, permission: string): Promise<Identified> {
  return admin.send<Identified>('POST', '/api_keys', {
    name: 'Robot',
    responsible_email: admin.email,
    permissions: [{ permission, rationale: 'It asks again.' }],
  })
}

async function createApplication(admin: OtherAdmin, name: string): Promise<string> {
  const { id } = await admin.send<Identified>('POST', '/sign_in_applications', {
    name,
    redirect_uris: ['https://wiki.example.com/callback'],
  })
  return id
}

/** Keeps changes on their way until they are let through. */
async function holdChanges(page: Page, path: string): Promise<() => void> {
  const held = Promise.withResolvers<undefined>()
  await page.route(path, async (route: Route) => {
    if (route.request().method() !== 'GET') await held.promise
    await route.continue()
  })
  return () => held.resolve(undefined)
}

/** The dialog that changes an API key with one permission. */
async function openKeyDialog() {
  const other = await console.otherAdmin()
  const { id } = await createKey(other, 'Refresh Check')
  const page = await console.openPage(`/settings/api-keys/${id}`)
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  return { page, other, id, dialog: page.getByRole('dialog') }
}

describe('the dialog of an API key', () => {
  it('gives no permission back that was taken while the key was being renamed', async () => {
    const { page, other, id, dialog } = await openKeyDialog()
    await dialog.getByLabel('Name').fill('Renamed')
    await other.send('PATCH', `/api_keys/${id}`, { permissions: [] })
    await page.getByText('It asks again.').waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await read(page, `/api_keys/${id}`)).toMatchObject({ name: 'Renamed', permissions: [] })
  })

  it('asks whose permissions count when both have changed them', async () => {
    const { other, id, dialog } = await openKeyDialog()
    await dialog.getByLabel('Why the key needs it: Refresh Check').fill('Mine')
    await other.send('PATCH', `/api_keys/${id}`, { permissions: [] })
    await dialog.getByRole('button', { name: 'Take theirs' }).click()
    await expect.poll(() => dialog.getByLabel('Refresh Check').isChecked()).toBe(false)
  })
})

describe('an application', () => {
  it('that another admin switched off is not switched on by the dialog that asks to switch it off', async () => {
    const other = await console.otherAdmin()
    const id = await createApplication(other, 'Off soon')
    const page = await console.openPage(`/settings/sign-in/applications/${id}`)
    await page.getByRole('button', { name: 'Switch off' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('its sessions end').waitFor()
    await other.send('PATCH', `/sign_in_applications/${id}`, { enabled: false })
    await page.getByText('Switched off: whoever is sent here by it is refused.').waitFor()
    await expect.poll(() => dialog.count()).toBe(0)
    await page.getByText('Off soon was switched off already.').waitFor()
    expect(await read(page, `/sign_in_applications/${id}`)).toMatchObject({ enabled: false })
  })
})

describe('what is typed while a save is under way stays, in the form of', () => {
  it('an application', async () => {
    const other = await console.otherAdmin()
    const id = await createApplication(other, 'Slow')
    const page = await console.openPage(`/settings/sign-in/applications/${id}?tab=settings`)
    await page.getByLabel('Sessions last (minutes)').fill('30')
    const letThrough = await holdChanges(page, `**/sign_in_applications/${id}`)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByLabel('Name').fill('Typed meanwhile')
    letThrough()
    await page.getByText('The changes are saved.').waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('Typed meanwhile')
    expect(await page.getByLabel('Sessions last (minutes)').inputValue()).toBe('30')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('heading', { name: 'Typed meanwhile', level: 1 }).waitFor()
  })

  it('the policy', async () => {
    const page = await console.openPage('/settings/sign-in/policy')
    await page.getByLabel('Colour').fill('#7A3E8F')
    const letThrough = await holdChanges(page, '**/sign_in_policy')
    await page.getByRole('button', { name: 'Save changes' }).click()
    const days = page.getByLabel('Keys of browsers are good for (days)')
    await days.fill('17')
    letThrough()
    await page.getByText('The policy is saved.').waitFor()
    expect(await days.inputValue()).toMatch(/^17/)
    expect(await page.getByLabel('Colour').inputValue()).toBe('#7a3e8f')
  })

  it('the identity provider', async () => {
    const { services } = console.api
    const client = { issuer: 'https://login.example.com', clientId: 'heliograph' }
    await services.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      insertProvider(change.tx, {
        ...{ name: 'Login', issuer: client.issuer, client_id: client.clientId, enabled: false },
        client_secret_sealed: services.sealer.seal('secret', secretContext(client)),
        created_at: change.at,
        updated_at: change.at,
      }),
    )
    const page = await console.openPage('/settings/identity-provider')
    await page.getByLabel('Group claim').fill(' groups')
    const letThrough = await holdChanges(page, '**/console/identity_provider')
    await page.getByRole('button', { name: 'Save changes' }).click()
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('Typed meanwhile')
    letThrough()
    await page.getByText('The identity provider was saved').waitFor()
    expect(await name.inputValue()).toBe('Typed meanwhile')
    expect(await page.getByLabel('Group claim').inputValue()).toBe('groups')
  })
})

describe('an upstream provider', () => {
  it('is sent another secret once: what was saved leaves its field', async () => {
    const other = await console.otherAdmin()
    const { id } = await other.send<Identified>('POST', '/sign_in_upstream_providers', {
      ...{ name: 'Office', issuer: 'http://127.0.0.1:9', client_id: 'a', client_secret: 'b' },
    })
    const page = await console.openPage(`/settings/sign-in/upstream-providers/${id}`)
    const secret = page.getByRole('textbox', { name: 'Client secret' })
    await secret.fill('another secret')
    await page.getByLabel('Name').fill('Office 2')
    const letThrough = await holdChanges(page, `**/sign_in_upstream_providers/${id}`)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByLabel('Scopes').fill('openid email')
    letThrough()
    await page.getByText('The changes are saved.').waitFor()
    expect(await secret.inputValue()).toBe('')
    expect(await page.getByLabel('Scopes').inputValue()).toBe('openid email')
  })
})

describe('what another admin saved is not written over by saving', () => {
  it('a note about a device that was only looked at', async () => {
    const id = await insertDevice(console.api.services.db, { note: 'Before' })
    const page = await console.openPage(`/devices/${id}`)
    await page.getByRole('button', { name: 'Edit the note' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Note' }).waitFor()
    const other = await console.otherAdmin()
    await other.send('PATCH', `/devices/${id}`, { note: 'Theirs' })
    await page.getByRole('region', { name: 'Note' }).getByText('Theirs').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await read(page, `/devices/${id}`)).toMatchObject({ note: 'Theirs' })
  })

  it('who may sign in with a device, which was only looked at', async () => {
    const { db, clock } = console.api.services
    const id = await insertDevice(db, { registered_at: clock.now() })

    const page = await console.openPage(`/devices/${id}`)
    await page.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Who may sign in' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: 'Its owner alone' }).waitFor()
    const other = await console.otherAdmin()
    await other.send('PATCH', `/devices/${id}/authentication_mode`, {
      authentication_mode: 'anyone',
    })
    await page.getByRole('definition').filter({ hasText: 'Anybody' }).waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await read(page, `/devices/${id}`)).toMatchObject({
      auth_configuration: { authentication_mode: 'anyone' },
    })
  })

  it('another text of the same group', async () => {
    const id = await insertDeviceGroup(console.api.services.db)
    const page = await console.openPage(`/groups/${id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Description').fill('Mine')
    const other = await console.otherAdmin()
    await other.send('PATCH', `/device_groups/${id}`, { name: 'Theirs' })
    await page.getByRole('heading', { name: 'Theirs', level: 1 }).waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await read(page, `/device_groups/${id}`)).toMatchObject({
      name: 'Theirs',
      description: 'Mine',
    })
  })

  it('the organisation, whose page shows the name that it has now', async () => {
    const page = await console.openPage('/settings/organisation')
    const name = page.getByLabel('Name')
    await name.waitFor()
    const other = await console.otherAdmin()
    await other.send('PATCH', '/organisation', { name: 'Renamed elsewhere' })
    await expect.poll(() => name.inputValue()).toBe('Renamed elsewhere')
    const save = page.getByRole('button', { name: 'Save changes' })
    expect(await save.isDisabled()).toBe(true)
    await name.fill('  Mine ')
    await save.click()
    await expect.poll(() => name.inputValue()).toBe('Mine')
  })
})

/** What is asked where two admins have changed the same. */
const disputeOf = (page: Page) =>
  page.getByRole('status').filter({ hasText: 'Somebody else has saved what you are changing' })

describe('while it is not decided whose values count, nothing is saved, and it says so', () => {
  it('by the form of an application', async () => {
    const other = await console.otherAdmin()
    const id = await createApplication(other, 'Before')
    const page = await console.openPage(`/settings/sign-in/applications/${id}?tab=settings`)
    await page.getByLabel('Name').fill('Mine')
    await other.send('PATCH', `/sign_in_applications/${id}`, { name: 'Theirs' })
    await disputeOf(page).getByText('Name: Theirs').waitFor()
    await disputeOf(page).getByText('Nothing is saved before you have chosen.').waitFor()
    const save = page.getByRole('button', { name: 'Save changes' })
    await save.click()
    await expect
      .poll(() => page.evaluate<unknown>("document.activeElement?.getAttribute('role')"))
      .toBe('status')
    await expectAccessible(page)
    await expectFitting(page, 'meanwhile-undecided')
    expect(await read(page, `/sign_in_applications/${id}`)).toMatchObject({ name: 'Theirs' })
    await disputeOf(page).getByRole('button', { name: 'Keep mine' }).click()
    await disputeOf(page).waitFor({ state: 'detached' })
    await save.click()
    await page.getByRole('heading', { name: 'Mine', level: 1 }).waitFor()
  })

  it('by the dialog of a note, until what was typed is what they saved', async () => {
    const id = await insertDevice(console.api.services.db, { note: 'Before' })
    const page = await console.openPage(`/devices/${id}`)
    await page.getByRole('button', { name: 'Edit the note' }).click()
    const dialog = page.getByRole('dialog')
    const note = dialog.getByRole('textbox', { name: 'Note' })
    await note.fill('Mine')
    const other = await console.otherAdmin()
    await other.send('PATCH', `/devices/${id}`, { note: 'Theirs' })
    await disputeOf(page).waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect
      .poll(() => page.evaluate<unknown>("document.activeElement?.getAttribute('role')"))
      .toBe('status')
    expect(await read(page, `/devices/${id}`)).toMatchObject({ note: 'Theirs' })
    await note.fill('Theirs')
    await disputeOf(page).waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
  })

  it('by the dialog that a strategy asks in, which goes to let it be decided', async () => {
    const id = await insertCheck(console.api.services.db, { remediation_strategy: 'report_only' })
    const page = await console.openPage(`/checks/${id}/strategy`)
    await page.getByLabel('Owners may put it off').uncheck()
    await page.getByLabel('Notify only').check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Save the strategy' })
    await confirm.waitFor()
    const other = await console.otherAdmin()
    await other.send('PATCH', `/checks/${id}/configurations`, {
      remediation_strategy: 'warn_then_block',
    })
    await page.getByText('Somebody else has saved what you are changing').waitFor()
    await page.getByRole('dialog').locator('[data-loading]').waitFor({ state: 'detached' })
    await page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await disputeOf(page).getByRole('button', { name: 'Take theirs' }).click()
    expect(await page.getByLabel('Warn, then block').isChecked()).toBe(true)
    expect(await page.getByLabel('Owners may put it off').isChecked()).toBe(false)
  })
})

describe('what another admin has saved is told in the words of the form', () => {
  it('in the dialog that says who may sign in with a device', async () => {
    const { db, clock } = console.api.services
    const id = await insertDevice(db, { registered_at: clock.now() })
    const staff = await insertPersonGroup(db, { name: 'Staff' })
    await insertPersonGroup(db, { name: 'Interns' })
    const guests = await insertPersonGroup(db, { name: 'Guests' })
    const other = await console.otherAdmin()
    const change = async (mode: string, groups: readonly string[]) =>
      other.send('PATCH', `/devices/${id}/authentication_mode`, {
        authentication_mode: mode,
        person_group_ids: groups,
      })
    await change('only_registered_owner_or_group_members', [staff])
    const page = await console.openPage(`/devices/${id}`)
    await page.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Who may sign in' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Groups' }).click()
    await page.getByRole('option', { name: 'Interns' }).click()
    await change('only_registered_owner_or_group_members', [staff, guests])
    await disputeOf(page)
      .getByText(/^Groups: (Staff, Guests|Guests, Staff)$/)
      .waitFor()
    await disputeOf(page).getByRole('button', { name: 'Keep mine' }).click()
    await dialog.getByRole('radio', { name: 'Anybody' }).check()
    await other.send('PATCH', `/devices/${id}/authentication_mode`, {
      authentication_mode: 'only_registered_owner',
    })
    await disputeOf(page).getByText('Who may sign in: Its owner alone').waitFor()
  })

  it('in the forms of a stream, a webhook and an SSF client', async () => {
    const other = await console.otherAdmin()
    const stream = await other.send<Identified>('POST', '/ssf_streams', {
      name: 'Gateway',
      delivery: { method: 'urn:ietf:rfc:8936', endpoint_url: null },
    })
    const page = await console.openPage(`/signals/streams/${stream.id}/edit`)
    await page.getByLabel('Heartbeat (minutes)').fill('7')
    await page.getByRole('combobox', { name: 'Subject' }).click()
    await page.getByRole('option', { name: 'Email address of the person' }).click()
    await other.send('PATCH', `/ssf_streams/${stream.id}`, {
      ...{ heartbeat_minutes: 30, subject_form: 'iss_sub' },
    })
    await disputeOf(page).getByText('Heartbeat (minutes): Every 30 min').waitFor()
    await disputeOf(page).getByText('Subject: Issuer and subject of the device').waitFor()

    const webhook = await other.send<Identified>('POST', '/webhooks', {
      ...{ name: 'Alerts', url: 'http://127.0.0.1:9/hook', events: ['issues.new'] },
    })
    const second = await console.openPage(`/signals/webhooks/${webhook.id}/edit`)
    await second.getByLabel('At most (deliveries per second)').fill('3')
    await other.send('PATCH', `/webhooks/${webhook.id}`, { rate_limit_per_second: 5 })
    await disputeOf(second).getByText('At most (deliveries per second): 5').waitFor()

    const client = await other.send<Identified>('POST', '/ssf_clients', { name: 'Receiver' })
    const third = await console.openPage(`/signals/clients/${client.id}/edit`)
    await third.getByLabel('Read its streams (ssf.read)').uncheck()
    await other.send('PATCH', `/ssf_clients/${client.id}`, { scopes: ['ssf.read'] })
    await disputeOf(third).getByText('Scopes: Read its streams (ssf.read)').waitFor()
  })

  it('in the form of the policy', async () => {
    const other = await console.otherAdmin()
    await other.send('PATCH', '/sign_in_policy', { further_registration: 'registered_device' })
    const page = await console.openPage('/settings/sign-in/policy')
    const further = page.getByRole('radiogroup', { name: 'Each further device' })
    await further.getByLabel('Either').check()
    await other.send('PATCH', '/sign_in_policy', { further_registration: 'admin_approval' })
    await disputeOf(page).getByText('Each further device: An admin approves').waitFor()
  })

  it('in the dialog of an API key', async () => {
    const { page, other, id, dialog } = await openKeyDialog()
    await dialog.getByLabel('Why the key needs it: Refresh Check').fill('Mine')
    await other.send('PATCH', `/api_keys/${id}`, {
      permissions: [{ permission: 'Manage Checks', rationale: 'It is theirs.' }],
    })
    await disputeOf(page).getByText('Permissions: Manage Checks (It is theirs.)').waitFor()
  })
})

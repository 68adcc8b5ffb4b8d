/*
 * Signing in here, as admins set it up: the wizard, an application, upstream providers, the policy, granted sessions.
 */
import type { Insertable } from 'kysely'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { beginAttempt } from '../../src/sign-in/attempts/begin-attempt.ts'
import { refuseAttempt } from '../../src/sign-in/attempts/refuse-attempt.ts'
import { createSignInMakers } from '../contract/sign-in-makers.ts'
import { insertDevice, insertPerson } from '../support/factories.ts'
import { inOrder } from '../support/sign-in-fixtures.ts'
import { sendAs } from './support/send-as.ts'

const console = consoleForTests({ HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1' })

interface Application {
  readonly id: string
  readonly issuer: string
  readonly client_id: string
}

const OKTA_REDIRECT = 'https://example.okta.com/oauth2/v1/authorize/callback'

describe('the applications of the console', () => {
  it('connects Okta step by step, shows the secret once, and rotates it', async () => {
    const page = await console.openPage('/settings/sign-in')
    await page.getByText('Nobody is sent here yet').waitFor()
    await page.getByRole('button', { name: 'Connect an application' }).first().click()
    await page.getByRole('link', { name: 'Microsoft Entra ID' }).waitFor()
    await expectFitting(page, 'sign-in-wizard')
    await page.getByRole('link', { name: /^Okta / }).click()
    await page.getByLabel('Address of your Okta organisation').fill('example.okta.com/app/x')
    await page.getByText(OKTA_REDIRECT).waitFor()
    await expectFitting(page, 'sign-in-wizard-form')
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('heading', { name: 'Enter it at Okta', level: 1 }).waitFor()
    const secret = page.getByRole('group', { name: 'Client secret' })
    await secret.getByRole('button', { name: 'Reveal Client secret' }).click()
    expect(await secret.textContent()).toContain('hgs_')
    await secret.getByRole('button', { name: 'Hide Client secret' }).click()
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-wizard-steps')
    await page.getByRole('button', { name: 'It is entered' }).click()

    await page.getByRole('heading', { name: 'Okta', level: 1 }).waitFor()
    await page.getByText('No sign-in has come from it yet').waitFor()
    await page.getByRole('tab', { name: 'Set-up' }).click()
    await page.getByText('The client secret was shown once.').waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-application')
    await page.getByRole('button', { name: 'More actions of Okta' }).click()
    await page.getByRole('menuitem', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
  })

  it('connects a site behind a proxy, with what is entered there', async () => {
    const other = await console.otherAdmin()
    await other.send('POST', '/sign_in_upstream_providers', {
      ...{ name: 'Directory', issuer: 'http://127.0.0.1:9', client_id: 'a', client_secret: 'b' },
    })
    const page = await console.openPage('/settings/sign-in/new?for=nginx')
    await page.getByLabel('Hosts').fill('wiki.example.com\ndocs.example.com')
    await page.getByRole('combobox', { name: 'Upstream provider' }).click()
    await page.getByRole('option', { name: 'Directory' }).click()
    await page.getByRole('button', { name: 'Go on' }).click()
    const configuration = page.getByRole('region', { name: 'nginx configuration' })
    await configuration.waitFor()
    expect(await configuration.textContent()).toContain(
      'X-Original-URL https://docs.example.com$request_uri;',
    )
    expect(await configuration.textContent()).toContain(
      `proxy_pass ${console.baseUrl}/sign-in/auth;`,
    )
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-proxy-steps')
    await page.getByRole('button', { name: 'It is entered' }).click()
    await page.getByRole('tab', { name: 'Set-up' }).click()
    await page.getByRole('heading', { name: 'If it is Envoy' }).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-proxy-application')
  })

  it('tries one: what came of it, and which field of a request is wrong', async () => {
    const other = await console.otherAdmin()
    const {
      id,
      issuer,
      client_id: clientId,
    } = await other.send<Application>('POST', '/sign_in_applications', {
      name: 'Intranet',
      redirect_uris: ['https://intranet.example.com/callback'],
    })
    await console.api.services.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      const { attempt } = await beginAttempt(change, {
        applicationId: id,
        interaction: { kind: 'oidc', uid: crypto.randomUUID() },
        loginHint: null,
        language: 'en',
        ipAddress: '127.0.0.1',
        userAgent: null,
      })
      await refuseAttempt(change, attempt.id, 'person_missing')
    })
    const page = await console.openPage(`/settings/sign-in/applications/${id}?tab=test`)
    await page.getByText('The application does not say who signs in.').waitFor()
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: 'https://intranet.example.com/back',
      response_type: 'code',
      scope: 'openid',
      login_hint: 'ada@example.com',
    })
    await page
      .getByLabel('Address to which the browser was sent')
      .fill(`${issuer}/authorize?${query.toString()}`)
    await page.getByRole('button', { name: 'Check request' }).click()
    await page.getByText('1 field is wrong.').waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-test')
    await page.getByRole('button', { name: 'Add it to the redirect URIs' }).click()
    await page.getByText('The redirect URI was added.').waitFor()
    await page.getByRole('button', { name: 'Check request' }).click()
    await page.getByText('Everything that can be seen here fits.').waitFor()
  })

  it('keeps no finding for a request that was not checked', async () => {
    const other = await console.otherAdmin()
    const { id, issuer } = await other.send<Application>('POST', '/sign_in_applications', {
      name: 'Handbook',
      redirect_uris: ['https://handbook.example.com/callback'],
    })
    const page = await console.openPage(`/settings/sign-in/applications/${id}?tab=test`)
    const address = page.getByLabel('Address to which the browser was sent')
    const secret = page.getByRole('textbox', { name: 'Client secret' })
    const findings = page.getByRole('list', { name: 'What was found' })
    const check = page.getByRole('button', { name: 'Check request' })
    await address.fill(`${issuer}/authorize?scope=openid`)
    await check.click()
    await findings.waitFor()
    await address.fill(`${issuer}/authorize?scope=openid&prompt=none`)
    expect(await findings.count()).toBe(0)
    await check.click()
    await findings.waitFor()
    await secret.fill('another secret')
    expect(await findings.count()).toBe(0)
    await check.click()
    await findings.getByText('client_secret').waitFor()
    await address.fill('no address')
    await check.click()
    const fault = page.getByText(/^Must be an? /)
    await fault.waitFor()
    await address.fill('no address yet')
    expect(await fault.count()).toBe(0)
  })

  it('changes one, switches it off, and deletes it', async () => {
    const page = await console.openPage('/settings/sign-in')
    const { id } = await sendAs<{ id: string }>(page, 'POST', '/sign_in_applications', {
      name: 'Wiki',
      redirect_uris: ['https://wiki.example.com/callback'],
    })
    await page.getByRole('link', { name: 'Wiki' }).click()
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByLabel('Redirect URIs').fill('http://wiki.example.com/callback')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText(/Must be an HTTPS address/).waitFor()
    await page.getByLabel('Redirect URIs').fill('https://wiki.example.com/back')
    await page.getByLabel('Sessions last (minutes)').fill('30')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The changes are saved.').waitFor()
    await expectFitting(page, 'sign-in-application-settings')
    await page.getByRole('button', { name: 'Switch off' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
    await page.getByText('Switched off: whoever is sent here by it is refused.').waitFor()
    await page.getByRole('button', { name: 'More actions of Wiki' }).click()
    await page.getByRole('menuitem', { name: 'Delete application' }).click()
    await page.getByRole('dialog').getByLabel(/^Type/).fill('Wiki')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete application' }).click()
    await page.getByText('Wiki was deleted.').waitFor()
    const rows = await console.api.services.db
      .selectFrom('sign_in_application')
      .select('id')
      .where('id', '=', id)
      .execute()
    expect(rows).toEqual([])
  })

  it('sets up an upstream provider and says what is wrong with it', async () => {
    const page = await console.openPage('/settings/sign-in/upstream-providers/new')
    await page.getByText(`${console.baseUrl}/sign-in/upstream/callback`).waitFor()
    await page.getByLabel('Name').fill('Office')
    await page.getByLabel('Issuer').fill('http://127.0.0.1:9/')
    await page.getByLabel('Client ID').fill('heliograph')
    await page.getByRole('textbox', { name: 'Client secret' }).fill('a secret')
    await page.getByRole('button', { name: 'Set up a provider' }).click()
    await page.getByRole('heading', { name: 'Office', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Check now' }).click()
    await page
      .getByRole('alert')
      .getByText(/^Issuer: /)
      .waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-upstream')
  })
})

it('the policy of the console orders fallbacks, and takes what it says back', async () => {
  const page = await console.openPage('/settings/sign-in/policy')
  await page.getByText('Nothing is offered').waitFor()
  await page.getByRole('button', { name: 'Approval by an admin' }).click()
  await page.getByRole('button', { name: 'Confirm from another device' }).click()
  await page.getByRole('button', { name: 'Offer Confirm from another device earlier' }).click()
  await page.getByLabel('Take what is known').check()
  await page.getByLabel('Not older than (minutes)').fill('30')
  await page.getByLabel('Colour').fill('#7a3e8f')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('The policy is saved.').waitFor()
  const { db } = console.api.services
  const kept = await db.selectFrom('sign_in_policy').selectAll().executeTakeFirstOrThrow()
  expect(kept).toMatchObject({
    fallbacks: ['registered_device', 'admin_approval'],
    unreachable_device: 'last_known',
    last_known_minutes: 30,
    brand_colour: '#7a3e8f',
  })
  await expectAccessible(page)
  await expectFitting(page, 'sign-in-policy')
})

describe('granted sessions of the console', () => {
  async function grant(values: Partial<Insertable<Schema['sign_in_granted_session']>> = {}) {
    const { db } = console.api.services
    await db
      .insertInto('sign_in_granted_session')
      .values({
        id: crypto.randomUUID(),
        sid: crypto.randomUUID(),
        person_id: await insertPerson(db),
        device_id: await insertDevice(db),
        assurance: 'live',
        granted_at: new Date(Date.now() - 7_200_000),
        expires_at: new Date(Date.now() + 3_600_000),
        ...values,
      })
      .execute()
  }

  it('are ended, and not again', async () => {
    await grant()
    await grant({ expires_at: new Date(Date.now() - 3_600_000) })
    const page = await console.openPage('/settings/sign-in/sessions')
    const end = page.getByRole('button', { name: /^End the session of/ })
    await end.click()
    await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
    await page.getByText('No session', { exact: true }).waitFor()
    await page.getByLabel('Ended as well').click()
    await page.getByText('(by an admin)').waitFor()
    await page.getByText('(ran out)').waitFor()
    expect(await end.count()).toBe(0)
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-sessions')
  })

  it('say where their application has not taken the end', async () => {
    const ended = { ended_at: new Date(), end_reason: 'admin', logout_attempts: 3 } as const
    const failure = 'The application answered 503.'
    await grant({ ...ended, logout_failure: failure, logout_due_at: new Date() })
    await grant({ ...ended, logout_failure: 'The name was not found.', logout_outcome: 'given_up' })
    const page = await console.openPage('/settings/sign-in/sessions?ended=true')
    await page.getByText('The application is told again').waitFor()
    await page.getByText(failure).waitFor()
    await page.getByText('The application was not told').waitFor()
    await page.getByText('The name was not found.').waitFor()
    await expectAccessible(page)
    // What the application has not taken scrolls on a phone.
    await expectFitting(page, 'sign-in-sessions-untold', { mayListsScroll: true })
  })
})

const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
const NOWHERE = { x: 0, y: 0, width: Number.NaN, height: 0 }

/** On a phone as well, no page beside this one is out of reach. */
async function expectTabsInView(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 })
  for (const tab of await page
    .getByRole('navigation', { name: 'Sign-in' })
    .getByRole('link')
    .all()) {
    const { x, width } = (await tab.boundingBox()) ?? NOWHERE
    expect(x + width).toBeLessThanOrEqual(390)
  }
}

describe('what signing in knows of people', () => {
  it('their browsers are shown where somebody looks, and forgotten', async () => {
    const { db } = console.api.services
    const { newBrowserKey } = createSignInMakers(console.api)
    const person = await insertPerson(db, { email: 'ada@example.com', name: 'Ada' })
    const device = await insertDevice(db, { name: 'adas-mac', owner_person_id: person })
    await newBrowserKey(person, device, CHROME)
    // Another one of the same person, which stays.
    const spare = await insertDevice(db, { name: 'adas-spare', owner_person_id: person })
    await newBrowserKey(person, spare, CHROME)
    const page = await console.openPage(`/people/${person}`)
    const known = page.getByRole('table', { name: 'Browsers' })
    await known.getByRole('link', { name: 'adas-mac' }).click()
    await page.getByRole('tab', { name: 'Sign-ins' }).click()
    await known.getByRole('link', { name: 'ada@example.com' }).waitFor()
    expect(await known.getByRole('row').count()).toBe(2)
    await page.goto('/console/settings/sign-in/browsers')
    await known.getByRole('link', { name: 'ada@example.com' }).first().waitFor()
    await expectTabsInView(page)
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-browsers-known')
    const other = await console.openPage(`/devices/${device}?tab=sign-ins`)
    const named = 'Forget Chrome, Linux of ada@example.com on adas-mac'
    await known.getByRole('button', { name: named, exact: true }).click()
    const dialog = page.getByRole('dialog', { name: `${named}?` })
    await dialog.getByRole('button', { name: 'Forget browser' }).waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Forget browser' }).click()
    await known.getByRole('link', { name: 'adas-mac' }).waitFor({ state: 'detached' })
    await known.getByRole('link', { name: 'adas-spare' }).waitFor()
    // Pages that are open elsewhere hear of it.
    await other.getByText('No browser is known here.').waitFor()
    await page.getByLabel('Forgotten as well').click()
    await page.getByText('By an admin').waitFor()
    expect(await known.getByRole('button', { name: /^Forget / }).count()).toBe(1)
    await expectFitting(page, 'sign-in-browsers-forgotten')
    const { end_reason: reason } = await db
      .selectFrom('browser_key')
      .select('end_reason')
      .where('device_id', '=', device)
      .executeTakeFirstOrThrow()
    expect(reason).toBe('admin')
  })

  it('their accounts of Entra are shown where somebody looks, and forgotten', async () => {
    const { db } = console.api.services
    const person = await insertPerson(db, { email: 'grace@example.com', name: 'Grace' })
    await createSignInMakers(console.api).newEntraAccount(person)
    const page = await console.openPage('/settings/sign-in/entra-accounts')
    const known = page.getByRole('table', { name: 'Entra accounts' })
    const grace = known.getByRole('link', { name: 'grace@example.com' })
    await grace.waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-entra-known')
    await grace.click()
    await page.getByRole('heading', { level: 1, name: 'Grace' }).waitFor()
    await expectFitting(page, 'person-entra')
    const named = 'Forget the account ada@example.com of grace@example.com'
    const { width, x } = (await known.getByRole('button', { name: named }).boundingBox()) ?? NOWHERE
    const section = (await known.locator('..').boundingBox()) ?? NOWHERE
    expect(x + width).toBeLessThanOrEqual(section.x + section.width)
    await known.getByRole('button', { name: named }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Forget account' }).click()
    await page.getByText('Entra has not sent this person here yet.').waitFor()
    const left = await db.selectFrom('entra_account').select('id').execute()
    expect(left).toEqual([])
  })

  it('is said to load until it is there', async () => {
    const page = await (await console.newContext()).newPage()
    await page.route('**/sign_in_entra_accounts*', async () => new Promise(() => undefined))
    await page.goto('/console/settings/sign-in/entra-accounts')
    await page.getByRole('status', { name: 'Loading' }).waitFor()
    await expectAccessible(page)
  })

  it('is hidden from those who may not see it', async () => {
    const { db } = console.api.services
    const person = await insertPerson(db)
    const device = await insertDevice(db, { owner_person_id: person })
    await createSignInMakers(console.api).newBrowserKey(person, device)
    const session = { access: 'limited', restrictions: ['sign_in'] } as const
    const page = await console.openPage(`/people/${person}`, session)
    await page.getByRole('heading', { name: 'Sign-ins' }).waitFor()
    expect(await page.getByRole('heading', { name: 'Browsers' }).count()).toBe(0)
    await page.goto(`/console/devices/${device}?tab=sign-ins`)
    await page.getByRole('heading', { name: 'Sign-ins' }).waitFor()
    expect(await page.getByRole('heading', { name: 'Browsers' }).count()).toBe(0)
  })
})

describe('sign-ins that wait for an admin', () => {
  it('are shown as they come, with the code of their page, and approved or denied', async () => {
    const { db } = console.api.services
    const makers = createSignInMakers(console.api)
    await insertPerson(db, { email: 'eve@example.com' })
    const addWaiting = async () =>
      makers.newSignInApproval('eve@example.com', await insertDevice(db, { ...inOrder() }))
    const page = await console.openPage('/requests')
    await page.getByRole('tab', { name: 'Sign-ins' }).click()
    await page.getByText('Nothing waits here').waitFor()
    await addWaiting()
    const approve = page.getByRole('button', { name: 'Approve the sign-in of eve@example.com' })
    await approve.click()
    const dialog = page.getByRole('dialog', { name: 'Approve the sign-in of eve@example.com?' })
    await dialog.getByText(/^\d{6}$/).waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('The sign-in goes on.').waitFor()
    await page.getByText('Nothing waits here').waitFor()

    const denied = await addWaiting()
    await page.getByRole('button', { name: 'Deny the sign-in of eve@example.com' }).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'requests-sign-ins-waiting')
    await page.getByRole('button', { name: 'Deny the sign-in of eve@example.com' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click()
    await page.getByText('Nothing waits here').waitFor()
    const { status } = await db
      .selectFrom('device_confirmation')
      .select('status')
      .where('id', '=', denied)
      .executeTakeFirstOrThrow()
    expect(status).toBe('denied')
  })

  it('are counted where somebody looks first', async () => {
    const { db } = console.api.services
    await insertPerson(db, { email: 'mallory@example.com' })
    const device = await insertDevice(db, { ...inOrder() })
    await createSignInMakers(console.api).newSignInApproval('mallory@example.com', device)
    const page = await console.openPage('/')
    await page.getByRole('main').getByRole('link', { name: 'Sign-ins 1' }).click()
    await page.getByText('mallory@example.com').waitFor()
  })

  it('are not said to be all that there are where not all were counted', async () => {
    const page = await (await console.newContext()).newPage()
    const waiting = Array.from({ length: 100 }, () => ({ ways: ['admin_approval'] }))
    const json = { data: waiting, pagination: { next_cursor: 'more' } }
    await page.route('**/sign_in_attempts?*', (route) => route.fulfill({ json }))
    await page.goto('/console/')
    await page.getByRole('main').getByRole('link', { name: 'Sign-ins 100+' }).waitFor()
  })
})

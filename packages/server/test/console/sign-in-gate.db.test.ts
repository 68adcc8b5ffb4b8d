/* Signing in here, as admins set it up: the wizard, an application, upstream providers, the policy, granted sessions. */
import { describe, expect, it } from 'vitest'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
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
    const page = await console.openPage('/settings/sign-in')
    await sendAs(page, 'POST', '/sign_in_upstream_providers', {
      ...{ name: 'Directory', issuer: 'http://127.0.0.1:9', client_id: 'a', client_secret: 'b' },
    })
    await page.goto(`${console.baseUrl}/console/settings/sign-in/new?for=nginx`)
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
    const page = await console.openPage('/settings/sign-in')
    const {
      id,
      issuer,
      client_id: clientId,
    } = await sendAs<Application>(page, 'POST', '/sign_in_applications', {
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
    await page.goto(`/console/settings/sign-in/applications/${id}?tab=test`)
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

it('granted sessions of the console are ended', async () => {
  const { db } = console.api.services
  const person = await insertPerson(db)
  await db
    .insertInto('sign_in_granted_session')
    .values({
      id: crypto.randomUUID(),
      sid: crypto.randomUUID(),
      person_id: person,
      device_id: await insertDevice(db),
      assurance: 'live',
      granted_at: new Date(),
      expires_at: new Date(Date.now() + 3_600_000),
    })
    .execute()
  const page = await console.openPage('/settings/sign-in/sessions')
  await page.getByRole('button', { name: /^End the session of/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
  await page.getByText('No session', { exact: true }).waitFor()
  await page.getByLabel('Ended as well').click()
  await page.getByText('(by an admin)').waitFor()
  await expectAccessible(page)
  await expectFitting(page, 'sign-in-sessions')
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
})

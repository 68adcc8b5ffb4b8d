import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { insertProvider } from '../../src/organisation/admin-oidc/identity-provider-store.ts'
import { insertIdentity } from '../../src/organisation/admin-oidc/identity-store.ts'
import { secretContext } from '../../src/organisation/admin-oidc/provider-gateway.ts'
import { insertPasskey } from '../../src/organisation/admin-sign-in/passkey-store.ts'
import { issueLink } from '../../src/organisation/admin-sign-in/sign-in-link.ts'
import { createAdmin } from '../../src/organisation/admins/create-admin.ts'
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts'
import { createConsoleSession } from '../support/console-session.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests({ HELIOGRAPH_ALLOWED_TARGETS: 'localhost,127.0.0.1' })
let provider: TestIdentityProvider
beforeAll(async () => {
  const { services } = console.api
  provider = await startIdentityProvider(`${console.baseUrl}/console/sign-in/provider`, 'localhost')
  const { issuer, clientId, clientSecret } = provider
  await services.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const names = { firstName: 'Mary', lastName: 'Jackson', access: 'full' } as const
    const admin = await createAdmin(change, { email: 'mary@example.com', ...names })
    await issueLink(change, admin, 'invitation')
    await insertProvider(change.tx, {
      ...{ name: 'Example Login', issuer, client_id: clientId, enabled: true },
      client_secret_sealed: services.sealer.seal(clientSecret, secretContext({ issuer, clientId })),
      created_at: change.at,
      updated_at: change.at,
    })
  })
})
afterAll(async () => {
  await provider.close()
})

async function signIn(): Promise<Page> {
  const page = await console.openPage('/sign-in', null)
  await page.getByRole('button', { name: 'Sign in by Example Login' }).click()
  return page
}

it('signs an invited admin in by the provider, and leaves no code in the address', async () => {
  provider.account = { subject: 'mary', email: 'mary@example.com', email_verified: true }
  const page = await signIn()
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor()
  expect(new URL(page.url()).search).not.toContain('code')
})

it('says why somebody who was not invited is not signed in, and leads back', async () => {
  provider.account = { subject: 'eve', email: 'eve@example.com', email_verified: true }
  const page = await signIn()
  await page.getByText('to whom no invitation is open').waitFor()
  await expectAccessible(page)
  expect(page.url()).toBe(`${console.baseUrl}/console/sign-in/provider`)
  await page.getByRole('link', { name: 'Back to the sign-in' }).click()
  await page.getByRole('button', { name: 'Sign in by Example Login' }).waitFor()
})

it('connects an account as the way to sign in after a one-time link', async () => {
  provider.account = { subject: 'grace' }
  const page = await console.openPage('/sign-in', { isSetupPending: true })
  await page.getByRole('button', { name: 'Connect Example Login' }).click()
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor()
})

it('connects and disconnects the own account, but not as the last way to sign in', async () => {
  provider.account = { subject: 'joan' }
  const { db } = console.api.services
  const { adminId } = await createConsoleSession(db)
  const page = await console.openPage('/settings/account', { adminId })
  await page.getByText('Not connected.').waitFor()
  await page.getByRole('button', { name: 'Connect Example Login' }).click()
  const own = page.getByRole('region', { name: 'Identity provider' })
  await own.getByRole('button', { name: 'Disconnect' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Disconnect account' }).click()
  await dialog.getByRole('alert').waitFor()
  await insertPasskey(db, {
    ...{ adminId, name: 'Key', credentialId: Buffer.from('joan'), publicKey: Buffer.from('key') },
    ...{ counter: '0', transports: [], isBackedUp: false },
  })
  await dialog.getByRole('button', { name: 'Disconnect account' }).click()
  await own.getByText('Not connected.').waitFor()
})

it('says what was not connected, and leads back to the account', async () => {
  provider.account = { subject: 'taken' }
  const { db } = console.api.services
  const { adminId } = await createConsoleSession(db)
  const taken = { adminId, issuer: provider.issuer, subject: 'taken', createdAt: new Date() }
  await insertIdentity(db, taken)
  const page = await console.openPage('/settings/account')
  await page.getByRole('button', { name: 'Connect Example Login' }).click()
  await page.getByRole('heading', { name: 'Your account is not connected' }).waitFor()
  await page.getByRole('link', { name: 'Back to where you were' }).click()
  await page.getByText('Not connected.').waitFor()
})

it('names the field of the set-up that is wrong, and asks before another issuer counts', async () => {
  const page = await console.openPage('/settings/identity-provider')
  await page.getByText(`${console.baseUrl}/console/sign-in/provider`).waitFor()
  await page.getByRole('textbox', { name: 'Issuer' }).fill(`${provider.issuer}/elsewhere`)
  const secret = page.getByLabel('Client secret')
  await secret.fill('wrong')
  const check = page.getByRole('button', { name: 'Check' })
  await check.click()
  await page.getByText('There is no OpenID Connect document').waitFor()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('dialog').getByText(`connected to ${provider.issuer},`).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('textbox', { name: 'Issuer' }).fill(provider.issuer)
  await check.click()
  await page.getByText('does not accept the client ID with this secret').waitFor()
  await secret.fill(provider.clientSecret)
  await check.click()
  await page.getByText('Everything fits').waitFor()
})

it('says what groups decide, and keeps what was saved', async () => {
  const page = await console.openPage('/settings/identity-provider')
  await page.getByLabel('Group claim').fill('groups')
  await page.getByText('No group is named: nobody can sign in').waitFor()
  await expectAccessible(page)
  await expectFitting(page, 'identity-provider')
  await page.getByLabel('Groups with Full Access').fill('security\nplatform')
  await page.getByText('No group is named: nobody can sign in').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('The identity provider was saved').waitFor()
  await page.reload()
  await expect
    .poll(() => page.getByLabel('Groups with Full Access').inputValue())
    .toBe('security\nplatform')
  await page.getByLabel('Group claim').fill('')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('The identity provider was saved').waitFor()
})

it('is switched off, removed and set up anew', async () => {
  const page = await console.openPage('/settings/identity-provider')
  await page.getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
  await page.getByText('Off: nobody signs in by it.').waitFor()
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove provider' }).click()
  const setUp = page.getByRole('button', { name: 'Set up' })
  await setUp.waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('Example Login')
  await page.getByLabel('Issuer').fill(provider.issuer)
  await page.getByLabel('Client ID').fill(provider.clientId)
  await page.getByLabel('Client secret').fill(provider.clientSecret)
  await setUp.click()
  await page.getByText(/^On\. \d admins? connected/).waitFor()
})

import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { insertProvider } from '../../src/organisation/admin-oidc/identity-provider-store.ts'
import { secretContext } from '../../src/organisation/admin-oidc/provider-gateway.ts'
import { issueLink } from '../../src/organisation/admin-sign-in/sign-in-link.ts'
import { createAdmin } from '../../src/organisation/admins/create-admin.ts'
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts'
import { expectAccessible, openConsole, type ConsoleTest } from './support/open-console.ts'

let console: ConsoleTest
let provider: TestIdentityProvider
beforeAll(async () => {
  console = await openConsole({ HELIOGRAPH_ALLOWED_TARGETS: 'localhost,127.0.0.1' })
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
afterEach(() => expect(console.complaints).toEqual([]))
afterAll(async () => {
  await provider.close()
  await console.close()
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

import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { issueLink } from '../../src/organisation/admin-sign-in/sign-in-link.ts'
import { createAdmin } from '../../src/organisation/admins/create-admin.ts'
import {
  expectAccessible,
  expectFitting,
  openConsole,
  type ConsoleTest,
} from './support/open-console.ts'

let console: ConsoleTest
beforeAll(async () => {
  console = await openConsole()
})
afterEach(() => expect(console.complaints).toEqual([]))
afterAll(() => console.close())

let count = 0
async function newLink(): Promise<string> {
  count += 1
  const { token } = await console.api.services.runChange(
    { actor: SYSTEM_ACTOR },
    async (change) => {
      const admin = await createAdmin(change, {
        email: `invited-${count}@example.com`,
        firstName: 'Mary',
        lastName: 'Jackson',
        access: 'full',
      })
      return issueLink(change, admin, 'invitation')
    },
  )
  return token
}

/** A passkey in the browser's memory that always finds its owner there. */
async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

describe('signing in', () => {
  it('takes a link once, asks for a passkey, and signs in by it', async () => {
    const page = await (await console.newContext(null)).newPage()
    await addAuthenticator(page)
    await page.goto(`/console/sign-in#token=${await newLink()}`)
    await page.getByText('signs you in as Mary Jackson').waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-link')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'How will you sign in next time?' }).waitFor()
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Mary Jackson' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor()
  })

  it('says of a link that was used how to get another', async () => {
    const page = await console.openPage(
      '/sign-in#token=Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCB0b2tlbi4',
      null,
    )
    await page.getByText('This link is not good any more').waitFor()
    await page.getByText('heliograph admins link').waitFor()
    await expectFitting(page, 'sign-in-used-link')
  })

  it('leads back to where the admin wanted to go', async () => {
    const page = await console.openPage('/devices?query=name~"x"', null)
    await page.waitForURL(/sign-in\?next=/)
    expect(new URL(page.url()).searchParams.get('next')).toContain('/console/devices?query=')
  })
})

import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { AuthenticatorApp } from '../support/authenticator-app.ts'
import { addAuthenticator } from './support/add-authenticator.ts'
import { inviteAdmin } from './support/invite-admin.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests()

const PASSWORD = 'twelve violet lanterns adrift'

/** The key that the page shows, as an app that it is typed into. */
async function readApp(page: Page): Promise<AuthenticatorApp> {
  const copy = page.getByRole('button', { name: /^Copy ([A-Z2-7]{4} ){7}[A-Z2-7]{4}$/ })
  const label = (await copy.getAttribute('aria-label')) ?? ''
  return new AuthenticatorApp(label.replace('Copy', '').replaceAll(' ', ''), systemClock)
}

async function signInByPassword(page: Page, email: string, code: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel(/^Password/).fill(PASSWORD)
  await page.getByLabel('Code of your authenticator app').fill(code)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

const invite = () => inviteAdmin(console.api.services.runChange)

describe('signing in', () => {
  it('takes a link once, asks for a passkey, and signs in by it', async () => {
    const page = await (await console.newContext(null)).newPage()
    await addAuthenticator(page)
    await page.goto(`/console/sign-in#token=${(await invite()).token}`)
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

  it('sets a password with an app up after a link, and takes each of its codes once', async () => {
    const page = await (await console.newContext(null)).newPage()
    const { email, token } = await invite()
    await page.goto(`/console/sign-in#token=${token}`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Choose a password and a code instead' }).click()
    await page.getByRole('img', { name: /^QR code/ }).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-set-up-password')
    const app = await readApp(page)
    const submit = page.getByRole('button', { name: 'Set up password and code' })
    await page.getByLabel('New password').fill('password1234')
    await page.getByLabel('The code that the app shows').fill(app.code())
    await submit.click()
    await page.getByText('is guessed easily').waitFor()
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByText('Long enough.').waitFor()
    await page.getByLabel('The code that the app shows').fill(app.wrongCode())
    await submit.click()
    await page.getByText('is not what the app shows now').waitFor()
    const first = app.code()
    await page.getByLabel('The code that the app shows').fill(first)
    await submit.click()
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Mary Jackson' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Use a password and a code' }).click()
    await page.getByLabel('Email').waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'sign-in-password')
    await signInByPassword(page, email, first)
    await page.getByText('was not accepted').waitFor()
    await expectFitting(page, 'sign-in-password-refused')
    await signInByPassword(page, email, app.code(1))
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor()
  })

  it('leads back to where the admin wanted to go', async () => {
    const page = await console.openPage('/devices?query=name~"x"', null)
    await page.waitForURL(/sign-in\?next=/)
    expect(new URL(page.url()).searchParams.get('next')).toContain('/console/devices?query=')
  })
})

describe('the account', () => {
  /** So that the present code of the app is good again, and a step-up needed. */
  async function forgetCodes(): Promise<void> {
    const { db } = console.api.services
    await sql`update admin_password set last_used_step = 0`.execute(db)
    await sql`update admin_session set stepped_up_at = now() - interval '1 hour'`.execute(db)
  }

  it('sets a password up, asks for a code before it changes it, and keeps the last way to sign in', async () => {
    const page = await console.openPage('/settings/account')
    const offers: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('password/options')) offers.push(request.method())
    })
    await page.getByText('No password yet.').waitFor()
    await page.getByRole('button', { name: 'Set up' }).click()
    const setUp = page.getByRole('dialog', { name: 'Password and code' })
    await setUp.getByRole('img', { name: /^QR code/ }).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'account-set-up-password')
    const app = await readApp(page)
    await setUp.getByLabel('New password').fill(PASSWORD)
    await setUp.getByLabel('The code that the app shows').fill(app.code())
    await setUp.getByRole('button', { name: 'Set up password and code' }).click()
    await page.getByRole('button', { name: 'Set up anew' }).waitFor()
    await setUp.waitFor({ state: 'hidden' })
    // The key that was shown is the one that was sent back: none is asked for in its place.
    expect(offers).toEqual(['POST'])

    await forgetCodes()
    await page.getByRole('button', { name: 'Change password' }).click()
    const change = page.getByRole('dialog', { name: 'Change your password' })
    await change.getByLabel('New password').fill('seven copper teapots humming')
    await change.getByRole('button', { name: 'Change password' }).click()
    const stepUp = page.getByRole('dialog', { name: 'Is it you?' })
    const code = stepUp.getByLabel('Code of your authenticator app')
    await code.waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'step-up-by-code')
    await code.fill(app.wrongCode())
    await stepUp.getByRole('button', { name: 'Use the code' }).click()
    await stepUp.getByText('was not accepted').waitFor()
    await code.fill(app.code())
    await stepUp.getByRole('button', { name: 'Use the code' }).click()
    await change.waitFor({ state: 'hidden' })
    await page.getByText('The password was changed').waitFor()

    await page.getByRole('button', { name: 'Remove password' }).click()
    const remove = page.getByRole('dialog', { name: 'Remove your password?' })
    await remove.getByRole('button', { name: 'Remove password' }).click()
    await remove.getByText('the only way in which you can sign in').waitFor()
  })

  it('says of a password that was closed what to do', async () => {
    const page = await console.openPage('/settings/account')
    await page.getByRole('button', { name: 'Set up' }).click()
    const setUp = page.getByRole('dialog', { name: 'Password and code' })
    await setUp.getByLabel('New password').fill(PASSWORD)
    const app = await readApp(page)
    await setUp.getByLabel('The code that the app shows').fill(app.code())
    await setUp.getByRole('button', { name: 'Set up password and code' }).click()
    await page.getByRole('button', { name: 'Set up anew' }).waitFor()
    await sql`update admin_password set wrong_code_count = 20`.execute(console.api.services.db)
    await page.reload()
    await page.getByText('Too many codes were refused').waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'account-closed-password')
  })
})

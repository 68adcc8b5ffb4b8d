/* The page of a one-time link in a real browser: whatever has become of the link, it says so and leads on. */
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { issueFirstAdminLink } from '../../src/organisation/admin-sign-in/sign-in-link.ts'
import { inviteAdmin } from './support/invite-admin.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests()

const BAD = 'This link signs nobody in'
/** As long as one, and of nobody. */
const UNKNOWN = 'Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCB0b2tlbi4'

const invite = () => inviteAdmin(console.api.services.runChange)

async function openLink(token: string): Promise<Page> {
  const page = await (await console.newContext(null)).newPage()
  await page.goto(`/console/sign-in#token=${token}`)
  return page
}

/** The page says in its tab and in its one heading what it is about, and readers of screens begin there. */
async function expectAbout(page: Page, title: string): Promise<void> {
  const heading = page.getByRole('heading', { level: 1 })
  await heading.and(page.getByText(title, { exact: true })).waitFor()
  expect(await heading.count()).toBe(1)
  await expect.poll(() => page.title()).toBe(`${title} · Heliograph`)
  expect(await page.evaluate('document.documentElement.lang')).toBe('en')
  await page.locator('h1:focus').waitFor()
}

describe('the page of a one-time link', () => {
  it('that is good says whom it signs in, and then asks for a way to sign in', async () => {
    const page = await openLink((await invite()).token)
    await expectAbout(page, 'Use your one-time link')
    await page.getByText('signs you in as Mary Jackson').waitFor()
    // The token is in no history.
    expect(new URL(page.url()).hash).toBe('')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expectAbout(page, 'How will you sign in next time?')
  })

  it.each(['used', 'expired', 'unknown', 'cut short'])(
    'that is %s says so and leads to the other ways in',
    async (state) => {
      const token =
        state === 'unknown' ? UNKNOWN : state === 'cut short' ? '' : (await invite()).token
      const { db } = console.api.services
      if (state === 'used') await sql`delete from admin_sign_in_link`.execute(db)
      if (state === 'expired') {
        await sql`update admin_sign_in_link set expires_at = now() - interval '1 minute'`.execute(
          db,
        )
      }
      const page = await openLink(token)
      await expectAbout(page, BAD)
      await page.getByText('heliograph admins link').waitFor()
      if (state === 'used') {
        await expectAccessible(page)
        await expectFitting(page, 'sign-in-bad-link')
      }
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await expectAbout(page, 'Sign in')
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
    },
  )

  it('that is used meanwhile, elsewhere, says so as well', async () => {
    const page = await openLink((await invite()).token)
    await page.getByText('signs you in as Mary Jackson').waitFor()
    await sql`delete from admin_sign_in_link`.execute(console.api.services.db)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expectAbout(page, BAD)
    await page.getByRole('button', { name: 'Sign in another way' }).waitFor()
  })

  it('that is none lets whoever is signed in go on', async () => {
    const page = await console.openPage(`/sign-in#token=${UNKNOWN}`)
    await expectAbout(page, BAD)
    await page.getByRole('link', { name: /^Go on as .*@example.com$/ }).click()
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor()
  })

  it('that could not be looked at is kept, and looked at again', async () => {
    const page = await (await console.newContext(null)).newPage()
    const json = { code: 'unavailable', message: 'The service is busy.' }
    await page.route(
      '**/console/session/link_details',
      (route) => route.fulfill({ status: 503, json }),
      { times: 1 },
    )
    await page.goto(`/console/sign-in#token=${(await invite()).token}`)
    await page.getByText('The service is busy.').waitFor()
    await page.getByRole('heading', { name: 'This could not be loaded', level: 1 }).waitFor()
    expect(await page.title()).toBe('This could not be loaded · Heliograph')
    await page.getByRole('button', { name: 'Try again' }).click()
    await expectAbout(page, 'Use your one-time link')
  })

  it('is taken also by a window that shows the sign-in already', async () => {
    const page = await console.openPage('/sign-in', null)
    await expectAbout(page, 'Sign in')
    const token = (await invite()).token
    await page.evaluate(`location.hash = 'token=${token}'`)
    await expectAbout(page, 'Use your one-time link')
  })

  it('of the first admin asks for nothing but who that is', async () => {
    const { db, runChange } = console.api.services
    await sql`update admin_user set deactivated_at = now()`.execute(db)
    const issued = await runChange({ actor: SYSTEM_ACTOR }, issueFirstAdminLink)
    const page = await openLink(issued?.token ?? '')
    await expectAbout(page, 'Welcome to Heliograph')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Grace')
    expect(await page.getByLabel('First name').inputValue()).toBe('Grace')
  })
})

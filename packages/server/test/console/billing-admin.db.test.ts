/* The console of an admin who is there for the bill alone, in a real browser. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { TestSessionOptions } from '../support/console-session.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests()

/** A page of the console, with the paths of all that was refused to it. */
async function openFor(
  session: TestSessionOptions,
  path: string,
): Promise<{ readonly page: Page; readonly refused: string[] }> {
  const page = await (await console.newContext(session)).newPage()
  const refused: string[] = []
  page.on('response', (response) => {
    if (response.status() === 403) refused.push(new URL(response.url()).pathname)
  })
  await page.goto(`/console${path}`)
  return { page, refused }
}

const openForBilling = (path: string) => openFor({ access: 'billing_only' }, path)

const namesOf = (page: Page, region: string) =>
  page
    .getByRole(region === 'main' ? 'main' : 'navigation')
    .getByRole('link')
    .allInnerTexts()

describe('an admin for billing', () => {
  it('begins where there is something to see, is shown what opens alone, and asks for nothing that is refused', async () => {
    const { page, refused } = await openForBilling('/')
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'billing-settings')
    await page.setViewportSize({ width: 1280, height: 800 })
    expect(await namesOf(page, 'navigation')).toEqual(['Settings'])
    expect(await namesOf(page, 'main')).toEqual([
      expect.stringMatching(/^Organisation/),
      expect.stringMatching(/^Your account/),
    ])
    await page
      .getByRole('main')
      .getByRole('link', { name: /^Organisation/ })
      .click()
    await page.getByRole('heading', { name: 'Organisation', level: 1 }).waitFor()
    expect(await page.getByLabel('Name').isDisabled()).toBe(true)
    await page.getByRole('link', { name: 'Settings', exact: true }).first().click()
    await page
      .getByRole('main')
      .getByRole('link', { name: /^Your account/ })
      .click()
    await page.getByRole('heading', { name: 'Your account', level: 1 }).waitFor()
    await page.getByRole('region', { name: 'Sessions' }).getByText('This session').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('textbox', { name: 'Search or jump to …' }).waitFor()
    expect(refused).toEqual([])
  })

  it('is told on pages of others that they do not open, and these ask for nothing that is refused', async () => {
    const { page, refused } = await openForBilling('/devices')
    const told = page.getByRole('alert').filter({ hasText: 'Your access does not include this' })
    await told.waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'billing-closed')
    for (const path of [
      '/devices/1',
      '/settings/admins',
      '/settings/api-keys/1',
      '/groups/people',
    ]) {
      await page.goto(`/console${path}`)
      await told.waitFor()
    }
    expect(refused).toEqual([])
  })
})

describe('an admin with limited access', () => {
  it('is told on pages that a permission opens that they do not open, and these ask for nothing that is refused', async () => {
    const session = { access: 'limited', restrictions: ['signals', 'webhooks'] } as const
    const { page, refused } = await openFor(session, '/settings/identity-provider')
    const told = page.getByRole('alert').filter({ hasText: 'Your access does not include this' })
    await told.waitFor()
    await page.getByRole('link', { name: 'Settings' }).first().waitFor()
    expect(await page.getByRole('link', { name: 'Developers' }).count()).toBe(0)
    // Nor do they for the moment until the next page is there.
    await page.getByRole('link', { name: 'Devices' }).click()
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
    for (const path of ['/signals/streams', '/signals/clients/1', '/signals/keys']) {
      await page.goto(`/console${path}`)
      await told.waitFor()
    }
    expect(refused).toEqual([])
  })

  it('finds of the tabs for developers those that its access opens', async () => {
    const session = { access: 'limited', restrictions: ['signals'] } as const
    const { page, refused } = await openFor(session, '/settings/developers')
    await page.waitForURL('**/settings/developers/webhooks')
    await page.getByRole('tab', { name: 'Webhooks', selected: true }).waitFor()
    expect(await page.getByRole('tab').allInnerTexts()).toEqual(['Webhooks'])
    await page.goto('/console/settings/developers/nothing')
    await page.waitForURL('**/settings/developers/webhooks')
    await page.goto('/console/settings/developers/api-keys')
    const told = page.getByRole('alert').filter({ hasText: 'Your access does not include this' })
    await told.waitFor()
    expect(refused).toEqual([])
  })

  it('finds the settings that its access opens', async () => {
    const page = await console.openPage('/settings', {
      access: 'limited',
      restrictions: ['sign_in', 'enrollment'],
    })
    await page
      .getByRole('main')
      .getByRole('link', { name: /^Admins/ })
      .waitFor()
    expect(
      await page
        .getByRole('main')
        .getByRole('link', { name: /^Sign-in/ })
        .count(),
    ).toBe(0)
    expect(
      await page
        .getByRole('main')
        .getByRole('link', { name: /^Enrollment/ })
        .count(),
    ).toBe(0)
  })
})

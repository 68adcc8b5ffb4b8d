import { describe, expect, it } from 'vitest'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests()

describe('the admins', () => {
  it('are invited by a link that is shown once, changed, kept out, taken back and removed', async () => {
    const page = await console.openPage('/settings/admins')
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'Actions of Mary Keller' }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await page.getByRole('button', { name: 'Invite admin' }).click()
    const invitation = page.getByRole('dialog', { name: 'Invite an admin' })
    await invitation.locator('input:focus').waitFor()
    await invitation.getByLabel('Email').fill('mary@example.com')
    await invitation.getByLabel('First name').fill('Mary')
    await invitation.getByLabel('Last name').fill('Keller')
    await invitation.getByRole('checkbox', { name: 'Webhooks' }).check()
    await expectFitting(page, 'admins-invite')
    await invitation.getByRole('button', { name: 'Invite admin' }).click()

    const shown = page.getByRole('dialog', { name: 'The sign-in link of Mary Keller' })
    await shown.getByRole('button', { name: /^Reveal/ }).click()
    const link = (await shown.getByText(/#token=/).textContent()) ?? ''
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByText('Invited', { exact: true }).waitFor()
    const invited = await (await console.newContext(null)).newPage()
    await invited.goto(link)
    await invited.getByText('Mary Keller').waitFor()
    await invited.getByRole('button', { name: 'Sign in' }).click()
    await invited.getByRole('heading', { name: 'How will you sign in next time?' }).waitFor()

    await page.getByRole('link', { name: 'Mary Keller' }).click()
    await page.getByRole('heading', { name: 'Mary Keller', level: 1 }).waitFor()
    await page.getByText('Cannot see or manage webhooks').waitFor()
    await page.getByRole('cell', { name: 'One-time link' }).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'admin')
    await page.getByRole('button', { name: 'End all sessions' }).click()
    await page.getByRole('button', { name: 'End sessions' }).click()
    await page.getByText('They are signed in nowhere.').waitFor()
    await invited.reload()
    await invited.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()

    await choose('Change access')
    const change = page.getByRole('dialog', { name: 'Change Mary Keller' })
    await change.getByRole('radio', { name: 'Full Access' }).check()
    await change.getByText('they sign in again').waitFor()
    await change.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Full Access', { exact: true }).waitFor()

    await choose('New sign-in link')
    await page.getByRole('button', { name: 'Make the link' }).click()
    await shown.getByText(/good once, until/).waitFor()
    await page.getByRole('button', { name: 'I have stored it' }).click()

    await choose('Deactivate')
    await page.getByText('Their sessions and links end at once.').waitFor()
    await page.getByRole('button', { name: 'Deactivate admin' }).click()
    await page.getByText('Deactivated', { exact: true }).first().waitFor()
    await choose('Take back')
    await page.getByRole('button', { name: 'Take admin back' }).click()
    await page.getByText('No way in', { exact: true }).waitFor()
    await choose('Remove')
    await page.getByRole('button', { name: 'Remove admin' }).click()
    await page.getByRole('heading', { name: 'Admins', level: 1 }).waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Mary Keller' }).count()).toBe(0)
  })

  it('are within reach on a narrow screen', async () => {
    const page = await console.openPage('/settings/admins')
    const actions = page.getByRole('button', { name: 'Actions of Ada Lovelace' }).first()
    await actions.waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    await actions.click()
    const refused = page.getByRole('menuitem', { name: 'New sign-in link' })
    await expect
      .poll(() => page.getByRole('menuitem', { name: 'Deactivate' }).isVisible())
      .toBe(true)
    await expectFitting(page, 'admins-menu')
    expect(await refused.isVisible()).toBe(true)
  })

  it('are shown to whoever may not manage them, with the reason', async () => {
    const page = await console.openPage('/settings/admins', { access: 'limited' })
    const invite = page.getByRole('button', { name: 'Invite admin' })
    await page.getByRole('button', { name: 'Actions of Ada Lovelace' }).first().click()
    await page.getByText('Your access does not include managing admins.').waitFor()
    expect(await page.getByRole('menuitem', { name: 'Remove' }).isEnabled()).toBe(false)
    expect(await invite.isEnabled()).toBe(false)
    expect(await invite.getAttribute('title')).toBe('Your access does not include managing admins.')
  })
})

import { describe, expect, it } from 'vitest'
import { consoleForTests } from './support/open-console.ts'

const console = consoleForTests()

describe('the settings', () => {
  it('create a key by the keyboard alone, and show its secret once', async () => {
    const page = await console.openPage('/settings/developers/api-keys', {})
    const create = page.getByRole('button', { name: 'Create New Key' })
    await create.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Create a new key' }).locator('input:focus').waitFor()
    await page.keyboard.type('Ticket robot')
    // The admin who is signed in is proposed; the next is the end of the key. A browser leaves a date some time after
    // the key was pressed: what follows is reached by its name, or that would take the focus away again.
    for (const next of ['Responsible admin', 'Expires']) {
      await page.keyboard.press('Tab')
      await page.locator(':focus').and(page.getByLabel(next)).waitFor()
    }
    const permission = page.getByLabel('Refresh Check', { exact: true })
    await permission.focus()
    await page.keyboard.press('Space')
    const reason = page.getByLabel('Why the key needs it: Refresh Check')
    await reason.waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Say why the key needs this.').waitFor()
    await reason.focus()
    await page.keyboard.type('It asks again after a repair.')
    await page.keyboard.press('Enter')
    const issued = page.getByRole('dialog', { name: 'The secret of Ticket robot' })
    // Nothing leads away from what is shown once, unless the admin says so.
    await issued.locator(':focus').waitFor()
    await page.keyboard.press('Control+k')
    const asking = page.waitForEvent('dialog')
    await page.evaluate('void setTimeout(() => location.reload())')
    const asked = await asking
    expect(asked.type()).toBe('beforeunload')
    await asked.dismiss()
    await issued.getByRole('button', { name: /^Reveal/ }).click()
    const secret = await issued.getByText(/^k2sk_v1_/).textContent()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('link', { name: 'Ticket robot' }).waitFor()
    const answer = await fetch(`${console.baseUrl}/whoami`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    expect(answer.status).toBe(200)
    await page.getByRole('link', { name: 'Ticket robot' }).click()
    await page.getByText('It asks again after a repair.').waitFor()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await page.getByText('Revoked', { exact: true }).first().waitFor()
    const refused = await fetch(`${console.baseUrl}/whoami`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    expect(refused.status).toBe(401)
  })

  it('ask before a switch goes off, and say what that does', async () => {
    const page = await console.openPage('/settings/organisation')
    await page.getByLabel('API keys may write').click()
    const dialog = page.getByRole('dialog', { name: 'Switch off: API keys may write?' })
    await dialog.getByText('every key only reads').waitFor()
    await dialog.getByRole('button', { name: 'Switch off' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await expect.poll(() => page.getByLabel('API keys may write').isChecked()).toBe(false)
    await page.getByLabel('API keys may write').click()
    await expect.poll(() => page.getByLabel('API keys may write').isChecked()).toBe(true)
  })

  it('give an enrollment secret, show it once, and end it', async () => {
    const page = await console.openPage('/settings/enrollment')
    await page.getByRole('button', { name: 'Create secret' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create an enrollment secret' })
    await dialog.getByLabel('Name').fill('Berlin office')
    await dialog.getByRole('button', { name: 'Create secret' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByTestId('rows').getByText('Berlin office').waitFor()
    await page.getByRole('button', { name: 'End', exact: true }).first().click()
    await page.getByRole('button', { name: 'End secret' }).click()
    await page.getByText('Ended', { exact: true }).waitFor()
  })

  it('show an admin with billing access only what that opens', async () => {
    const page = await console.openPage('/settings/developers/api-keys', { access: 'billing_only' })
    await page.getByRole('alert').getByText('Your access does not include this').waitFor()
    expect(await page.getByRole('button', { name: 'Create New Key' }).count()).toBe(0)
  })
})

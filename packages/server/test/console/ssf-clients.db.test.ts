import { describe, expect, it } from 'vitest'
import { consoleForTests } from './support/open-console.ts'
import { sendAs } from './support/send-as.ts'

const POLL = 'urn:ietf:rfc:8936'

const console = consoleForTests()

describe('the SSF clients of the console', () => {
  it('creates one, rotates its secret, changes and revokes it', async () => {
    const page = await console.openPage('/signals/clients')
    await page.getByRole('button', { name: 'Create client' }).first().click()
    await page.getByLabel('Name').fill('Gateway')
    await page.getByLabel('Public keys (JWKS)').fill('{}')
    await page.getByRole('button', { name: 'Create client' }).click()
    await page.getByText('This is not a JSON object with a member keys.').waitFor()
    await page.getByLabel('Public keys (JWKS)').fill('')
    await page.getByRole('button', { name: 'Create client' }).click()
    await page.getByRole('dialog').getByText('Token endpoint').waitFor()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByText('It can sign in, and has never done so.').waitFor()

    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await expect.poll(() => page.getByRole('row').count()).toBe(3)

    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Name').fill('Gateway of the office')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('heading', { name: 'Gateway of the office', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Revoke client' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/^Type/).fill('Gateway of the office')
    await dialog.getByRole('button', { name: 'Revoke client' }).click()
    await page.getByText('It is revoked and cannot sign in any more.').waitFor()
  })
})

describe('the signing keys of the console', () => {
  it('rotates, rolls back and revokes', async () => {
    const page = await console.openPage('/signals/keys')
    await page.getByText('It signs the events of every stream.').waitFor()
    for (const name of ['First door', 'Last door']) {
      await sendAs(page, 'POST', '/ssf_streams', { name, delivery: { method: POLL } })
    }
    // However many pages the streams are.
    await page.route('**/ssf_streams?per_page=100**', (route) =>
      route.continue({ url: route.request().url().replace('per_page=100', 'per_page=1') }),
    )
    await page.getByRole('button', { name: 'Rotate key' }).click()
    const canaries = page.getByRole('dialog').getByRole('combobox')
    await canaries.fill('last')
    await page.getByRole('option', { name: 'Last door' }).waitFor()
    expect(await page.getByRole('option', { name: 'First door' }).count()).toBe(0)
    await canaries.fill('')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
    await page.getByText('It does not sign for everybody yet.').waitFor()
    await page.getByRole('button', { name: 'Roll back' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
    await page.getByText('The key before it signs again.').waitFor()
    const revoke = page.getByRole('button', { name: /^Revoke key/ }).first()
    const kid = (await revoke.getAttribute('aria-label'))?.replace('Revoke key ', '') ?? ''
    await revoke.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/^Type/).fill(kid.slice(0, 8))
    await dialog.getByRole('button', { name: 'Revoke signing key' }).click()
    await page.getByText('It was compromised, and is not published any more.').waitFor()
  })
})

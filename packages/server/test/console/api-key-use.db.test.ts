import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { createKeyUsageRecorder } from '../../src/organisation/api-keys/key-usage-recorder.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createTestKey } from '../support/api-keys.ts'
import { consoleForTests, expectFitting } from './support/open-console.ts'

const console = consoleForTests()
let keyId: string
/** What the form asks for before anything is typed. */
const isFirstList = ({ pathname, searchParams }: URL) =>
  pathname.endsWith('/admin_users') && !searchParams.has('query')

/** Goes on typing in what has the focus, so quickly that what is typed is looked for only when it ends. */
const TYPE_ON = `{
  const input = document.activeElement
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
  const type = (text) => {
    set.call(input, input.value + text)
    input.dispatchEvent(new Event('input', { bubbles: true }))
  }
  input.select()
  set.call(input, '')
  type('nobody')
  globalThis.typing = setInterval(() => type('y'), 20)
}`

beforeAll(async () => {
  const { db } = console.api.services
  await createTestKey(console.api.services, ['Refresh Check'])
  const key = db.selectFrom('api_key').select('id').orderBy('id', 'desc')
  keyId = (await key.executeTakeFirstOrThrow()).id
  const recorder = createKeyUsageRecorder(db, systemClock, console.api.services.network.closed)
  const use = (permission: string, isAllowed: boolean, operation: string) =>
    recorder.recordPermissionUse({ keyId, permission, isAllowed, operation })
  for (let times = 0; times < 3; times += 1) use('Remove Devices', false, 'DELETE /devices/{id}')
  for (let times = 0; times < 7; times += 1) {
    use('Refresh Check', true, 'POST /devices/{id}/check_refreshes')
  }
  await recorder.flush()
})

describe('the page of a key', () => {
  it('shows what it was refused, and what other permissions would refuse before they are saved', async () => {
    const page = await console.openPage(`/settings/api-keys/${keyId}`)
    const refused = page.getByRole('row', { name: /Remove Devices/ })
    await refused.getByRole('cell', { name: 'DELETE /devices/{id}' }).waitFor()
    await refused.getByRole('cell', { name: '3', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input:focus').waitFor()
    await dialog.getByText('3 requests of the last 30 days would be refused').waitFor()
    await dialog.getByRole('checkbox', { name: 'Refresh Check' }).uncheck()
    await dialog.getByText('10 requests of the last 30 days would be refused').waitFor()
    await dialog.getByText('Refresh Check: 7 requests').waitFor()
    await expectFitting(page, 'api-key-tried')
    await dialog.getByRole('checkbox', { name: 'Refresh Check' }).check()
    await dialog.getByRole('checkbox', { name: 'Remove Devices' }).check()
    await dialog.getByText(/nothing that it asked for .* would be refused/).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('A test.').waitFor()
  })

  it('keeps what is typed of who answers for it, although the first list comes later', async () => {
    const page = await console.openPage(`/settings/api-keys/${keyId}`)
    const { promise: isTyping, resolve: release } = Promise.withResolvers<undefined>()
    await page.route(isFirstList, async (route) => {
      const response = await route.fetch()
      await isTyping
      await route.fulfill({ response })
    })
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input:focus').waitFor()
    const responsible = dialog.getByRole('combobox', { name: 'Responsible admin' })
    await responsible.focus()
    await page.evaluate(TYPE_ON)
    release(undefined)
    // The admins of the first list stand below what is typed, until that is looked for.
    await page.getByRole('option').first().waitFor()
    await page.evaluate('clearInterval(globalThis.typing)')
    await page.getByText('No admin with Full Access of that name').waitFor()
    expect(await responsible.inputValue()).toMatch(/^nobody+$/)
  })

  it('finds who answers for it, however many admins there are', async () => {
    await sql`insert into admin_user
        (email, first_name, last_name, access, created_at, updated_at)
      select 'admin' || number || '@example.com', 'Admin', 'Number' || number, 'full', now(), now()
      from generate_series(1, 120) as number`.execute(console.api.services.db)
    const page = await console.openPage(`/settings/api-keys/${keyId}`)
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input:focus').waitFor()
    const responsible = dialog.getByRole('combobox', { name: 'Responsible admin' })
    await responsible.fill('number120')
    await page.getByRole('option', { name: 'Admin Number120 (admin120@example.com)' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('admin120@example.com').waitFor()
  })
})

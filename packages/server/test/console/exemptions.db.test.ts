/* An exemption that an admin asks for, for a person who cannot, from the page of an issue. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { createTestKey } from '../support/api-keys.ts'
import { insertPerson } from '../support/factories.ts'
import { createPosture, FAIL } from '../support/posture-fixtures.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests()
let personId: string
/** The issues by the name of their check. */
const issues: Record<string, string> = {}

beforeAll(async () => {
  const { db } = console.api.services
  personId = await insertPerson(db, { name: 'Ada Lovelace', email: 'ada@example.com' })
  await db.updateTable('posture_check').set({ paused_at: new Date() }).execute()
  const posture = createPosture(db, new Date().toISOString())
  const device = await posture.insertDevice({
    name: 'ada-macbook',
    owner_person_id: personId,
    registered_at: new Date('2026-01-10T00:00:00Z'),
  })
  const names = ['Firewall', 'Disk', 'Password', 'Updates', 'Screen lock', 'Browser', 'Backup']
  for (const name of names) {
    const checkId = await posture.insertCheck({
      name,
      platforms: ['darwin'],
      exemptions_disallowed: name === 'Updates',
    })
    await posture.report(device, { [checkId]: FAIL })
    const issue = db.selectFrom('issue').select('id').where('check_id', '=', checkId)
    issues[name] = (await issue.executeTakeFirstOrThrow()).id
  }
  await resolveIssue('Disk')
})

async function resolveIssue(name: string): Promise<void> {
  const id = issues[name] ?? ''
  const { db, runChange } = console.api.services
  await db.updateTable('issue').set({ resolved_at: new Date() }).where('id', '=', id).execute()
  await runChange({ actor: SYSTEM_ACTOR }, async (change) => change.markChanged(`issues:${id}`))
}

const askButtonOf = (page: Page) => page.getByRole('button', { name: 'Ask for an exemption' })

/** The page of an issue, with the dialog in which a reason is typed. */
async function openDialog(page: Page, why: string): Promise<Locator> {
  await askButtonOf(page).click()
  const dialog = page.getByRole('dialog', { name: 'Ask for an exemption' })
  await dialog.getByLabel('Why').fill(why)
  return dialog
}

const openIssue = (name: string) => console.openPage(`/issues/${issues[name] ?? ''}`)

it('is asked for the owner of the device, and waits among the requests', async () => {
  const page = await openIssue('Firewall')
  const dialog = await openDialog(page, 'The spare part arrives next week.')
  expect(await dialog.getByRole('combobox', { name: 'Person' }).inputValue()).toBe(
    'Ada Lovelace (ada@example.com)',
  )
  await expectAccessible(page)
  await expectFitting(page, 'ask-exemption')
  await dialog.getByLabel('Exemption ends').fill('2099-12-31')
  await dialog.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.waitForURL(/\/requests\?open=/)
  await page.getByRole('dialog').getByText('The spare part arrives next week.').waitFor()
  const { db } = console.api.services
  const requests = await db.selectFrom('exemption_request').selectAll().execute()
  expect(requests).toMatchObject([
    {
      requester_person_id: personId,
      covers_future_issues: false,
      expires_at: new Date('2099-12-31T23:59:59'),
      decided_at: null,
    },
  ])
})

it('is not asked for twice: the issue leads to the request that waits', async () => {
  const page = await openIssue('Firewall')
  await page.getByRole('link', { name: 'An exemption is asked for' }).click()
  await page.waitForURL(/\/requests\?open=/)
  await page.getByRole('dialog').getByText('The spare part arrives next week.').waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'An exemption is asked for' }).waitFor()
  expect(await askButtonOf(page).count()).toBe(0)
})

it('is not offered where the check allows none, and says why', async () => {
  const page = await openIssue('Updates')
  const button = page.getByTitle('The check allows no exemptions.')
  await button.waitFor()
  expect(await button.isDisabled()).toBe(true)
})

it('says what the service refuses, and keeps what was typed', async () => {
  const page = await openIssue('Password')
  const dialog = await openDialog(page, 'Once more.')
  const { services, http } = console.api
  const key = await createTestKey(services, ['Manage User Requests'])
  const headers = { authorization: `Bearer ${key}` }
  const ids = { person_id: personId, issue_ids: [issues['Password']] }
  const payload = { ...ids, requester_message: 'At once.' }
  const answer = await http.inject({ method: 'POST', url: '/exemption_requests', headers, payload })
  expect(answer.statusCode).toBe(200)
  await dialog.getByRole('button', { name: 'Ask', exact: true }).click()
  await dialog.getByText(/is asked for already/).waitFor()
  expect(await dialog.getByLabel('Why').inputValue()).toBe('Once more.')
})

it('says that the person cannot ask any more', async () => {
  const { db } = console.api.services
  const grace = await insertPerson(db, { name: 'Grace Hopper', email: 'grace@example.com' })
  const page = await openIssue('Screen lock')
  const dialog = await openDialog(page, 'A loan.')
  await dialog.getByRole('combobox', { name: 'Person' }).fill('Grace')
  await page.getByRole('option', { name: /Grace Hopper/ }).click()
  const gone = { deprovisioned_at: new Date() }
  await db.updateTable('person').set(gone).where('id', '=', grace).execute()
  await dialog.getByRole('button', { name: 'Ask', exact: true }).click()
  await dialog.getByText(`There is no person ${grace}.`).waitFor()
  expect(await dialog.getByLabel('Why').inputValue()).toBe('A loan.')
})

it('says that the issue is there no more', async () => {
  const id = issues['Browser'] ?? ''
  const page = await openIssue('Browser')
  const dialog = await openDialog(page, 'A loan.')
  await console.api.services.db.deleteFrom('issue').where('id', '=', id).execute()
  await dialog.getByRole('button', { name: 'Ask', exact: true }).click()
  await dialog.getByText(`There is no issue ${id}.`).waitFor()
  expect(await dialog.getByLabel('Why').inputValue()).toBe('A loan.')
})

it('is asked for somebody chosen where the owner cannot be read', async () => {
  const page = await openIssue('Backup')
  await page.route(`**/people/${personId}`, (route) => route.fulfill({ status: 403, json: {} }))
  const dialog = await openDialog(page, 'A loan.')
  const person = dialog.getByRole('combobox', { name: 'Person' })
  expect(await person.inputValue()).toBe('')
  await person.fill('Ada')
  await page.getByRole('option', { name: /Ada Lovelace/ }).click()
  expect(await dialog.getByRole('button', { name: 'Ask', exact: true }).isEnabled()).toBe(true)
})

it('stays with what is typed while the issue is resolved', async () => {
  const page = await openIssue('Backup')
  await page.getByRole('img', { name: /Live/ }).waitFor()
  const dialog = await openDialog(page, 'A loan.')
  await resolveIssue('Backup')
  await page.getByText('What the check found is gone.').waitFor()
  expect(await dialog.getByLabel('Why').inputValue()).toBe('A loan.')
})

it('is not offered of an issue that is resolved, nor to who may not decide requests', async () => {
  const resolved = await openIssue('Disk')
  await resolved.getByText('What the check found is gone.').waitFor()
  expect(await askButtonOf(resolved).count()).toBe(0)
  const page = await console.openPage(`/issues/${issues['Password'] ?? ''}`, {
    access: 'limited',
    restrictions: ['requests'],
  })
  await page.getByTitle('Needs the permission Manage User Requests.').waitFor()
  expect(await askButtonOf(page).isDisabled()).toBe(true)
})

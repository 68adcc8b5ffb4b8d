/* An exemption that an admin asks for, for a person who cannot, from the page of an issue. */
import { beforeAll, expect, it } from 'vitest'
import { insertPerson } from '../support/factories.ts'
import { createPosture, FAIL } from '../support/posture-fixtures.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests()
let issueId: string
let resolvedId: string
let personId: string

beforeAll(async () => {
  const { db } = console.api.services
  personId = await insertPerson(db, { name: 'Ada Lovelace', email: 'ada@example.com' })
  await db.updateTable('posture_check').set({ paused_at: new Date() }).execute()
  const posture = createPosture(db, new Date().toISOString())
  const firewall = await posture.insertCheck({ name: 'Firewall', platforms: ['darwin'] })
  const disk = await posture.insertCheck({ name: 'Disk', platforms: ['darwin'] })
  const device = await posture.insertDevice({
    name: 'ada-macbook',
    owner_person_id: personId,
    registered_at: new Date('2026-01-10T00:00:00Z'),
  })
  await posture.report(device, { [firewall]: FAIL, [disk]: FAIL })
  const findIssue = async (checkId: string) =>
    (
      await db
        .selectFrom('issue')
        .select('id')
        .where('check_id', '=', checkId)
        .executeTakeFirstOrThrow()
    ).id
  issueId = await findIssue(firewall)
  resolvedId = await findIssue(disk)
  await db
    .updateTable('issue')
    .set({ resolved_at: new Date() })
    .where('id', '=', resolvedId)
    .execute()
})

it('is asked for the owner of the device, and waits among the requests', async () => {
  const page = await console.openPage(`/issues/${issueId}`)
  await page.getByRole('button', { name: 'Ask for an exemption' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Why').fill('The spare part arrives next week.')
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

it('says what the service refuses, and keeps what was typed', async () => {
  const page = await console.openPage(`/issues/${issueId}`)
  await page.getByRole('button', { name: 'Ask for an exemption' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Why').fill('Once more.')
  await dialog.getByRole('button', { name: 'Ask', exact: true }).click()
  await dialog.getByText(/is asked for already/).waitFor()
  expect(await dialog.getByLabel('Why').inputValue()).toBe('Once more.')
})

it('is not offered of an issue that is resolved, nor to who may not decide requests', async () => {
  const resolved = await console.openPage(`/issues/${resolvedId}`)
  await resolved.getByText('What the check found is gone.').waitFor()
  expect(await resolved.getByRole('button', { name: 'Ask for an exemption' }).count()).toBe(0)
  const page = await console.openPage(`/issues/${issueId}`, {
    access: 'limited',
    restrictions: ['requests'],
  })
  await expect
    .poll(() => page.getByRole('button', { name: 'Ask for an exemption' }).isDisabled())
    .toBe(true)
})

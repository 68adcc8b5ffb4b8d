/* People, groups and reports in a browser. */
import { beforeAll, describe, it } from 'vitest'
import { insertDevice, insertPerson, insertPersonGroup } from '../support/factories.ts'
import { consoleForTests, expectAccessible } from './support/open-console.ts'

const console = consoleForTests()
let ada: string

beforeAll(async () => {
  const { db } = console.api.services
  ada = await insertPerson(db, { name: 'Ada Lovelace', email: 'ada@example.com' })
  await insertPersonGroup(db, { name: 'Engineering' }, [ada])
  await insertPerson(db, {
    name: 'Gone Person',
    email: 'gone@example.com',
    deprovisioned_at: new Date('2026-01-05T00:00:00Z'),
  })
  await insertDevice(db, {
    name: 'ada-macbook',
    owner_person_id: ada,
    registered_at: new Date('2026-01-10T00:00:00Z'),
  })
  await insertDevice(db, { name: 'bo-laptop', platform: 'linux' })
})

describe('people', () => {
  it('are listed and shown with their devices and groups', async () => {
    const page = await console.walkTo('/people')
    await page.getByRole('link', { name: 'Ada Lovelace' }).click()
    await page.getByRole('link', { name: 'ada-macbook' }).waitFor()
    await page.getByText('Engineering').waitFor()
  })

  it('are not said to be in no group where that could not be read', async () => {
    const page = await console.openPage('/people')
    await page.route('**/people/*/person_groups*', (route) =>
      route.fulfill({ status: 409, json: { code: 'conflict', message: 'Not these.' } }),
    )
    await page.getByRole('link', { name: 'Ada Lovelace' }).click()
    await page.getByRole('region', { name: 'Groups' }).getByText('Not these.').waitFor()
  })

  it('who have been deprovisioned have a list of their own', async () => {
    const page = await console.walkTo('/people')
    await page.getByRole('link', { name: 'Deprovisioned' }).click()
    await page.getByRole('link', { name: 'Gone Person' }).click()
    await page.getByText('Deprovisioned: may sign in nowhere, and owns no device.').waitFor()
    await expectAccessible(page)
  })
})

describe('groups', () => {
  it('of devices are created, filled, edited, emptied and deleted', async () => {
    const page = await console.openPage('/groups')
    await page.getByRole('button', { name: 'New group' }).click()
    await page.getByLabel('Name').fill('Laptops')
    await page.getByRole('button', { name: 'Create group' }).click()
    await page.getByRole('heading', { level: 1, name: 'Laptops' }).waitFor()
    await page.getByRole('button', { name: 'Add devices' }).click()
    await page.getByPlaceholder('Find by name').fill('bo-')
    await page.getByRole('checkbox', { name: 'bo-laptop' }).check()
    await page.getByRole('button', { name: 'Add 1 device' }).click()
    await page.getByRole('link', { name: 'bo-laptop' }).waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Name').fill('Ada’s')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'Ada’s' }).waitFor()
    await page.getByRole('button', { name: 'Remove bo-laptop from the group' }).click()
    const question = page.getByRole('dialog', { name: 'Remove bo-laptop from the group?' })
    await question.getByRole('button', { name: 'Remove device' }).click()
    await page.getByText('No device is in this group').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete group' }).click()
    await page.getByText('No device group').waitFor()
  })

  it('show beside the name what is wrong with it', async () => {
    const page = await console.openPage('/groups')
    for (let time = 0; time < 2; time += 1) {
      await page.getByRole('button', { name: 'New group' }).click()
      await page.getByLabel('Name').fill('Twice')
      await page.getByRole('button', { name: 'Create group' }).click()
      if (time === 0) {
        await page.getByRole('heading', { level: 1, name: 'Twice' }).waitFor()
        await page.getByRole('link', { name: 'Groups' }).first().click()
      }
    }
    await page
      .getByRole('dialog')
      .getByText(/Twice|taken|exists|already/i)
      .first()
      .waitFor()
  })

  it('of people are shown with who is in them', async () => {
    const page = await console.walkTo('/groups/people')
    await page.getByRole('link', { name: 'Engineering' }).click()
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    await expectAccessible(page)
  })
})

describe('reports', () => {
  it('are saved, shown with their results, changed and deleted', async () => {
    const page = await console.openPage('/reports')
    await page.getByRole('button', { name: 'New query' }).click()
    await page.getByLabel('Name').fill('One')
    await page.getByRole('textbox', { name: 'SQL' }).click()
    await page.keyboard.type('select 41 as answer')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: '41' }).waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Name').fill('Another')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'Another' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete query' }).click()
    await page.getByText('No saved query').waitFor()
  })

  it('say why they fail, and are repaired', async () => {
    const other = await console.otherAdmin()
    const { id } = await other.send<{ readonly id: number }>('POST', '/reporting/queries', {
      name: 'Fails',
      sql: 'select 1/0 as x',
    })
    const page = await console.openPage(`/reports/${id}`)
    await page.getByText('division by zero').waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'SQL' }).click()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.press('Delete')
    await page.keyboard.type('select 42 as answer')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: '42' }).waitFor()
  })

  it('name the tables that there are, and their rows', async () => {
    const page = await console.walkTo('/reports/tables')
    await page.getByRole('link', { name: 'apps' }).click()
    await page.getByText('No row matches').waitFor()
    await expectAccessible(page)
  })
})

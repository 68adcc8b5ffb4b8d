/* What needs attention now, and the checks, in a real browser. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  insertCheck,
  insertDevice,
  insertIssue,
  insertPerson,
  insertReenrollmentRequest,
} from '../support/factories.ts'
import {
  expectAccessible,
  expectFitting,
  openConsole,
  type ConsoleTest,
} from './support/open-console.ts'

const HOUR_MS = 3_600_000

let console: ConsoleTest
let checkId: string

beforeAll(async () => {
  console = await openConsole()
  const { services } = console.api
  const { db, clock } = services
  const owner = await insertPerson(db, { name: 'Grace Hopper' })
  const soon = new Date(clock.now().getTime() + 30 * HOUR_MS)
  const device = await insertDevice(db, {
    name: 'grace-mac',
    auth_state: 'Will Block',
    will_block_at: soon,
    owner_person_id: owner,
    registered_at: clock.now(),
  })
  await insertDevice(db, { name: 'old-mac', auth_state: 'Blocked' })
  const check = await insertCheck(db, { remediation_strategy: 'warn_then_block' })
  const now = clock.now()
  await db
    .insertInto('check_result')
    .values({
      device_id: device,
      check_id: check,
      status: 'failing',
      revision: 1,
      ran_at: now,
      status_changed_at: now,
      updated_at: now,
    })
    .execute()
  await insertIssue(db, { check_id: check, device_id: device, blocks_device_at: soon })
  for (let index = 0; index < 3; index += 1) await insertReenrollmentRequest(db, device)
  checkId = check
})
afterEach(() => expect(console.complaints).toEqual([]))
afterAll(() => console.close())

describe('the page of what needs attention now', () => {
  it('says who is and who will be blocked, and leads to each list with its filter', async () => {
    const page = await console.openPage('/')
    await page.getByText('1 device cannot sign in').waitFor()
    await page.getByRole('link', { name: /grace-mac/ }).waitFor()
    await page.getByRole('link', { name: /Will Block 1/ }).click()
    await page.waitForURL(/devices\?query=auth_state/)
    await page.goBack()
    await page.getByRole('link', { name: /Re-enrollments/ }).click()
    await page.waitForURL(/requests\?kind=reenrollment/)
  })

  it('keeps the time span in the address, fits and hinders nobody', async () => {
    const page = await console.openPage('/')
    await page.getByText('24 hours').click()
    await page.waitForURL(/range=day/)
    await expectAccessible(page)
    await expectFitting(page, 'now')
  })
})

describe('checks', () => {
  it('are narrowed in the address and lead to their page', async () => {
    const page = await console.openPage('/checks')
    await page.getByPlaceholder('Find a check').fill('firew')
    await page.waitForURL(/name=firew/)
    await expectAccessible(page)
    await expectFitting(page, 'checks')
    await page.goto(`/console/checks/${checkId}`)
    await page.getByRole('heading', { name: 'What the owner of a device reads' }).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'check')
  })
})

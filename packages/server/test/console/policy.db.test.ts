/*
 * The pages of policy in a real browser: what needs attention now, checks and their strategy, drafts, issues,
 * requests, sign-ins and the audit log, each with what can be done on it, and refusals.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { createAuditChainer } from '../../src/changes/audit/chain/audit-chainer.ts'
import { signCheckpoint } from '../../src/changes/audit/checkpoints/sign-checkpoint.ts'
import {
  insertAuthLogSession,
  insertCheck,
  insertDevice,
  insertIssue,
  insertPerson,
  insertReenrollmentRequest,
} from '../support/factories.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const HOUR_MS = 3_600_000
const FIX =
  "{% case device.platform %}{% when 'darwin' %}\n1. Open **System Settings**.\n{% when 'windows' %}\n1. Open **Settings**.\n{% endcase %}"

const console = consoleForTests()
let ids: Record<'check' | 'device' | 'issue' | 'signIn' | 'entry', string>

beforeAll(async () => {
  const { services } = console.api
  const { db, clock, runChange } = services
  const owner = await insertPerson(db, { name: 'Grace Hopper' })
  const soon = new Date(clock.now().getTime() + 30 * HOUR_MS)
  const device = await insertDevice(db, {
    name: 'grace-mac',
    auth_state: 'Will Block',
    will_block_at: soon,
    owner_person_id: owner,
    registered_at: clock.now(),
  })
  const blocked = await insertDevice(db, { name: 'old-mac', auth_state: 'Blocked' })
  const check = await insertCheck(db, {
    remediation_strategy: 'warn_then_block',
    queries: JSON.stringify({ darwin: 'select 1' }),
    platforms: ['darwin', 'windows'],
    rationale_template: 'Whoever finds {{ device.name }} reads {{ issue.value.path | code }}.',
    fix_instructions_template: FIX,
  })
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
  const issue = await insertIssue(db, {
    check_id: check,
    device_id: device,
    value: JSON.stringify({ KOLIDE_CHECK_STATUS: 'FAIL', state: 'off <script>alert(1)</script>' }),
    blocks_device_at: soon,
  })
  const signIn = await insertAuthLogSession(db, {
    person_name: 'Grace Hopper',
    started_at: clock.now(),
    device_id: blocked,
    result: 'Fail',
  })
  for (let index = 0; index < 3; index += 1) await insertReenrollmentRequest(db, device)
  await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    change.recordAudit({
      action: 'device.renamed',
      target: { type: 'device', id: device },
      description: 'renamed the device alpha to grace-mac',
      before: { name: 'alpha' },
      after: { name: 'grace-mac' },
    }),
  )
  await createAuditChainer(db, { logError: () => undefined }).flush()
  await signCheckpoint({ ...services, baseUrl: console.baseUrl, folder: '/nonexistent' })
  const { sequence: entry } = await db
    .selectFrom('audit_entry')
    .select('sequence')
    .where('action', '=', 'device.renamed')
    .executeTakeFirstOrThrow()
  ids = { check, device, issue, signIn, entry }
})

describe('the page of what needs attention now', () => {
  it('says who is and who will be blocked, and leads to each list with its filter', async () => {
    const page = await console.walkTo('/')
    await page.getByText('1 device cannot sign in').waitFor()
    await page.getByRole('link', { name: /grace-mac/ }).waitFor()
    await page.getByRole('link', { name: /Will Block 1/ }).click()
    await page.waitForURL(/devices\?query=auth_state/)
    await page.goBack()
    await page.getByRole('link', { name: /Re-enrollments/ }).click()
    await page.waitForURL(/requests\?kind=reenrollment/)
  })

  it('keeps the time span in the address, fits and hinders nobody', async () => {
    const page = await console.walkTo('/')
    await page.getByText('24 hours').click()
    await page.waitForURL(/range=day/)
  })
})

describe('checks', () => {
  it('are narrowed in the address and lead to their page', async () => {
    const page = await console.walkTo('/checks')
    await page.getByPlaceholder('Find a check').fill('firew')
    await page.waitForURL(/name=firew/)
    await console.walkTo(`/checks/${ids.check}`)
    await page.getByRole('heading', { name: 'What the owner of a device reads' }).waitFor()
  })

  it('show what the owner of a device reads, as it is read on each platform', async () => {
    const page = await console.walkTo(`/checks/${ids.check}`)
    const reads = page.getByRole('region', { name: 'What the owner of a device reads' })
    await reads.getByText('Whoever finds [device name] reads [path].').waitFor()
    await reads.getByText('Open System Settings.').waitFor()
    await reads.getByText('Windows', { exact: true }).click()
    await reads.getByText('Open Settings.').waitFor()
    expect(await reads.innerText()).not.toMatch(/System Settings|\{[{%]/)
  })

  it('show a text that cannot be filled in as it was written, and say what is wrong with it', async () => {
    const { db } = console.api.services
    const check = await insertCheck(db, { rationale_template: '{{ device.name | nothing }}' })
    const page = await console.walkTo(`/checks/${check}`)
    await page.getByText('The template cannot be read: undefined filter: nothing').waitFor()
    await page.getByLabel('Why it matters').getByText('{{ device.name | nothing }}').waitFor()
  })

  it('show what devices answered', async () => {
    const page = await console.walkTo(`/checks/${ids.check}/results`)
    await page.getByText('grace-mac').waitFor()
    await page.getByRole('tab', { name: 'Results' }).waitFor()
    await page.getByText('Failing', { exact: true }).first().click()
    await page.waitForURL(/query=/)
    await page.getByRole('cell', { name: 'Failing' }).click()
    await page.getByText('The check answered no row.').waitFor()
  })

  it('tell who would move before a strategy is saved, keep the change and take it back', async () => {
    const page = await console.openPage(`/checks/${ids.check}/strategy`)
    await page.getByLabel('Notify only').check()
    await page.getByRole('heading', { name: 'What saving would do' }).waitFor()
    await page.getByText('Blocked within 7 days').waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'check-strategy')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('The strategy is saved.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('dialog').getByText('remediation_strategy').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('The strategy is as it was before.').waitFor()
    const { remediation_strategy: strategy } = await console.api.services.db
      .selectFrom('posture_check')
      .select('remediation_strategy')
      .where('id', '=', ids.check)
      .executeTakeFirstOrThrow()
    expect(strategy).toBe('warn_then_block')
  })

  it('are written as drafts, which say what is missing, are saved and deleted', async () => {
    const page = await console.openPage('/checks/drafts')
    await page.getByRole('button', { name: 'New draft' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Screen lock')
    await page.getByRole('dialog').getByRole('button', { name: 'New draft' }).click()
    await page.getByRole('heading', { name: 'Screen lock', level: 1 }).waitFor()
    await page.getByText('Missing').first().waitFor()
    await page.getByText('How to fix it: Must not be empty.').waitFor()
    const readiness = page.getByRole('region', { name: 'Readiness' })
    const asSaved = readiness.getByText('This is about the draft as it was saved.')
    expect(await asSaved.count()).toBe(0)
    await page.getByLabel('What it checks').fill('The screen locks itself.')
    await asSaved.waitFor()
    await expectFitting(page, 'draft-unsaved')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The draft is saved.').waitFor()
    await asSaved.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Delete draft' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete draft' }).click()
    await page.waitForURL(/checks\/drafts$/)
    await page.getByText('No draft yet').waitFor()
  })
})

describe('issues', () => {
  it('are listed and shown with the row that failed, as text', async () => {
    const page = await console.walkTo('/issues?query=open:true')
    await page.getByRole('link', { name: 'The firewall is off' }).waitFor()
    await page.getByRole('link', { name: 'The firewall is off' }).click()
    await page.getByText('off <script>alert(1)</script>').waitFor()
  })

  it('show the words of the service for a search that cannot be read', async () => {
    const page = await console.walkTo('/issues?query=nothing:1')
    await page
      .getByText(/nothing/)
      .first()
      .waitFor()
    await page.getByRole('alert').waitFor()
  })
})

describe('requests', () => {
  it('are decided many at once', async () => {
    const page = await console.openPage('/requests?kind=reenrollment')
    await page.getByRole('checkbox').nth(2).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'requests')
    for (const index of [0, 1]) await page.getByRole('checkbox').nth(index).check()
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click()
    await page.getByText('2 requests are denied.').waitFor()
    const rows = await console.api.services.db
      .selectFrom('reenrollment_request')
      .select('status')
      .execute()
    expect(rows.map(({ status }) => status).sort()).toEqual(['denied', 'denied', 'pending'])
  })

  it('open beside the list, by their address too', async () => {
    // Not where a test before has looked at this list: one row of it waits now.
    const page = await console.openPage('/requests?kind=reenrollment')
    await page.getByRole('link', { name: /a machine/ }).click()
    await page.waitForURL(/open=/)
    await page.reload()
    await page.getByRole('dialog').getByText('The device is still in contact').waitFor()
  })
})

describe('sign-ins', () => {
  it('are listed, the stopped ones alone, and shown with their steps', async () => {
    const page = await console.walkTo('/sign-ins')
    await page.getByText('Stopped', { exact: true }).first().click()
    await page.waitForURL(/result/)
    await page.getByRole('link', { name: 'Grace Hopper' }).click()
    await page.getByText('Grace Hopper was not let in.').waitFor()
  })
})

describe('the audit log', () => {
  it('shows before and after, and proves the entry against the signed checkpoint', async () => {
    const page = await console.walkTo('/audit-log')
    await page.getByText(/The latest signed checkpoint covers/).waitFor()
    await page.getByRole('link', { name: 'renamed the device alpha to grace-mac' }).click()
    await page.getByText('Proven', { exact: true }).waitFor()
    await page.getByRole('deletion').getByText('alpha').waitFor()
    await page.getByRole('link', { name: `device ${ids.device}`, exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'grace-mac' }).waitFor()
  })

  it('says so when hashes do not lead to the root', async () => {
    const context = await console.newContext()
    const page = await context.newPage()
    await page.route('**/inclusion_proof*', async (route) => {
      const answer = await route.fetch()
      const proof = (await answer.json()) as { hash: string }
      await route.fulfill({ json: { ...proof, hash: Buffer.alloc(32).toString('base64') } })
    })
    await page.goto(`/console/audit-log/${ids.entry}`)
    await page.getByText('Not proven', { exact: true }).waitFor()
  })
})

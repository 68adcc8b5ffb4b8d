import { afterAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { createPosture, FAIL, PASS, type Posture } from '../../../test/support/posture-fixtures.ts'
import type { CheckDefinition } from './check-definition.ts'
import { listCounterDrift } from '../../../test/support/list-counter-drift.ts'
import { simulateChange } from './simulate-change.ts'
import { syncCatalogue } from './sync-catalogue.ts'
import { emptyTables } from '../../../test/support/empty-tables.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let posture: Posture
beforeEach(async () => {
  await emptyTables(db, 'device', 'posture_check', 'check_tag')
  posture = createPosture(db)
})

const definition = (values: Partial<CheckDefinition> = {}): CheckDefinition => ({
  slug: 'firewall',
  revision: 1,
  name: 'Firewall',
  description: 'The firewall is on.',
  issueTitle: 'The firewall is off',
  platforms: ['darwin'],
  topics: ['network'],
  tags: ['Critical'],
  queries: { darwin: "select 'PASS' as KOLIDE_CHECK_STATUS" },
  rationaleTemplate: 'It matters.',
  fixInstructionsTemplate: 'Switch it on.',
  privacyInfo: 'Whether the firewall is on.',
  defaultStrategy: 'warn_then_block',
  graceDays: 5,
  strategyReason: 'Quick to fix.',
  authCheckRunShelfLifeSeconds: 3600,
  ...values,
})

const sync = (...catalogue: CheckDefinition[]) =>
  posture.change((change) => syncCatalogue(change, catalogue))
const readCheck = (slug = 'firewall') =>
  db.selectFrom('posture_check').selectAll().where('slug', '=', slug).executeTakeFirstOrThrow()
const listResults = () =>
  db.selectFrom('check_result').select(['device_id', 'status']).orderBy('id').execute()

test('a new check gets its defaults, its tag, and a pending result on every device it targets', async () => {
  const mac = await posture.insertDevice()
  await posture.insertDevice({ platform: 'windows' })
  expect(await sync(definition())).toEqual({ added: ['firewall'], updated: [], retired: [] })
  expect(await readCheck()).toMatchObject({
    is_built_in: true,
    revision: 1,
    remediation_strategy: 'warn_then_block',
    grace_period_days: 5,
  })
  expect(await listResults()).toEqual([{ device_id: mac, status: 'pending' }])
  const tags = await db
    .selectFrom('posture_check_tag')
    .innerJoin('check_tag', 'check_tag.id', 'tag_id')
    .select('name')
    .execute()
  expect(tags).toEqual([{ name: 'Critical' }])
  expect(await db.selectFrom('check_tag').select('name').execute()).toHaveLength(3)
  expect(await listCounterDrift(db)).toEqual([])
})

test('a check that comes with an upgrade only reports, and blocks nobody, until an admin decides', async () => {
  await sync(definition())
  const device = await posture.insertDevice()
  const added = definition({
    slug: 'antivirus',
    name: 'Antivirus',
    defaultStrategy: 'block_immediately',
    graceDays: 0,
  })
  expect(await sync(definition(), added)).toMatchObject({ added: ['antivirus'] })
  const { id } = await readCheck('antivirus')
  expect(await readCheck('antivirus')).toMatchObject({
    remediation_strategy: 'report_only',
    grace_period_days: 0,
  })
  await posture.report(device, { [id]: FAIL })
  expect(posture.announced.map((item) => item.current.authState)).not.toContain('Blocked')
  await sync(definition(), added)
  expect(await readCheck('antivirus')).toMatchObject({ remediation_strategy: 'report_only' })
})

test('the same catalogue again changes nothing', async () => {
  await sync(definition())
  posture.clock.advance(1_000)
  expect(await sync(definition())).toEqual({ added: [], updated: [], retired: [] })
})

test('other queries raise the revision, other texts do not, and the configuration stays', async () => {
  await sync(definition())
  await db
    .updateTable('posture_check')
    .set({ remediation_strategy: 'report_only', grace_period_days: 1 })
    .execute()
  await sync(definition({ name: 'Firewall on' }))
  expect(await readCheck()).toMatchObject({ name: 'Firewall on', revision: 1 })
  await sync(definition({ name: 'Firewall on', queries: { darwin: 'select 2' } }))
  expect(await readCheck()).toMatchObject({
    revision: 2,
    remediation_strategy: 'report_only',
    grace_period_days: 1,
  })
})

test('a check that left the catalogue is paused and blocks nobody, until it returns', async () => {
  await sync(definition({ defaultStrategy: 'block_immediately', graceDays: 0 }))
  const device = await posture.insertDevice()
  const { id } = await readCheck()
  await posture.report(device, { [id]: FAIL })
  expect(await sync()).toEqual({ added: [], updated: [], retired: ['firewall'] })
  expect((await readCheck()).paused_at).not.toBeNull()
  expect(posture.announced.at(-1)?.current.authState).toBe('Good')
  expect(await sync()).toEqual({ added: [], updated: [], retired: [] })
  await sync(definition({ defaultStrategy: 'block_immediately', graceDays: 0 }))
  expect((await readCheck()).paused_at).toBeNull()
  expect(posture.announced.at(-1)?.current.authState).toBe('Blocked')
})

test('two processes that start at once add each check once', async () => {
  const results = await Promise.all([sync(definition()), sync(definition())])
  expect(results.flatMap((result) => result.added)).toEqual(['firewall'])
})

test('a simulated change flips any device both ways and names what else counts against it', async () => {
  const check = await posture.insertCheck()
  const device = await posture.insertDevice()
  const simulate = (to: 'blocked' | 'good') =>
    posture.change((change) => simulateChange(change, { deviceId: device, to }))
  expect(await simulate('good')).toEqual({
    device_id: device,
    previous_state: 'Blocked',
    auth_state: 'Good',
    compliance: 'compliant',
    changed: true,
    other_open_issues: [],
  })
  expect(await simulate('blocked')).toMatchObject({ auth_state: 'Blocked', changed: true })
  expect(await simulate('blocked')).toMatchObject({ auth_state: 'Blocked', changed: false })
  expect(posture.announced.at(-1)?.reasons).toMatchObject([{ checkSlug: 'simulated-posture' }])

  await posture.report(device, { [check]: FAIL })
  expect(await simulate('good')).toMatchObject({
    auth_state: 'Blocked',
    changed: false,
    other_open_issues: [{ title: 'A disk is not encrypted' }],
  })
  await posture.report(device, { [check]: PASS })
  expect(posture.announced.map((item) => item.current.authState)).toEqual([
    'Good',
    'Blocked',
    'Good',
  ])
  expect(await listCounterDrift(db)).toEqual([])
})

test('a simulated change of an unknown device is refused and leaves nothing behind', async () => {
  const simulate = posture.change((change) =>
    simulateChange(change, { deviceId: '4711', to: 'good' }),
  )
  await expect(simulate).rejects.toMatchObject({ code: 'not_found' })
  expect(await db.selectFrom('posture_check').select('id').execute()).toEqual([])
})

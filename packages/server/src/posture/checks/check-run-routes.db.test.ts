import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestApi, TestRefusal } from '../../../test/support/api-app.ts'
import { insertPerson } from '../../../test/support/factories.ts'
import { createPostureApi } from '../../../test/support/posture-api.ts'
import type { Posture } from '../../../test/support/posture-fixtures.ts'
import { describeWriteContract, lastAuditEntry } from '../../../test/support/write-contract.ts'
import { setDeviceOwner } from '../devices/set-device-owner.ts'
import { unregisterDevice } from '../devices/unregister-device.ts'
import { settleDueDevices } from '../devices/settle-due-devices.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { applyCheckScope } from './apply-check-scope.ts'
import { listCounterDrift } from '../../../test/support/list-counter-drift.ts'
import { checkRoutes } from './check-routes.ts'
import { checkRunRoutes } from './check-run-routes.ts'
import { CHECK_ROW_STATUSES } from './check-definition.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { emptyTables } from '../../../test/support/empty-tables.ts'

let api: TestApi
let posture: Posture
let key: string
let device: string
let deviceCheck: string
let personCheck: string
let person: string

beforeAll(async () => {
  ;({ api, posture, key } = await createPostureApi('Submit Check Runs', ({ db, runChange }) => [
    ...checkRunRoutes({ runChange }),
    ...checkRoutes(db),
  ]))
})
afterAll(() => api.close())
beforeEach(async () => {
  await emptyTables(api.db, 'device', 'posture_check', 'person')
  posture.announced.length = 0
  posture.clock.set(api.clock.now())
  device = await posture.insertDevice()
  deviceCheck = await posture.insertCheck({ name: 'Asset tag', type: 'external' })
  personCheck = await posture.insertCheck({
    name: 'Training',
    issue_title: 'Training is overdue',
    type: 'external',
    target_type: 'people',
  })
  person = await insertPerson(api.db, { email: 'ada@example.com', name: 'Ada' })
})

const toData = (...statuses: string[]) => {
  const rows = statuses.map((status) => ({ KOLIDE_CHECK_STATUS: status }))
  return JSON.stringify(rows.length === 1 ? rows[0] : rows)
}
const submit = <Body = TestRefusal>(checkId: string, payload: object) =>
  api.request<Body>(`/checks/${checkId}/runs`, { method: 'POST', key, payload })
const report = (payload: object) => submit(personCheck, { person_id: person, ...payload })

async function readState(id = device) {
  return (
    await api.db
      .selectFrom('device')
      .select(['auth_state', 'will_block_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).auth_state
}

async function listOpenIssues() {
  return api.db
    .selectFrom('issue')
    .select(['device_id', 'person_id', 'title', 'issue_value'])
    .where('resolved_at', 'is', null)
    .orderBy('id')
    .execute()
}

describe('a run on a device', () => {
  describeWriteContract({
    api: () => api,
    method: 'POST',
    path: () => `/checks/${deviceCheck}/runs`,
    payload: () => ({ device_id: device, check_data: toData('PASS') }),
    permission: 'Submit Check Runs',
    missingPaths: () => ['/checks/999/runs', '/checks/abc/runs'],
  })

  it.each(CHECK_ROW_STATUSES.map((status) => [status]))(
    'answers with its verdict: %s',
    async (status) => {
      const check_data = toData(status)
      const answer = await submit(deviceCheck, { device_id: Number(device), check_data })
      expect(answer).toMatchObject({
        status: 200,
        body: {
          check_id: Number(deviceCheck),
          device_id: Number(device),
          status,
          check_data,
          person_id: null,
          person_name: null,
          person_email: null,
        },
      })
      expect(await lastAuditEntry(api, 'check.run_submitted')).toMatchObject({
        actor_type: 'ApiKey',
        target_type: 'device',
        target_id: device,
        after: { check_id: deviceCheck, status },
      })
      expect(await listCounterDrift(api.db)).toEqual([])
    },
  )

  it('opens and resolves issues, and changes the status, as an answer of the device does', async () => {
    expect(
      (await submit(deviceCheck, { device_id: device, check_data: toData('PASS', 'FAIL') })).status,
    ).toBe(200)
    expect(await readState()).toBe('Blocked')
    expect(await listOpenIssues()).toMatchObject([{ device_id: device, person_id: null }])
    await submit(deviceCheck, { device_id: device, check_data: toData('PASS') })
    expect(await readState()).toBe('Good')
    expect(await listOpenIssues()).toEqual([])
  })

  it('counts when it arrives, also from a process whose clock is behind that of another', async () => {
    api.clock.advance(5_000)
    await submit(deviceCheck, { device_id: device, check_data: toData('PASS') })
    api.clock.advance(-5_000)
    const later = await submit(deviceCheck, { device_id: device, check_data: toData('FAIL') })
    expect(later.status).toBe(200)
    expect(await readState()).toBe('Blocked')
  })

  it('is a conflict where the device runs the check itself, the check is paused or aimed elsewhere', async () => {
    const own = await posture.insertCheck({ name: 'Firewall' })
    const paused = await posture.insertCheck({ type: 'external', paused_at: new Date() })
    const elsewhere = await posture.insertCheck({ type: 'external', platforms: ['windows'] })
    for (const check of [own, paused, elsewhere]) {
      const { status, body } = await submit(check, {
        device_id: device,
        check_data: toData('PASS'),
      })
      expect([status, body.code]).toEqual([409, 'conflict'])
    }
    const results = await api.db
      .selectFrom('check_result')
      .select(['check_id', 'status'])
      .orderBy('check_id')
      .execute()
    expect(results).toEqual([
      { check_id: deviceCheck, status: 'unknown' },
      { check_id: own, status: 'pending' },
    ])
  })

  it('counts the devices that nothing was reported on among those that are targeted', async () => {
    const other = await posture.insertDevice()
    await posture.insertDevice({ platform: 'windows' })
    const check = await posture.insertCheck({ type: 'external', platforms: ['darwin'] })
    await submit(check, { device_id: device, check_data: toData('PASS') })
    const read = async () => (await api.request(`/checks/${check}`, { key })).body
    expect(await read()).toMatchObject({ percent_passing: 50 })
    await submit(check, { device_id: other, check_data: toData('PASS') })
    expect(await read()).toMatchObject({ percent_passing: 100 })
    expect(await listCounterDrift(api.db)).toEqual([])
  })

  it.each(['999', 'abc', '9'.repeat(40)])('finds no device %s', async (device_id) => {
    const { status, body } = await submit(deviceCheck, { device_id, check_data: toData('PASS') })
    expect([status, body.code]).toEqual([404, 'not_found'])
  })
})

describe('a request', () => {
  const DATA = '{"KOLIDE_CHECK_STATUS":"PASS"}'

  it.each([
    [{ check_data: DATA }, ''],
    [{ device_id: '1', person_id: '1', check_data: DATA }, ''],
    [{ device_id: '1' }, 'check_data'],
    [{ device_id: '1', check_data: { KOLIDE_CHECK_STATUS: 'PASS' } }, 'check_data'],
    [{ device_id: '1', check_data: 'PASS' }, 'check_data'],
    [{ device_id: '1', check_data: '[]' }, 'check_data'],
    [{ device_id: '1', check_data: 'null' }, 'check_data'],
    [{ device_id: '1', check_data: '{}' }, 'check_data'],
    [{ device_id: '1', check_data: '{"KOLIDE_CHECK_STATUS":"GOOD"}' }, 'check_data'],
    [{ device_id: '1', check_data: `[${DATA},5]` }, 'check_data'],
    [
      { device_id: '1', check_data: `[${Array.from({ length: 1001 }, () => DATA).join()}]` },
      'check_data',
    ],
    [{ person_email: '', check_data: DATA }, 'person_email'],
    [{ device_id: '1', check_data: DATA, status: 'PASS' }, 'status'],
  ])('is refused when it is not valid', async (payload, path) => {
    const { status, body } = await submit(deviceCheck, payload)
    expect([status, body.code]).toEqual([422, 'invalid_body'])
    expect(body.details?.map((detail) => detail.path)).toEqual([path])
  })

  it('is refused when the check targets the other kind of subject', async () => {
    const answers = [
      await submit(deviceCheck, { person_id: person, check_data: DATA }),
      await submit(personCheck, { device_id: device, check_data: DATA }),
    ]
    expect(answers.map(({ status, body }) => [status, body.details?.[0]?.path])).toEqual([
      [422, 'person_id'],
      [422, 'device_id'],
    ])
  })
})

describe('a run on a person', () => {
  beforeEach(() =>
    posture.change((change) => setDeviceOwner(change, device, { email: 'ada@example.com' })),
  )

  it('answers with the person, found by id or by any email address of their identity', async () => {
    await api.db
      .updateTable('person')
      .set({ emails: JSON.stringify([{ value: 'Ada.L@example.org' }]) })
      .execute()
    const subjects = [
      { person_id: Number(person) },
      { person_email: 'ADA@example.com' },
      { person_email: 'ada.l@example.org' },
    ]
    for (const subject of subjects) {
      const answer = await submit(personCheck, { ...subject, check_data: toData('PASS') })
      expect(answer).toMatchObject({
        status: 200,
        body: {
          check_id: Number(personCheck),
          device_id: null,
          status: 'PASS',
          person_id: Number(person),
          person_name: 'Ada',
          person_email: 'ada@example.com',
        },
      })
    }
    expect(await lastAuditEntry(api, 'check.run_submitted')).toMatchObject({
      target_type: 'person',
      target_id: person,
    })
  })

  it.each([
    [{ person_id: '999' }],
    [{ person_id: 'abc' }],
    [{ person_email: 'nobody@example.com' }],
  ])('finds no person for %j', async (subject) => {
    const { status } = await submit(personCheck, { ...subject, check_data: toData('PASS') })
    expect(status).toBe(404)
  })

  it('finds nobody who has been deprovisioned', async () => {
    await api.db.updateTable('person').set({ deprovisioned_at: new Date() }).execute()
    expect((await report({ check_data: toData('PASS') })).status).toBe(404)
  })

  it('is refused where the person is deprovisioned while it waits', async () => {
    const other = await api.db.startTransaction().execute()
    const deprovisioned = { deprovisioned_at: new Date() }
    await other.updateTable('person').set(deprovisioned).where('id', '=', person).execute()
    const reporting = report({ check_data: toData('FAIL') })
    await waitForLock(api.db)
    await other.commit().execute()
    expect((await reporting).status).toBe(404)
    expect(await listOpenIssues()).toEqual([])
  })

  it('that fails counts for every device of the person and for no other, until it passes', async () => {
    const second = await posture.insertDevice()
    const other = await posture.insertDevice()
    await posture.change((change) => setDeviceOwner(change, second, { email: 'ada@example.com' }))
    posture.announced.length = 0

    await report({ check_data: toData('FAIL') })
    expect(await listOpenIssues()).toEqual([
      { device_id: null, person_id: person, title: 'Training is overdue', issue_value: null },
    ])
    expect([await readState(), await readState(second), await readState(other)]).toEqual([
      'Blocked',
      'Blocked',
      'Good',
    ])
    expect(posture.announced.map((item) => item.device.id)).toEqual([device, second])

    await report({ check_data: toData('FAIL') })
    expect(await listOpenIssues()).toHaveLength(1)
    await report({ check_data: toData('PASS') })
    expect(await listOpenIssues()).toEqual([])
    expect([await readState(), await readState(second)]).toEqual(['Good', 'Good'])
    expect(await listCounterDrift(api.db)).toEqual([])
  })

  it('opens an issue for each object that a check with a primary key reports', async () => {
    await api.db
      .updateTable('posture_check')
      .set({ primary_key_column: 'course' })
      .where('id', '=', personCheck)
      .execute()
    const rows = ['a', 'b'].map((course) => ({ KOLIDE_CHECK_STATUS: 'FAIL', course }))
    await report({ check_data: JSON.stringify(rows) })
    expect((await listOpenIssues()).map((issue) => issue.issue_value)).toEqual(['a', 'b'])
  })

  it('follows the person: a device that changes hands has its status from the same change', async () => {
    await report({ check_data: toData('FAIL') })
    expect(await readState()).toBe('Blocked')
    posture.announced.length = 0
    const actor = { type: 'ApiKey', id: '1', name: 'k', email: null } as const
    const setOwner = (owner: { email: string } | null) =>
      posture.runChange({ actor }, (change) => setDeviceOwner(change, device, owner))
    expect(await setOwner(null)).toMatchObject({ ownerPersonId: null, authState: 'Good' })
    expect(await readState()).toBe('Good')
    expect(await setOwner({ email: 'ada@example.com' })).toMatchObject({ authState: 'Blocked' })
    expect(await readState()).toBe('Blocked')
    expect(posture.announced).toMatchObject([
      { current: { authState: 'Good' }, initiatingEntity: 'admin', device: { owner: null } },
      {
        current: { authState: 'Blocked' },
        initiatingEntity: 'admin',
        device: { owner: { email: 'ada@example.com' } },
      },
    ])
  })

  it('follows the person as of the turn of the change, not as of its beginning', async () => {
    await report({ check_data: toData('FAIL') })
    const other = await api.db.startTransaction().execute()
    await other.selectFrom('device').selectAll().where('id', '=', device).forUpdate().execute()
    const changed = posture.change((change) => setDeviceOwner(change, device, null))
    await waitForLock(api.db)
    posture.clock.advance(DAY_MS)
    await other.commit().execute()
    await changed
    expect(posture.announced.at(-1)).toMatchObject({
      current: { authState: 'Good' },
      occurredAt: posture.clock.now(),
    })
  })

  it('leaves a phone that is deleted with its registration as it was', async () => {
    await api.db.updateTable('device').set({ platform: 'ios' }).where('id', '=', device).execute()
    await report({ check_data: toData('FAIL') })
    posture.announced.length = 0
    await posture.change((change) => unregisterDevice(change, device))
    expect(posture.announced).toEqual([])
  })

  it('follows the configuration of its check: grace periods and pauses', async () => {
    await report({ check_data: toData('FAIL') })
    await configure({ remediation_strategy: 'warn_then_block', grace_period_days: 2 })
    expect(await readState()).toBe('Will Block')
    posture.clock.advance(2 * DAY_MS)
    await settle()
    expect(await readState()).toBe('Blocked')
    const blockingTimes = () => api.db.selectFrom('issue').select('blocks_device_at').execute()
    const before = await blockingTimes()
    await configure({ paused_at: posture.clock.now() })
    expect(await readState()).toBe('Good')
    expect(await blockingTimes()).toEqual([{ blocks_device_at: null }])
    await configure({ paused_at: null })
    expect(await readState()).toBe('Blocked')
    expect(await blockingTimes()).toEqual(before)
  })

  it('of many at once are all counted, and none is lost', async () => {
    const statuses = ['FAIL', 'PASS', 'ERROR', 'FAIL', 'UNKNOWN', 'FAIL']
    await Promise.all(statuses.map((status) => report({ check_data: toData(status) })))
    expect(await listCounterDrift(api.db)).toEqual([])
    const open = await listOpenIssues()
    expect(await readState()).toBe(open.length > 0 ? 'Blocked' : 'Good')
    await api.db.deleteFrom('person').execute()
    expect(await listCounterDrift(api.db)).toEqual([])
  })
})

it('runs at once on a person without a device are all counted, and open one issue', async () => {
  const statuses = ['FAIL', 'PASS', 'ERROR', 'FAIL', 'UNKNOWN', 'FAIL']
  await Promise.all(statuses.map((status) => report({ check_data: toData(status) })))
  await report({ check_data: toData('FAIL') })
  expect(await listCounterDrift(api.db)).toEqual([])
  expect(await listOpenIssues()).toHaveLength(1)
})

async function settle(): Promise<void> {
  const { db, runChange } = posture
  const logError = (error: unknown) => {
    throw error
  }
  await settleDueDevices({ db, runChange, logError })
}

async function configure(values: Record<string, unknown>): Promise<void> {
  await posture.change(async (change) => {
    await change.tx.updateTable('posture_check').set(values).where('id', '=', personCheck).execute()
    const cause = { initiatingEntity: 'admin', reason: 'Configured by a test.' } as const
    await applyCheckScope(change, { checkIds: [personCheck] }, cause)
  })
}

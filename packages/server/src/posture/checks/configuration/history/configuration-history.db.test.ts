import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestApi, TestRefusal } from '../../../../../test/support/api-app.ts'
import { insertDeviceGroup } from '../../../../../test/support/factories.ts'
import { createPostureApi, type PostureApi } from '../../../../../test/support/posture-api.ts'
import { FAIL, type Posture } from '../../../../../test/support/posture-fixtures.ts'
import { listAuditEntries } from '../../../../../test/support/write-contract.ts'
import { HOUR_MS, MINUTE_MS } from '../../../../platform/clock.ts'
import { checkConfigurationRoutes } from '../check-configuration-routes.ts'

interface Configuration {
  readonly revision: string
  readonly [name: string]: unknown
}

let api: TestApi
let posture: Posture
let key: string
let advance: PostureApi['advance']

beforeAll(async () => {
  ;({ api, posture, key, advance } = await createPostureApi('Manage Checks', ({ db, runChange }) =>
    checkConfigurationRoutes({ db, runChange }),
  ))
})

afterAll(() => api.close())

const url = (checkId: string) => `/checks/${checkId}/configurations`
const read = async (checkId: string) => (await api.request<Configuration>(url(checkId))).body
const configure = async (checkId: string, payload: object) => {
  const { status, body } = await api.request<Configuration>(url(checkId), {
    method: 'PATCH',
    key,
    payload,
  })
  expect(status).toBe(200)
  return body
}
const undo = <Body = Configuration>(checkId: string, caller = key) =>
  api.request<Body>(`${url(checkId)}/undo`, { method: 'POST', key: caller })
const listHistory = async (checkId: string) =>
  (await api.request<{ data: Configuration[] }>(`${url(checkId)}/history`)).body.data
const stateOf = async (id: string) => {
  const device = await api.db
    .selectFrom('device')
    .select('auth_state')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return device.auth_state
}

describe('GET /checks/{id}/configurations/history', () => {
  it('lists each change with who made it, what it changed, and until when it can be undone', async () => {
    const checkId = await posture.insertCheck()
    await configure(checkId, { snooze_disallowed: true })
    advance(MINUTE_MS)
    await configure(checkId, { remediation_strategy: 'notify_only', paused: false })
    await configure(await posture.insertCheck(), { paused: true })
    const now = api.clock.now().getTime()
    expect(await listHistory(checkId)).toMatchObject([
      {
        revision: 2,
        actor_type: 'ApiKey',
        before: { snooze_disallowed: false },
        after: { snooze_disallowed: true },
        undoes_revision: null,
        can_be_undone_until: null,
      },
      {
        revision: 3,
        changed_at: new Date(now).toISOString(),
        before: { remediation_strategy: 'block_immediately' },
        after: { remediation_strategy: 'notify_only' },
        can_be_undone_until: new Date(now + HOUR_MS).toISOString(),
      },
    ])
    expect((await api.request(`${url('999999')}/history`)).status).toBe(404)
  })
})

describe('POST /checks/{id}/configurations/undo', () => {
  it('gives the check back what the last change took, statuses and groups included, audited', async () => {
    const groupId = await insertDeviceGroup(api.db)
    const checkId = await posture.insertCheck({ options: JSON.stringify({ days: 3 }) })
    const deviceId = await posture.insertDevice()
    const checks = await api.db.selectFrom('posture_check').select('id').execute()
    await posture.report(deviceId, Object.fromEntries(checks.map(({ id }) => [id, FAIL])))
    await configure(checkId, { excluded_groups: [groupId], begins_blocking_on: null })
    const before = await read(checkId)
    expect(await stateOf(deviceId)).toBe('Blocked')
    await configure(checkId, {
      ...{ paused: true, remediation_strategy: 'report_only', excluded_groups: ['linux'] },
      ...{ options: {}, begins_blocking_on: '2027-01-01T00:00:00Z', rollout_percent: 10 },
      ...{ block_auth_grace_period_days: 9, exemptions_disallowed: true },
    })
    advance(HOUR_MS)
    const { status, body } = await undo(checkId)
    expect(status).toBe(200)
    expect(body).toEqual({ ...before, revision: '4' })
    expect(await read(checkId)).toEqual(body)
    expect((await listHistory(checkId)).at(-1)).toMatchObject({ revision: 4, undoes_revision: 3 })
    const audit = await listAuditEntries(api, { type: 'check', id: checkId }, 'check.configured')
    expect(audit.at(-1)).toMatchObject({
      description: expect.stringMatching(/^undid a change of the configuration of /) as unknown,
      after: { remediation_strategy: 'block_immediately', revision: 4 },
    })
  })

  it('has devices move back at once', async () => {
    await api.db.deleteFrom('device').execute()
    await api.db.deleteFrom('posture_check').execute()
    const checkId = await posture.insertCheck()
    const deviceId = await posture.insertDevice()
    await posture.report(deviceId, { [checkId]: FAIL })
    await configure(checkId, { remediation_strategy: 'report_only' })
    expect(await stateOf(deviceId)).toBe('Good')
    await undo(checkId)
    expect(await stateOf(deviceId)).toBe('Blocked')
    await undo(checkId)
    expect(await stateOf(deviceId)).toBe('Good')
  })

  it('takes nothing back but the revision that was meant', async () => {
    const checkId = await posture.insertCheck()
    await configure(checkId, { paused: true })
    await configure(checkId, { paused: false })
    const before = await read(checkId)
    const meant = async (revision: string) => {
      const path = `${url(checkId)}/undo?revision=${revision}`
      return (await api.request(path, { method: 'POST', key })).status
    }
    const revision = Number((await listHistory(checkId)).at(-1)?.['revision'])
    expect([await meant(String(revision - 1)), await meant('last')]).toEqual([409, 400])
    expect(await read(checkId)).toEqual(before)
    expect(await meant(String(revision))).toBe(200)
  })

  it('leaves out groups that were deleted since', async () => {
    const groupId = await insertDeviceGroup(api.db)
    const checkId = await posture.insertCheck()
    await configure(checkId, { excluded_groups: [groupId, 'linux'] })
    await configure(checkId, { excluded_groups: [] })
    await api.db.deleteFrom('device_group').where('id', '=', groupId).execute()
    expect((await undo(checkId)).body['excluded_groups']).toEqual(['linux'])
  })

  it('is refused after an hour, where nothing changed, and without the permission', async () => {
    const checkId = await posture.insertCheck()
    expect(await undo<TestRefusal>(checkId)).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    })
    await configure(checkId, { paused: true })
    expect(await undo(checkId, api.key)).toMatchObject({ status: 403 })
    advance(HOUR_MS + 1)
    expect(await undo<TestRefusal>(checkId)).toMatchObject({ status: 409 })
    expect(await undo('999999')).toMatchObject({ status: 404 })
    expect(await read(checkId)).toMatchObject({ paused: true, revision: '2' })
  })
})

describe('rollout_percent', () => {
  it('adds devices as it rises and takes none away; on the others the check only reports', async () => {
    await api.db.deleteFrom('device').execute()
    await api.db.deleteFrom('posture_check').execute()
    const checkId = await posture.insertCheck({ remediation_strategy: 'report_only' })
    const deviceIds: string[] = []
    for (let count = 0; count < 60; count += 1) {
      const deviceId = await posture.insertDevice()
      await posture.report(deviceId, { [checkId]: FAIL })
      deviceIds.push(deviceId)
    }
    const listBlocked = async () => {
      const rows = await api.db
        .selectFrom('device')
        .select(['id', 'auth_state'])
        .where('auth_state', '<>', 'Good')
        .execute()
      expect(rows.every(({ auth_state: state }) => state === 'Blocked')).toBe(true)
      return new Set(rows.map(({ id }) => id))
    }
    let previous = new Set<string>()
    for (const percent of [0, 20, 60, 100]) {
      await configure(checkId, {
        remediation_strategy: 'block_immediately',
        rollout_percent: percent,
      })
      const blocked = await listBlocked()
      expect([...previous].filter((id) => !blocked.has(id))).toEqual([])
      expect(Math.abs(blocked.size / deviceIds.length - percent / 100)).toBeLessThan(0.2)
      const open = await api.db
        .selectFrom('issue')
        .select(['device_id', 'blocks_device_at'])
        .where('resolved_at', 'is', null)
        .execute()
      expect(open).toHaveLength(deviceIds.length)
      for (const { device_id: id, blocks_device_at: at } of open) {
        expect(at !== null).toBe(blocked.has(id ?? ''))
      }
      previous = blocked
    }
    await configure(checkId, { rollout_percent: 20, remediation_strategy: 'notify_only' })
    const notified = await api.db
      .selectFrom('device')
      .select('id')
      .where('auth_state', '=', 'Notified')
      .execute()
    expect(notified.length).toBeGreaterThan(0)
    expect(notified.length).toBeLessThan(deviceIds.length / 2)
  })

  it('holds for reports that come while it is set, as for those before', async () => {
    const checkId = await posture.insertCheck({ rollout_percent: 0 })
    const deviceId = await posture.insertDevice()
    const checks = await api.db.selectFrom('posture_check').select('id').execute()
    await api.db
      .updateTable('posture_check')
      .set({ paused_at: posture.clock.now() })
      .where('id', '<>', checkId)
      .execute()
    await posture.report(deviceId, Object.fromEntries(checks.map(({ id }) => [id, FAIL])))
    expect(await stateOf(deviceId)).toBe('Good')
    await configure(checkId, { rollout_percent: 100 })
    expect(await stateOf(deviceId)).toBe('Blocked')
  })

  it.each([-1, 101, 1.5, '50'])('refuses %s', async (percent) => {
    const checkId = await posture.insertCheck()
    const payload = { rollout_percent: percent }
    expect((await api.request(url(checkId), { method: 'PATCH', key, payload })).status).toBe(422)
  })
})

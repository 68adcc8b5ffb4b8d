import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  BASE_URL,
  createTestApi,
  type TestApi,
  type TestRefusal,
} from '../../../test/support/api-app.ts'
import { insertDevice, insertDeviceGroup } from '../../../test/support/factories.ts'
import { createPosture, FAIL, PASS, type Posture } from '../../../test/support/posture-fixtures.ts'
import {
  describeListContract,
  describeRecordContract,
  toTrials,
  trialsOf,
} from '../../../test/support/read-contract.ts'
import {
  countAuditEntries,
  describeWriteContract,
  lastAuditEntry,
} from '../../../test/support/write-contract.ts'
import { listCounterDrift } from '../../../test/support/list-counter-drift.ts'
import { listKnownGroupIds } from '../checks/configuration/check-configuration-store.ts'
import { DEVICE_GROUP_LIST } from './device-group-read.ts'
import { deviceGroupRoutes } from './device-group-routes.ts'
import { emptyTables } from '../../../test/support/empty-tables.ts'

let api: TestApi
let posture: Posture
let key: string

beforeAll(async () => {
  api = await createTestApi(({ db, runChange }) => {
    posture = createPosture(db)
    return deviceGroupRoutes({ db, baseUrl: BASE_URL, runChange })
  })
  key = await api.createKey(['Manage Device Groups'])
})
afterAll(() => api.close())

const write = <Body = TestRefusal>(
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  url: string,
  payload?: object,
) => api.request<Body>(url, { method, key, ...(payload === undefined ? {} : { payload }) })

const countMembers = async (groupId: string) =>
  (await api.request<{ members_count: number }>(`/device_groups/${groupId}`)).body.members_count

describe('reading', () => {
  let groupId: string

  beforeAll(async () => {
    for (const name of ['Red team', 'Blue team', 'Green team']) {
      await insertDeviceGroup(api.db, { name })
    }
    groupId = await insertDeviceGroup(api.db, {
      name: 'Servers',
      description: 'In the "basement"',
      created_at: new Date('2026-02-01'),
      updated_at: new Date('2026-02-02'),
    })
    for (const name of ['mac-1', 'mac-2', 'mac-3', 'desktop']) {
      const device_id = await insertDevice(api.db, { name })
      await api.db
        .insertInto('device_group_member')
        .values({ device_group_id: groupId, device_id, added_at: new Date('2026-02-01') })
        .execute()
    }
    await insertDevice(api.db, { name: 'elsewhere' })
  })
  afterAll(() => emptyTables(api.db, 'device', 'device_group'))

  describe('GET /device_groups', () => {
    describeListContract({
      api: () => api,
      path: () => '/device_groups',
      fields: ['created_at (: < >)', 'name (: ~)', 'description (: ~)', 'updated_at (: < >)'],
      narrowSearch: () => 'name~team',
    })

    const SEARCHES: Record<string, readonly string[]> = {
      'name:Servers': ['Servers'],
      'name~TEAM': ['Red team', 'Blue team', 'Green team'],
      'description:"In the \\"basement\\""': ['Servers'],
      'description~basement': ['Servers'],
      'created_at:2026-02-01': ['Servers'],
      'created_at>2026-01-15': ['Servers'],
      'created_at<2026-01-15': ['Red team', 'Blue team', 'Green team'],
      'updated_at:2026-02-02': ['Servers'],
      'updated_at>"2026-02-01T23:00:00Z"': ['Servers'],
      'updated_at<2026-01-15': ['Red team', 'Blue team', 'Green team'],
    }

    it.each(Object.entries(SEARCHES))('finds by %s', async (query, names) => {
      const url = `/device_groups?query=${encodeURIComponent(query)}`
      const { body } = await api.request<{ data: { name: string }[] }>(url)
      expect(body.data.map(({ name }) => name)).toEqual(names)
    })

    it('has every field and operator tried', () => {
      expect(trialsOf(Object.keys(SEARCHES))).toEqual(toTrials(DEVICE_GROUP_LIST.fields))
    })
  })

  describe('GET /device_groups/{id}', () => {
    describeRecordContract({ api: () => api, path: () => `/device_groups/${groupId}` })

    it('shows a group with the number of its members', async () => {
      expect((await api.request(`/device_groups/${groupId}`)).body).toEqual({
        id: groupId,
        created_at: '2026-02-01T00:00:00.000Z',
        name: 'Servers',
        description: 'In the "basement"',
        members_count: 4,
      })
    })
  })

  describe('GET /device_groups/{id}/devices', () => {
    describeListContract({
      api: () => api,
      path: () => `/device_groups/${groupId}/devices`,
      fields: ['id (:)', 'name (: ~)', 'device_type (:)'],
      narrowSearch: () => 'name~mac',
    })
    describeRecordContract({
      api: () => api,
      path: () => `/device_groups/${groupId}`,
      suffix: '/devices',
    })
  })
})

describe('groups', () => {
  beforeEach(() => emptyTables(api.db, 'device_group', 'posture_check'))

  describeWriteContract({
    api: () => api,
    method: 'POST',
    path: () => '/device_groups',
    payload: () => ({ name: 'Sales' }),
    permission: 'Manage Device Groups',
  })
  describeWriteContract({
    api: () => api,
    method: 'PATCH',
    path: () => '/device_groups/1',
    payload: () => ({ name: 'Sales' }),
    permission: 'Manage Device Groups',
    missingPaths: () => ['/device_groups/999', '/device_groups/abc'],
  })
  describeWriteContract({
    api: () => api,
    method: 'DELETE',
    path: () => '/device_groups/1',
    permission: 'Manage Device Groups',
    missingPaths: () => ['/device_groups/999', '/device_groups/abc'],
  })

  it('are created, changed and deleted, each with an audit entry that says what changed', async () => {
    const created = await write<{ id: string }>('POST', '/device_groups', { name: ' Sales ' })
    expect(created).toMatchObject({
      status: 200,
      body: { id: '1', name: 'Sales', description: '', members_count: 0 },
    })
    expect(await lastAuditEntry(api)).toMatchObject({
      action: 'device_group.created',
      actor_type: 'ApiKey',
      target_id: '1',
      after: { name: 'Sales', description: '', members_count: 0 },
    })

    const changed = await write('PUT', '/device_groups/1', { description: 'Who sells' })
    expect(changed).toMatchObject({
      status: 200,
      body: { name: 'Sales', description: 'Who sells' },
    })
    expect(await lastAuditEntry(api)).toMatchObject({
      action: 'device_group.updated',
      before: { description: '' },
      after: { description: 'Who sells' },
    })
    const count = await countAuditEntries(api)
    expect((await write('PATCH', '/device_groups/1', { name: 'Sales' })).status).toBe(200)
    expect(await countAuditEntries(api)).toBe(count)

    const deleted = await write('DELETE', '/device_groups/1')
    expect(deleted).toMatchObject({ status: 200, body: { id: '1', name: 'Sales' } })
    expect(await lastAuditEntry(api)).toMatchObject({
      action: 'device_group.deleted',
      before: { name: 'Sales', description: 'Who sells' },
    })
    expect((await api.request('/device_groups/1')).status).toBe(404)
  })

  it.each([
    [{}, 'name'],
    [{ name: '  ' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: 'x', description: null }, 'description'],
    [{ name: 'x', members: [] }, 'members'],
  ])('are refused as %j', async (payload, path) => {
    const { status, body } = await write('POST', '/device_groups', payload)
    expect([status, body.code]).toEqual([422, 'invalid_body'])
    expect(body.details?.map((detail) => detail.path)).toEqual([path])
    expect(await api.db.selectFrom('device_group').select('id').execute()).toEqual([])
  })

  it('have one name each, in any case', async () => {
    await write('POST', '/device_groups', { name: 'Sales' })
    await write('POST', '/device_groups', { name: 'Support' })
    const taken = [
      await write('POST', '/device_groups', { name: 'SALES' }),
      await write('PATCH', '/device_groups/2', { name: 'sales' }),
    ]
    for (const { status, body } of taken) expect([status, body.code]).toEqual([409, 'conflict'])
    expect((await write('PATCH', '/device_groups/1', { name: 'SALES' })).status).toBe(200)
  })

  it('are not deleted while a check is aimed at them', async () => {
    const group = await insertDeviceGroup(api.db)
    const check = await posture.insertCheck({ name: 'Firewall' })
    await api.db
      .insertInto('check_group_rule')
      .values({ check_id: check, rule: 'targeted', device_group_id: group, platform: null })
      .execute()
    const { status, body } = await write('DELETE', `/device_groups/${group}`)
    expect([status, body.code]).toEqual([409, 'conflict'])
    expect(body.message).toContain('Firewall')
    expect((await api.request(`/device_groups/${group}`)).status).toBe(200)
  })
})

describe('memberships', () => {
  let group: string
  let devices: string[]

  beforeEach(async () => {
    await emptyTables(api.db, 'device', 'device_group', 'posture_check')
    group = await insertDeviceGroup(api.db)
    devices = []
    for (let index = 0; index < 3; index += 1) devices.push(await posture.insertDevice())
  })
  const membershipsOf = (id = group) => `/device_groups/${id}/memberships`

  describeWriteContract({
    api: () => api,
    method: 'POST',
    path: () => membershipsOf(),
    payload: () => ({ device_ids: devices }),
    permission: 'Manage Device Groups',
    missingPaths: () => [membershipsOf('999'), membershipsOf('abc')],
  })
  describeWriteContract({
    api: () => api,
    method: 'DELETE',
    path: () => `${membershipsOf()}/1`,
    permission: 'Manage Device Groups',
    missingPaths: () => [
      `${membershipsOf()}/${devices[0] ?? ''}`,
      `${membershipsOf()}/999`,
      `${membershipsOf()}/abc`,
      `${membershipsOf('999')}/1`,
    ],
  })

  it('are added for ids as texts and as numbers, and answered as members, also when they were there', async () => {
    const [first = '', second = '', third = ''] = devices
    const added = await write('POST', membershipsOf(), { device_ids: [first, Number(second)] })
    expect(added).toMatchObject({
      status: 200,
      body: {
        data: [
          { device_id: first, group_id: group },
          { device_id: second, group_id: group },
        ],
      },
    })
    expect(await lastAuditEntry(api, 'device_group.devices_added')).toMatchObject({
      target_id: group,
      before: { members_count: 0 },
      after: { members_count: 2, device_ids: [first, second] },
    })
    const again = await write('POST', membershipsOf(), { device_ids: [second, third, second] })
    expect(again.body).toEqual({
      data: [
        { device_id: second, group_id: group },
        { device_id: third, group_id: group },
      ],
    })
    expect(await countMembers(group)).toBe(3)
  })

  it.each([[{}], [{ device_ids: [] }], [undefined]])(
    'need device_ids: %j is a bad request that says so',
    async (payload) => {
      const { status, body } = await write('POST', membershipsOf(), payload)
      expect([status, body.code]).toEqual([400, 'invalid_parameter'])
      expect(body.message).toContain('device_ids is required')
    },
  )

  it.each([
    [{ device_ids: '1' }, 'device_ids'],
    [{ device_ids: [null] }, 'device_ids.0'],
    [{ device_ids: [1.5] }, 'device_ids.0'],
    [{ device_ids: ['1'], more: 1 }, 'more'],
    [{ device_ids: Array.from({ length: 1001 }, () => 1) }, 'device_ids'],
  ])('are refused as invalid', async (payload, path) => {
    const { status, body } = await write('POST', membershipsOf(), payload)
    expect([status, body.code]).toEqual([422, 'invalid_body'])
    expect(body.details?.[0]?.path).toBe(path)
  })

  it('are all or none: a device that does not exist is named and nobody is added', async () => {
    for (const missing of ['999', 'abc', '9'.repeat(40)]) {
      const { status, body } = await write('POST', membershipsOf(), {
        device_ids: [...devices, missing],
      })
      expect([status, body.code]).toEqual([404, 'not_found'])
      expect(body.message).toContain(missing)
    }
    expect(await countMembers(group)).toBe(0)
  })

  it('end with the member that was, and only once', async () => {
    const [first = ''] = devices
    await write('POST', membershipsOf(), { device_ids: devices })
    const removed = await write('DELETE', `${membershipsOf()}/${first}`)
    expect(removed).toMatchObject({ status: 200, body: { device_id: first, group_id: group } })
    expect(await lastAuditEntry(api, 'device_group.device_removed')).toMatchObject({
      before: { members_count: 3, device_id: first },
      after: { members_count: 2 },
    })
    expect((await write('DELETE', `${membershipsOf()}/${first}`)).status).toBe(404)
    expect(await countMembers(group)).toBe(2)
  })

  it('decide at once which checks run, which issues are open and what the status is', async () => {
    const [device = '', other = ''] = devices
    const check = await posture.insertCheck()
    await posture.report(device, { [check]: FAIL })
    await posture.report(other, { [check]: FAIL })
    await api.db
      .insertInto('check_group_rule')
      .values({ check_id: check, rule: 'excluded', device_group_id: group, platform: null })
      .execute()

    await write('POST', membershipsOf(), { device_ids: [device] })
    expect(await readDevice(device)).toEqual({
      auth_state: 'Good',
      openIssues: 0,
      status: 'out_of_scope',
    })
    expect(await readDevice(other)).toMatchObject({ auth_state: 'Blocked', openIssues: 1 })

    await write('DELETE', `${membershipsOf()}/${device}`)
    expect(await readDevice(device)).toEqual({
      auth_state: 'Good',
      openIssues: 0,
      status: 'pending',
    })
    await posture.report(device, { [check]: PASS })
    expect(await listCounterDrift(api.db)).toEqual([])
  })

  it('wait for no change that keeps their group from being deleted, and then locks devices', async () => {
    const [device = ''] = devices
    const configuring = await api.db.startTransaction().execute()
    await listKnownGroupIds(configuring, [group], { isHeld: true })
    const added = { method: 'POST', key, payload: { device_ids: [device] } } as const
    expect((await api.request(membershipsOf(), added)).status).toBe(200)
    const left = await api.request(`${membershipsOf()}/${device}`, { method: 'DELETE', key })
    expect(left.status).toBe(200)
    await configuring.rollback().execute()
  })

  it('of several requests at once are all counted', async () => {
    await Promise.all([
      write('POST', membershipsOf(), { device_ids: devices }),
      write('POST', membershipsOf(), { device_ids: devices.toReversed() }),
      write('POST', membershipsOf(), { device_ids: devices.slice(1) }),
    ])
    expect(await countMembers(group)).toBe(3)
  })
})

async function readDevice(id: string) {
  const device = await api.db
    .selectFrom('device')
    .innerJoin('check_result', 'check_result.device_id', 'device.id')
    .select(['device.auth_state', 'check_result.status'])
    .where('device.id', '=', id)
    .executeTakeFirstOrThrow()
  const open = await api.db
    .selectFrom('issue')
    .select('id')
    .where('device_id', '=', id)
    .where('resolved_at', 'is', null)
    .execute()
  return { ...device, openIssues: open.length }
}

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestApi, TestRefusal } from '../../../test/support/api-app.ts'
import {
  CAMPAIGNS_PATH,
  countsOf,
  PLAIN_CAMPAIGN,
  createCampaignsApi,
  type CampaignsApi,
  type TestCampaign,
} from '../../../test/support/campaigns-api.ts'
import { insertDevice } from '../../../test/support/factories.ts'
import {
  describeListContract,
  describeRecordContract,
} from '../../../test/support/read-contract.ts'

let campaigns: CampaignsApi
let api: TestApi
let key: string
let mac: string
let windows: string
let linux: string

beforeAll(async () => {
  campaigns = await createCampaignsApi()
  ;({ api, key } = campaigns)
  ;({ mac, windows, linux } = campaigns.devices)
})
afterAll(() => campaigns.close())

async function refused(payload: object, url = CAMPAIGNS_PATH, method: 'POST' | 'PATCH' = 'POST') {
  const { status, body } = await api.request<TestRefusal>(url, { method, key, payload })
  return { status, code: body.code, paths: body.details?.map(({ path }) => path) }
}

describe('campaigns', () => {
  beforeAll(async () => {
    for (const [name, sql] of [
      ['one', 'select * from users'],
      ['two', 'select * from users join groups using (gid)'],
      ['three', 'select * from processes'],
      ['four', 'select * from users'],
      ['five', 'select * from users'],
    ]) {
      await campaigns.create({ name, sql })
    }
    await campaigns.create({ name: 'draft', published: false })
  })

  describeListContract({
    api: () => api,
    path: () => CAMPAIGNS_PATH,
    fields: ['created_at', 'name', 'published', 'tables_used'],
    narrowSearch: () => 'tables_used:users',
  })

  describe('one', () => {
    let id: string
    beforeAll(async () => {
      id = (await campaigns.create()).id
    })
    describeRecordContract({ api: () => api, path: () => `${CAMPAIGNS_PATH}/${id}` })
    describeRecordContract({
      api: () => api,
      path: () => `${CAMPAIGNS_PATH}/${id}`,
      suffix: '/devices',
    })
    describeRecordContract({
      api: () => api,
      path: () => `${CAMPAIGNS_PATH}/${id}`,
      suffix: '/query_results',
    })
  })

  it.each([
    ['name:draft', ['draft']],
    ['name~OU', ['four']],
    ['published:false', ['draft']],
    ['tables_used:groups', ['two']],
    ['tables_used~roces', ['three']],
    ['name:one AND created_at<2026-01-03', ['one']],
    ['name:one AND created_at>2026-01-03', []],
  ])('are found by %s', async (query, names) => {
    const { body } = await api.request<{ data: { name: string }[] }>(
      `${CAMPAIGNS_PATH}?per_page=100&query=${encodeURIComponent(query)}`,
    )
    expect(body.data.map(({ name }) => name)).toEqual(names)
  })
})

describe('creating a campaign', () => {
  it('answers the campaign and asks every device that runs an agent', async () => {
    const campaign = await campaigns.create({ sql: 'select pid from processes p, users;' })
    expect(campaign).toEqual({
      id: expect.stringMatching(/^\d+$/) as string,
      name: 'Uptime',
      osquery_sql: 'select pid from processes p, users;',
      created_at: '2026-01-02T03:04:05.678Z',
      asked_at: '2026-01-02T03:04:05.678Z',
      published: true,
      revision: 1,
      tables_used: ['processes', 'users'],
      warnings: [],
      successful_devices_count: 0,
      errored_devices_count: 0,
      waiting_devices_count: 3,
      targeted_device_ids: [],
      target_all_devices: true,
      target_macs: false,
      target_windows_devices: false,
      target_linux_devices: false,
    })
    expect(await campaigns.listDevices(campaign.id)).toEqual([mac, windows, linux])
    expect(await campaigns.listResults(campaign.id)).toEqual([])
    expect(await campaigns.getAudit('live_query_campaign.created')).toMatchObject({
      target_id: campaign.id,
      before: null,
      after: { name: 'Uptime', target_all_devices: true, revision: 1 },
    })
  })

  it('warns about tables and columns that devices of the asked platforms do not have', async () => {
    const sql = 'select a.global_state, u.shoe_size from alf a, users u'
    const windows = await campaigns.create({
      sql,
      target_all_devices: false,
      target_windows_devices: true,
    })
    expect(windows.warnings).toEqual([
      {
        platform: 'windows',
        message: 'osquery has no table alf on Windows; it is there on macOS only.',
      },
    ])
    const macs = await campaigns.patch(windows.id, {
      target_windows_devices: false,
      target_macs: true,
    })
    expect(macs.warnings).toEqual([
      {
        platform: 'darwin',
        message: 'The tables of the query have no column u.shoe_size on macOS.',
      },
    ])
  })

  it('has the names of its tables where it is given none', async () => {
    const create = async (sql: string) => {
      const payload = { sql, target_macs: true }
      const { body } = await api.request<{ readonly name: string }>(CAMPAIGNS_PATH, {
        method: 'POST',
        key,
        payload,
      })
      return body.name
    }
    expect(await create('select pid from processes p, users')).toBe('processes, users')
    expect(await create('select 1 as x')).toBe('Live query')
  })

  it('asks the devices of the named kinds and ids, each once', async () => {
    const { id } = await campaigns.create({
      target_all_devices: false,
      target_macs: true,
      targeted_device_ids: [Number(linux), linux, Number(mac)],
    })
    expect(await campaigns.listDevices(id)).toEqual([mac, linux])
    const only = await campaigns.create({ target_all_devices: false, target_windows_devices: true })
    expect(await campaigns.listDevices(only.id)).toEqual([windows])
    const linuxOnly = await campaigns.create({
      target_all_devices: false,
      target_linux_devices: true,
    })
    expect(await campaigns.listDevices(linuxOnly.id)).toEqual([linux])
  })

  it('asks nobody while it is a draft, with or without targets', async () => {
    const { id } = await campaigns.create({ target_all_devices: false, published: false })
    expect(await campaigns.listDevices(id)).toEqual([])
    expect(countsOf(await campaigns.show(id))).toEqual([0, 0, 0])
  })

  it.each([
    ['nothing', {}, ['sql']],
    ['an empty name', { ...PLAIN_CAMPAIGN, name: ' ' }, ['name']],
    ['a long name', { ...PLAIN_CAMPAIGN, name: 'x'.repeat(201) }, ['name']],
    ['two statements', { ...PLAIN_CAMPAIGN, sql: 'select 1; select 2' }, ['sql']],
    ['a statement that writes', { ...PLAIN_CAMPAIGN, sql: 'drop table users' }, ['sql']],
    [
      'SQL that is too long',
      { ...PLAIN_CAMPAIGN, sql: `select 1 --${'x'.repeat(20_000)}` },
      ['sql'],
    ],
    ['no targets', { name: 'x', sql: 'select 1' }, ['targeted_device_ids']],
    [
      'an unknown device',
      { ...PLAIN_CAMPAIGN, targeted_device_ids: [999_999] },
      ['targeted_device_ids'],
    ],
    [
      'a word for a device',
      { ...PLAIN_CAMPAIGN, targeted_device_ids: ['a'] },
      ['targeted_device_ids.0'],
    ],
    [
      'too many devices',
      {
        ...PLAIN_CAMPAIGN,
        targeted_device_ids: Array.from({ length: 1_001 }, (_, index) => index + 1),
      },
      ['targeted_device_ids'],
    ],
    ['a word for a switch', { ...PLAIN_CAMPAIGN, target_macs: 'yes' }, ['target_macs']],
    ['an unknown member', { ...PLAIN_CAMPAIGN, osquery_sql: 'select 1' }, ['osquery_sql']],
  ])('is refused with %s, and nothing is written', async (_what, payload, paths) => {
    const before = await api.db.selectFrom('live_query_campaign').select('id').execute()
    expect(await refused(payload)).toEqual({ status: 422, code: 'invalid_body', paths })
    const after = await api.db.selectFrom('live_query_campaign').select('id').execute()
    expect(after).toEqual(before)
  })

  it('is refused for a device that cannot answer', async () => {
    const phone = await insertDevice(api.db, { platform: 'android' })
    const payload = { ...PLAIN_CAMPAIGN, targeted_device_ids: [Number(phone)] }
    expect(await refused(payload)).toMatchObject({ status: 422 })
    await api.db.deleteFrom('device').where('id', '=', phone).execute()
  })
})

describe('who may write', () => {
  it.each([
    ['POST', ''],
    ['PATCH', '/1'],
    ['PUT', '/1'],
    ['DELETE', '/1'],
  ] as const)('%s needs the permission by name', async (method, suffix) => {
    const payload = method === 'DELETE' ? {} : { payload: { name: 'x' } }
    const url = `${CAMPAIGNS_PATH}${suffix}`
    const refusedBody = (await api.request<TestRefusal>(url, { method, ...payload })).body
    expect(refusedBody).toMatchObject({ error: 'Forbidden', code: 'permission_missing' })
    expect(refusedBody.message).toContain('Create Live Query')
    const anonymous = await api.request(url, { method, key: null, ...payload })
    expect(anonymous.status).toBe(401)
  })

  it.each(['PATCH', 'DELETE'] as const)(
    '%s finds no campaign that is not there',
    async (method) => {
      for (const id of ['999999', 'abc', '0', '9'.repeat(40)]) {
        const { status } = await api.request(`${CAMPAIGNS_PATH}/${id}`, {
          method,
          key,
          ...(method === 'PATCH' ? { payload: { name: 'x' } } : {}),
        })
        expect(status).toBe(404)
      }
    },
  )
})

describe('changing a campaign', () => {
  let id: string
  beforeEach(async () => {
    id = (await campaigns.create()).id
    await campaigns.answer(mac, id, 1, { rows: [{ a: '1' }] })
  })

  it('asks all targets anew under a higher revision when the SQL changes', async () => {
    const changed = await campaigns.patch(id, { sql: 'select * from time' })
    expect(changed).toMatchObject({
      osquery_sql: 'select * from time',
      tables_used: ['time'],
      revision: 2,
    })
    expect(countsOf(changed)).toEqual([3, 0, 0])
    expect(await campaigns.listResults(id)).toEqual([])
    await campaigns.answer(mac, id, 1)
    expect(countsOf(await campaigns.show(id))).toEqual([3, 0, 0])
    await campaigns.answer(mac, id, 2)
    expect(countsOf(await campaigns.show(id))).toEqual([2, 1, 0])
    expect(await campaigns.getAudit('live_query_campaign.updated')).toMatchObject({
      target_id: id,
      before: { sql: 'select * from uptime', revision: 1 },
      after: { sql: 'select * from time', revision: 2 },
    })
  })

  it('asks the new targets and no others, those that enrolled meanwhile included', async () => {
    const later = await insertDevice(api.db, { platform: 'linux' })
    expect(await campaigns.listDevices(id)).not.toContain(later)
    const changed = await campaigns.patch(id, {
      target_all_devices: false,
      target_linux_devices: true,
    })
    expect(changed.revision).toBe(2)
    expect(await campaigns.listDevices(id)).toEqual([linux, later])
    expect(countsOf(changed)).toEqual([2, 0, 0])
    await api.db.deleteFrom('device').where('id', '=', later).execute()
  })

  it('keeps revision and answers when only the name changes', async () => {
    const changed = await campaigns.patch(id, { name: 'Other' })
    expect(changed).toMatchObject({ name: 'Other', revision: 1 })
    expect(countsOf(changed)).toEqual([2, 1, 0])
  })

  it('leaves no audit entry when nothing changes', async () => {
    const before = await campaigns.getAudit('live_query_campaign.updated')
    await campaigns.patch(id, { name: 'Uptime', sql: 'select * from uptime', published: true })
    expect(await campaigns.getAudit('live_query_campaign.updated')).toEqual(before)
  })

  it('keeps the answers when it is withdrawn, and asks anew when it is published again', async () => {
    const withdrawn = await campaigns.patch(id, { published: false })
    expect(withdrawn).toMatchObject({ published: false, revision: 1 })
    expect(await campaigns.listResults(id)).toHaveLength(1)
    const again = await campaigns.patch(id, { published: true })
    expect(again).toMatchObject({ published: true, revision: 2 })
    expect(countsOf(again)).toEqual([3, 0, 0])
  })

  it('drops the answers when its SQL or its targets change while it is withdrawn', async () => {
    await campaigns.patch(id, { published: false })
    const other = await campaigns.patch(id, { sql: 'select 2 as b' })
    expect(other).toMatchObject({ published: false, revision: 2 })
    expect(countsOf(other)).toEqual([0, 0, 0])
    expect(await campaigns.listResults(id)).toEqual([])
    const again = await campaigns.patch(id, { published: true })
    expect(countsOf(again)).toEqual([3, 0, 0])
  })

  it('publishes a draft under the revision that it has', async () => {
    const draft = await campaigns.create({ published: false })
    const published = await campaigns.patch(draft.id, { published: true })
    expect(published.revision).toBe(1)
    expect(countsOf(published)).toEqual([3, 0, 0])
  })

  it('answers PUT as it does PATCH', async () => {
    const { status, body } = await api.request<TestCampaign>(`${CAMPAIGNS_PATH}/${id}`, {
      method: 'PUT',
      key,
      payload: { name: 'Put' },
    })
    expect([status, body]).toEqual([200, expect.objectContaining({ name: 'Put' })])
  })

  it.each([
    ['other SQL that writes', { sql: 'delete from users' }, ['sql']],
    ['no target left', { target_all_devices: false }, ['targeted_device_ids']],
    ['an unknown device', { targeted_device_ids: [999_999] }, ['targeted_device_ids']],
    ['an unknown member', { revision: 7 }, ['revision']],
  ])('is refused with %s, and nothing is written', async (_what, payload, paths) => {
    const before = await campaigns.show(id)
    const url = `${CAMPAIGNS_PATH}/${id}`
    expect(await refused(payload, url, 'PATCH')).toEqual({
      status: 422,
      code: 'invalid_body',
      paths,
    })
    expect(await campaigns.show(id)).toEqual(before)
  })
})

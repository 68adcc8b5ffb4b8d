import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi, type TestRefusal } from '../../test/support/api-app.ts'
import { insertDevice } from '../../test/support/factories.ts'
import {
  describeListContract,
  describeRecordContract,
  type TestPage,
} from '../../test/support/read-contract.ts'
import { liveQueryRoutes } from './campaign-routes.ts'
import { recordLiveAnswers } from './record-live-answers.ts'

const BASE_URL = 'https://trust.example.com'
const PATH = '/live_query_campaigns'

interface Campaign {
  readonly id: string
  readonly osquery_sql: string
  readonly published: boolean
  readonly revision: number
  readonly successful_devices_count: number
  readonly errored_devices_count: number
  readonly waiting_devices_count: number
}
type Refusal = TestRefusal & { details?: { path: string; message: string }[] }

let api: TestApi
let key: string
let mac: string
let windows: string
let linux: string

beforeAll(async () => {
  api = await createTestApi(({ db, runChange }) =>
    liveQueryRoutes({ db, runChange, baseUrl: BASE_URL }),
  )
  key = await api.createKey(['Create Live Query'])
  mac = await insertDevice(api.db, { platform: 'darwin' })
  windows = await insertDevice(api.db, { platform: 'windows' })
  linux = await insertDevice(api.db, { platform: 'linux' })
  await insertDevice(api.db, { platform: 'ios' })
  await insertDevice(api.db, { platform: 'linux', agent_disabled_at: new Date() })
})
afterAll(() => api.close())

const PLAIN = { name: 'Uptime', sql: 'select * from uptime', target_all_devices: true }

async function create(values: object = {}): Promise<Campaign> {
  const payload = { ...PLAIN, ...values }
  const { status, body } = await api.request<Campaign>(PATH, { method: 'POST', key, payload })
  expect(status).toBe(200)
  return body
}

async function patch(id: string, payload: object): Promise<Campaign> {
  const { status, body } = await api.request<Campaign>(`${PATH}/${id}`, {
    method: 'PATCH',
    key,
    payload,
  })
  expect(status).toBe(200)
  return body
}

async function show(id: string): Promise<Campaign> {
  return (await api.request<Campaign>(`${PATH}/${id}`)).body
}

/** Answers as the intake records them. */
async function answer(
  deviceId: string,
  id: string,
  revision: number,
  result: { rows?: object[]; statusCode?: number; message?: string } = {},
): Promise<void> {
  await api.runChange(
    { actor: { type: 'System', id: null, name: 'test', email: null } },
    (change) =>
      recordLiveAnswers(change, { forget: () => undefined }, deviceId, [
        { id: `live:${id}:${revision}`, rows: [], statusCode: 0, message: '', ...result },
      ]),
  )
}

async function devicesOf(id: string, query = ''): Promise<string[]> {
  const { body } = await api.request<TestPage>(`${PATH}/${id}/devices?per_page=100${query}`)
  return body.data.map((device) => device.id)
}

async function resultsOf(id: string): Promise<Record<string, unknown>[]> {
  const { body } = await api.request<{ data: Record<string, unknown>[] }>(
    `${PATH}/${id}/query_results`,
  )
  return body.data
}

const countsOf = (campaign: Campaign) => [
  campaign.waiting_devices_count,
  campaign.successful_devices_count,
  campaign.errored_devices_count,
]

async function auditOf(action: string) {
  return api.db
    .selectFrom('audit_entry')
    .select(['before', 'after', 'actor_name', 'target_id'])
    .where('action', '=', action)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
}

async function refused(payload: object, url = PATH, method: 'POST' | 'PATCH' = 'POST') {
  const { status, body } = await api.request<Refusal>(url, { method, key, payload })
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
      await create({ name, sql })
    }
    await create({ name: 'draft', published: false })
  })

  describeListContract({
    api: () => api,
    path: () => PATH,
    fields: ['created_at', 'name', 'published', 'tables_used'],
    narrowSearch: () => 'tables_used:users',
  })

  describe('one', () => {
    let id: string
    beforeAll(async () => {
      id = (await create()).id
    })
    describeRecordContract({ api: () => api, path: () => `${PATH}/${id}` })
    describeRecordContract({ api: () => api, path: () => `${PATH}/${id}`, suffix: '/devices' })
    describeRecordContract({
      api: () => api,
      path: () => `${PATH}/${id}`,
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
      `${PATH}?per_page=100&query=${encodeURIComponent(query)}`,
    )
    expect(body.data.map(({ name }) => name)).toEqual(names)
  })
})

describe('creating a campaign', () => {
  it('answers the campaign and asks every device that runs an agent', async () => {
    const campaign = await create({ sql: 'select pid from processes p, users;' })
    expect(campaign).toEqual({
      id: expect.stringMatching(/^\d+$/) as string,
      name: 'Uptime',
      osquery_sql: 'select pid from processes p, users;',
      created_at: '2026-01-02T03:04:05.678Z',
      published: true,
      revision: 1,
      tables_used: ['processes', 'users'],
      successful_devices_count: 0,
      errored_devices_count: 0,
      waiting_devices_count: 3,
      targeted_device_ids: [],
      target_all_devices: true,
      target_macs: false,
      target_windows_devices: false,
      target_linux_devices: false,
    })
    expect(await devicesOf(campaign.id)).toEqual([mac, windows, linux])
    expect(await resultsOf(campaign.id)).toEqual([])
    expect(await auditOf('live_query_campaign.created')).toMatchObject({
      target_id: campaign.id,
      before: null,
      after: { name: 'Uptime', target_all_devices: true, revision: 1 },
    })
  })

  it('asks the devices of the named kinds and ids, each once', async () => {
    const { id } = await create({
      target_all_devices: false,
      target_macs: true,
      targeted_device_ids: [Number(linux), linux, Number(mac)],
    })
    expect(await devicesOf(id)).toEqual([mac, linux])
    const only = await create({ target_all_devices: false, target_windows_devices: true })
    expect(await devicesOf(only.id)).toEqual([windows])
    const linuxOnly = await create({ target_all_devices: false, target_linux_devices: true })
    expect(await devicesOf(linuxOnly.id)).toEqual([linux])
  })

  it('asks nobody while it is a draft, with or without targets', async () => {
    const { id } = await create({ target_all_devices: false, published: false })
    expect(await devicesOf(id)).toEqual([])
    expect(countsOf(await show(id))).toEqual([0, 0, 0])
  })

  it.each([
    ['nothing', {}, ['name', 'sql']],
    ['an empty name', { ...PLAIN, name: ' ' }, ['name']],
    ['a long name', { ...PLAIN, name: 'x'.repeat(201) }, ['name']],
    ['two statements', { ...PLAIN, sql: 'select 1; select 2' }, ['sql']],
    ['a statement that writes', { ...PLAIN, sql: 'drop table users' }, ['sql']],
    ['SQL that is too long', { ...PLAIN, sql: `select 1 --${'x'.repeat(20_000)}` }, ['sql']],
    ['no targets', { name: 'x', sql: 'select 1' }, ['targeted_device_ids']],
    ['an unknown device', { ...PLAIN, targeted_device_ids: [999_999] }, ['targeted_device_ids']],
    ['a word for a device', { ...PLAIN, targeted_device_ids: ['a'] }, ['targeted_device_ids.0']],
    [
      'too many devices',
      { ...PLAIN, targeted_device_ids: Array.from({ length: 1_001 }, (_, index) => index + 1) },
      ['targeted_device_ids'],
    ],
    ['a word for a switch', { ...PLAIN, target_macs: 'yes' }, ['target_macs']],
    ['an unknown member', { ...PLAIN, osquery_sql: 'select 1' }, ['osquery_sql']],
  ])('is refused with %s, and nothing is written', async (_what, payload, paths) => {
    const before = await api.db.selectFrom('live_query_campaign').select('id').execute()
    expect(await refused(payload)).toEqual({ status: 422, code: 'invalid_body', paths })
    const after = await api.db.selectFrom('live_query_campaign').select('id').execute()
    expect(after).toEqual(before)
  })

  it('is refused for a device that cannot answer', async () => {
    const phone = await insertDevice(api.db, { platform: 'android' })
    const payload = { ...PLAIN, targeted_device_ids: [Number(phone)] }
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
    const url = `${PATH}${suffix}`
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
        const { status } = await api.request(`${PATH}/${id}`, {
          method,
          key,
          ...(method === 'PATCH' ? { payload: { name: 'x' } } : {}),
        })
        expect(status).toBe(404)
      }
    },
  )
})

describe('answers', () => {
  let id: string
  beforeEach(async () => {
    id = (await create()).id
  })

  it('are shown in the order in which they come, and counted', async () => {
    await answer(linux, id, 1, { rows: [{ days: '3' }, { days: '4' }] })
    await answer(mac, id, 1, { statusCode: 1, message: 'distributed query is denylisted' })
    expect(countsOf(await show(id))).toEqual([1, 1, 1])
    expect(await resultsOf(id)).toEqual([
      {
        id: expect.any(String) as string,
        result_count: '2',
        error_message: null,
        warning_message: null,
        revision: 1,
        device_information: { identifier: linux, link: `${BASE_URL}/devices/${linux}` },
        results: [{ days: '3' }, { days: '4' }],
        answered_at: '2026-01-02T03:04:05.678Z',
      },
      {
        id: expect.any(String) as string,
        result_count: '0',
        error_message: 'distributed query is denylisted',
        warning_message: null,
        revision: 1,
        device_information: { identifier: mac, link: `${BASE_URL}/devices/${mac}` },
        results: [],
        answered_at: '2026-01-02T03:04:05.678Z',
      },
    ])
    expect(await devicesOf(id, '&state=waiting')).toEqual([windows])
    expect(await devicesOf(id, '&state=successful')).toEqual([linux])
    expect(await devicesOf(id, '&state=errored')).toEqual([mac])
  })

  it.each([
    ['error_message:"no such table: x"', 1],
    ['error_message~NO SUCH', 0],
    ['error_message~"NO SUCH"', 1],
    ['warning_message~rows', 1],
    ['warning_message:nothing', 0],
  ])('are found by %s', async (query, count) => {
    await answer(mac, id, 1, { statusCode: 1, message: 'no such table: x' })
    const rows = Array.from({ length: 1_001 }, () => ({ a: '1' }))
    await answer(linux, id, 1, { rows })
    await answer(windows, id, 1, { rows: [] })
    const url = `${PATH}/${id}/query_results?query=${encodeURIComponent(query)}`
    const { status, body } = await api.request<TestPage>(url)
    expect(status).toBe(query === 'error_message~NO SUCH' ? 400 : 200)
    if (status === 200) expect(body.data).toHaveLength(count)
  })

  it('count once, however often and however late they come', async () => {
    await answer(mac, id, 1, { rows: [{ a: '1' }] })
    await answer(mac, id, 1, { rows: [{ a: '2' }] })
    await answer(mac, id, 1, { statusCode: 1, message: 'denylisted' })
    expect(countsOf(await show(id))).toEqual([2, 1, 0])
    expect(await resultsOf(id)).toMatchObject([{ results: [{ a: '1' }] }])
  })

  it('are ignored from a device that is not asked, of another revision and of no campaign', async () => {
    const other = await create({ target_all_devices: false, target_macs: true })
    await answer(linux, other.id, 1)
    await answer(mac, other.id, 2)
    await answer(mac, '999999', 1)
    expect(countsOf(await show(other.id))).toEqual([1, 0, 0])
    expect(await resultsOf(other.id)).toEqual([])
  })

  it('are ignored after the campaign is deleted', async () => {
    const { body } = await api.request<Campaign>(`${PATH}/${id}`, { method: 'DELETE', key })
    expect(body).toMatchObject({ id, waiting_devices_count: 3 })
    await answer(mac, id, 1)
    expect((await api.request(`${PATH}/${id}`)).status).toBe(404)
    expect(await auditOf('live_query_campaign.deleted')).toMatchObject({
      target_id: id,
      before: { name: 'Uptime' },
      after: null,
    })
    for (const table of ['live_query_target', 'live_query_result', 'live_query_counter'] as const) {
      const left = await api.db
        .selectFrom(table)
        .select('campaign_id')
        .where('campaign_id', '=', id)
        .execute()
      expect(left).toEqual([])
    }
  })

  it('leave with their device, and the counters follow', async () => {
    const gone = await insertDevice(api.db, { platform: 'linux' })
    const waiting = await insertDevice(api.db, { platform: 'linux' })
    const campaign = await create()
    await answer(gone, campaign.id, 1)
    expect(countsOf(await show(campaign.id))).toEqual([4, 1, 0])
    await api.db.deleteFrom('device').where('id', 'in', [gone, waiting]).execute()
    expect(countsOf(await show(campaign.id))).toEqual([3, 0, 0])
    expect(await resultsOf(campaign.id)).toEqual([])
  })

  it('of several campaigns arrive in one message, the last one of each revision counting', async () => {
    const second = await create()
    await api.runChange(
      { actor: { type: 'System', id: null, name: 'test', email: null } },
      (change) =>
        recordLiveAnswers(
          change,
          { forget: () => undefined },
          mac,
          [`live:${second.id}:1`, `live:${id}:1`, 'live:x', `live:${id}:1`].map(
            (queryId, index) => ({
              id: queryId,
              rows: [{ index: `${index}` }],
              statusCode: 0,
              message: '',
            }),
          ),
        ),
    )
    expect(await resultsOf(id)).toMatchObject([{ results: [{ index: '3' }] }])
    expect(await resultsOf(second.id)).toMatchObject([{ results: [{ index: '0' }] }])
  })

  it('of all devices at once, while the campaign changes and devices go, are counted exactly', async () => {
    const deviceIds: string[] = []
    for (let count = 0; count < 60; count += 1) {
      deviceIds.push(await insertDevice(api.db, { platform: 'linux' }))
    }
    const campaign = await create()
    const kept = deviceIds.slice(0, 50)
    await Promise.all([
      ...deviceIds.map((deviceId, index) =>
        answer(deviceId, campaign.id, 1, { statusCode: index % 5 === 0 ? 1 : 0 }),
      ),
      patch(campaign.id, { sql: 'select * from time' }),
      api.runChange({ actor: { type: 'System', id: null, name: 'test', email: null } }, (change) =>
        change.tx.deleteFrom('device').where('id', 'in', deviceIds.slice(50)).execute(),
      ),
    ])
    await Promise.all(
      kept.map((deviceId, index) =>
        answer(deviceId, campaign.id, 2, { statusCode: index % 5 === 0 ? 1 : 0 }),
      ),
    )
    expect(countsOf(await show(campaign.id))).toEqual([3, 40, 10])
    expect((await devicesOf(campaign.id, '&state=errored')).length).toBe(10)
    await api.db.deleteFrom('device').where('id', 'in', kept).execute()
    expect(countsOf(await show(campaign.id))).toEqual([3, 0, 0])
  })
})

describe('changing a campaign', () => {
  let id: string
  beforeEach(async () => {
    id = (await create()).id
    await answer(mac, id, 1, { rows: [{ a: '1' }] })
  })

  it('asks all targets anew under a higher revision when the SQL changes', async () => {
    const changed = await patch(id, { sql: 'select * from time' })
    expect(changed).toMatchObject({
      osquery_sql: 'select * from time',
      tables_used: ['time'],
      revision: 2,
    })
    expect(countsOf(changed)).toEqual([3, 0, 0])
    expect(await resultsOf(id)).toEqual([])
    await answer(mac, id, 1)
    expect(countsOf(await show(id))).toEqual([3, 0, 0])
    await answer(mac, id, 2)
    expect(countsOf(await show(id))).toEqual([2, 1, 0])
    expect(await auditOf('live_query_campaign.updated')).toMatchObject({
      target_id: id,
      before: { sql: 'select * from uptime', revision: 1 },
      after: { sql: 'select * from time', revision: 2 },
    })
  })

  it('asks the new targets and no others, those that enrolled meanwhile included', async () => {
    const later = await insertDevice(api.db, { platform: 'linux' })
    expect(await devicesOf(id)).not.toContain(later)
    const changed = await patch(id, { target_all_devices: false, target_linux_devices: true })
    expect(changed.revision).toBe(2)
    expect(await devicesOf(id)).toEqual([linux, later])
    expect(countsOf(changed)).toEqual([2, 0, 0])
    await api.db.deleteFrom('device').where('id', '=', later).execute()
  })

  it('keeps revision and answers when only the name changes', async () => {
    const changed = await patch(id, { name: 'Other' })
    expect(changed).toMatchObject({ name: 'Other', revision: 1 })
    expect(countsOf(changed)).toEqual([2, 1, 0])
  })

  it('leaves no audit entry when nothing changes', async () => {
    const before = await auditOf('live_query_campaign.updated')
    await patch(id, { name: 'Uptime', sql: 'select * from uptime', published: true })
    expect(await auditOf('live_query_campaign.updated')).toEqual(before)
  })

  it('keeps the answers when it is withdrawn, and asks anew when it is published again', async () => {
    const withdrawn = await patch(id, { published: false })
    expect(withdrawn).toMatchObject({ published: false, revision: 1 })
    expect(await resultsOf(id)).toHaveLength(1)
    const again = await patch(id, { published: true })
    expect(again).toMatchObject({ published: true, revision: 2 })
    expect(countsOf(again)).toEqual([3, 0, 0])
  })

  it('publishes a draft under the revision that it has', async () => {
    const draft = await create({ published: false })
    const published = await patch(draft.id, { published: true })
    expect(published.revision).toBe(1)
    expect(countsOf(published)).toEqual([3, 0, 0])
  })

  it('answers PUT as it does PATCH', async () => {
    const { status, body } = await api.request<Campaign>(`${PATH}/${id}`, {
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
    const before = await show(id)
    const url = `${PATH}/${id}`
    expect(await refused(payload, url, 'PATCH')).toEqual({
      status: 422,
      code: 'invalid_body',
      paths,
    })
    expect(await show(id)).toEqual(before)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL, createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import {
  insertCheck,
  insertDevice,
  insertIssue,
  insertPerson,
} from '../../../test/support/factories.ts'
import {
  describeListContract,
  describeRecordContract,
  toTrials,
  trialsOf,
} from '../../../test/support/read-contract.ts'
import { DEVICE_LIST } from './device-read.ts'
import { deviceRoutes } from './device-routes.ts'

let api: TestApi
let ownerId: string
/** Device ids by name. */
let ids: Record<'alpha' | 'beta' | 'gamma' | 'delta' | 'epsilon', string>

beforeAll(async () => {
  api = await createTestApi(({ db }) => deviceRoutes(db, BASE_URL))
  const { db } = api
  ownerId = await insertPerson(db, { name: 'Ada Lovelace', email: 'ada.lovelace@example.com' })
  const alpha = await insertDevice(db, {
    name: 'alpha',
    platform: 'darwin',
    hardware_uuid: '5B9F3C1E-0000-4000-8000-00000000A1FA',
    serial: 'C02ALPHA',
    operating_system: 'macOS 26.1',
    hardware_model: 'MacBook Air',
    note: 'Spare **laptop**',
    owner_person_id: ownerId,
    registered_at: new Date('2026-01-10T00:00:00.001Z'),
    last_authenticated_at: new Date('2026-01-11T00:00:00.020Z'),
    authentication_mode: 'anyone',
    auth_state: 'Will Block',
    will_block_at: new Date('2026-02-01T00:00:00.300Z'),
    updated_at: new Date('2026-01-12T00:00:00Z'),
  })
  await db
    .insertInto('device_contact')
    .values({ device_id: alpha, last_seen_at: new Date('2026-01-12T10:11:12.130Z') })
    .execute()
  ids = {
    alpha,
    beta: await insertDevice(db, { name: 'beta', platform: 'windows', serial: 'PF-BETA' }),
    gamma: await insertDevice(db, {
      name: 'gamma "3"',
      platform: 'linux',
      note: 'a spare',
      owner_person_id: ownerId,
      registered_at: new Date('2026-01-20T00:00:00Z'),
      last_authenticated_at: new Date('2026-01-21T00:00:00Z'),
      auth_state: 'Good',
    }),
    delta: await insertDevice(db, {
      name: 'delta',
      platform: 'android',
      form_factor: 'phone',
      auth_state: 'Notified',
      duplicate_hardware_since: new Date('2026-01-15T00:00:00Z'),
    }),
    epsilon: await insertDevice(db, {
      name: 'epsilon',
      platform: 'ios',
      form_factor: 'tablet',
      duplicate_hardware_since: new Date('2026-01-05T00:00:00Z'),
      auth_state: 'Will Block',
      will_block_at: new Date('2026-03-01T00:00:00Z'),
    }),
  }
})

afterAll(() => api.close())

describe('GET /devices', () => {
  describeListContract({
    api: () => api,
    path: () => '/devices',
    fields: [
      'id (:)',
      'name (: ~)',
      'registered_at (: < >)',
      'last_authenticated_at (: < >)',
      'serial (: ~)',
      'note (: ~)',
      'hardware_uuid (: ~)',
      'device_type (:)',
      'auth_state (:)',
      'will_block_at (: < >)',
    ],
    narrowSearch: () => `id:[${ids.alpha},${ids.gamma},${ids.epsilon}]`,
  })

  const SEARCHES: Record<string, readonly string[]> = {
    'name:alpha': ['alpha'],
    'name:alph': [],
    'name~LPH': ['alpha'],
    'name:"gamma \\"3\\""': ['gamma "3"'],
    'registered_at:2026-01-10T00:00:00.001Z': ['alpha'],
    'registered_at:2026-01-10': [],
    'registered_at>2026-01-10T00:00:00.001Z': ['gamma "3"'],
    'registered_at>"2026-01-10T00:00:00.000Z"': ['alpha', 'gamma "3"'],
    'registered_at<2026-01-20T00:00:00Z': ['alpha'],
    'last_authenticated_at:2026-01-21': ['gamma "3"'],
    'last_authenticated_at>2026-01-15': ['gamma "3"'],
    'last_authenticated_at<2026-01-15': ['alpha'],
    'serial:C02ALPHA': ['alpha'],
    'serial:c02alpha': [],
    'serial~beta': ['beta'],
    'note:"a spare"': ['gamma "3"'],
    'note~SPARE': ['alpha', 'gamma "3"'],
    'hardware_uuid:5B9F3C1E-0000-4000-8000-00000000A1FA': ['alpha'],
    'hardware_uuid~a1fa': ['alpha'],
    'device_type:Mac': ['alpha'],
    'device_type:windows': ['beta'],
    'device_type:Linux': ['gamma "3"'],
    'device_type:Android': ['delta'],
    'device_type:iOS': ['epsilon'],
    'auth_state:"will block"': ['alpha', 'epsilon'],
    'auth_state:Notified': ['delta'],
    'will_block_at:2026-02-01T00:00:00.300Z': ['alpha'],
    'will_block_at>2026-02-15': ['epsilon'],
    'will_block_at<2026-02-15': ['alpha'],
    'duplicate_hardware_since:2026-01-15': ['delta'],
    'duplicate_hardware_since>2026-01-10': ['delta'],
    'duplicate_hardware_since<2026-01-10': ['epsilon'],
    'operating_system:"macOS 26.1"': ['alpha'],
    'operating_system~macos': ['alpha'],
    'hardware_model:"MacBook Air"': ['alpha'],
    'hardware_model~book': ['alpha'],
    'owner:"Ada Lovelace"': ['alpha', 'gamma "3"'],
    'owner~"lace@ex"': ['alpha', 'gamma "3"'],
    'owner~nobody': [],
    'last_seen_at:2026-01-12T10:11:12.130Z': ['alpha'],
    'last_seen_at>2026-01-12T10:11:12.129Z AND name:alpha': ['alpha'],
    'last_seen_at<2026-01-12T10:11:12.131Z AND name:alpha': ['alpha'],
    'last_seen_at<2026-01-12T10:11:12.130Z': ['beta', 'gamma "3"', 'delta', 'epsilon'],
    'updated_at:2026-01-12': ['alpha'],
    'updated_at>2026-01-10': ['alpha'],
    'updated_at<2026-01-10': ['beta', 'gamma "3"', 'delta', 'epsilon'],
    'device_type:Mac OR name:beta AND serial~PF': ['alpha', 'beta'],
    '(device_type:Mac OR name:beta) AND serial~PF': ['beta'],
  }

  it.each(Object.entries(SEARCHES))('finds by %s', async (query, names) => {
    expect(await findNames(query)).toEqual(names)
  })

  it('finds by one id and by several, quoted or not', async () => {
    expect(await findNames(`id:${ids.beta}`)).toEqual(['beta'])
    expect(await findNames(`id:["${ids.beta}","${ids.delta}"]`)).toEqual(['beta', 'delta'])
    expect(await findNames(`id:[${ids.beta}, ${ids.delta}]`)).toEqual(['beta', 'delta'])
    expect(await findNames(`id:${'9'.repeat(40)}`)).toEqual([])
  })

  it('finds by the id of the owner', async () => {
    expect(await findNames(`owner_id:${ownerId}`)).toEqual(['alpha', 'gamma "3"'])
    expect(await findNames('owner_id:1234567')).toEqual([])
  })

  it('has every field and operator tried', () => {
    expect(trialsOf([...Object.keys(SEARCHES), 'id:1', 'owner_id:1'])).toEqual(
      toTrials(DEVICE_LIST.fields),
    )
  })

  it('refuses a word that is no device type, and names those that are', async () => {
    const { status, body } = await api.request<{ message: string }>(
      '/devices?query=device_type:Toaster',
    )
    expect(status).toBe(400)
    expect(body.message).toContain('Mac, Linux, Windows, iOS, Android')
  })
})

async function findNames(query: string): Promise<string[]> {
  const url = `/devices?query=${encodeURIComponent(query)}`
  const { body } = await api.request<{ data: { name: string }[] }>(url)
  return body.data.map(({ name }) => name)
}

describe('GET /devices/{id}', () => {
  describeRecordContract({ api: () => api, path: () => `/devices/${ids.alpha}` })

  it('shows everything about a registered device', async () => {
    const { status, body } = await api.request(`/devices/${ids.alpha}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: ids.alpha,
      name: 'alpha',
      registered_at: '2026-01-10T00:00:00.001Z',
      last_authenticated_at: '2026-01-11T00:00:00.020Z',
      last_seen_at: '2026-01-12T10:11:12.130Z',
      registered_owner_info: { identifier: ownerId, link: `${BASE_URL}/people/${ownerId}` },
      operating_system: 'macOS 26.1',
      hardware_model: 'MacBook Air',
      serial: 'C02ALPHA',
      hardware_uuid: '5B9F3C1E-0000-4000-8000-00000000A1FA',
      note: 'Spare **laptop**',
      auth_state: 'Will Block',
      will_block_at: '2026-02-01T00:00:00.300Z',
      product_image_url: `${BASE_URL}/product-images/darwin.svg`,
      auth_configuration: {
        device_id: ids.alpha,
        authentication_mode: 'anyone',
        person_groups: [],
      },
      device_type: 'Mac',
      form_factor: 'computer',
      deletion_due_at: null,
      duplicate_hardware_since: null,
    })
  })

  it('shows null for what a device that nobody has registered lacks', async () => {
    const { body } = await api.request(`/devices/${ids.beta}`)
    expect(body).toEqual({
      id: ids.beta,
      name: 'beta',
      registered_at: null,
      last_authenticated_at: null,
      // It has enrolled, and not been heard of since.
      last_seen_at: '2026-01-02T03:04:05.678Z',
      registered_owner_info: { identifier: '', link: null },
      operating_system: '',
      hardware_model: '',
      serial: 'PF-BETA',
      hardware_uuid: null,
      note: null,
      auth_state: 'Blocked',
      will_block_at: null,
      product_image_url: `${BASE_URL}/product-images/windows.svg`,
      auth_configuration: null,
      device_type: 'Windows',
      form_factor: 'computer',
      deletion_due_at: null,
      duplicate_hardware_since: null,
    })
  })

  it('shows the same in the list', async () => {
    const { body: device } = await api.request(`/devices/${ids.epsilon}`)
    const { body } = await api.request<{ data: unknown[] }>(`/devices?query=id:${ids.epsilon}`)
    expect(body.data).toEqual([device])
    expect(device).toMatchObject({ device_type: 'iOS', form_factor: 'tablet' })
  })
})

describe('GET /devices/{id}/open_issues', () => {
  beforeAll(async () => {
    const checkId = await insertCheck(api.db)
    const open = { check_id: checkId, device_id: ids.alpha, issue_key: 'path' }
    for (const path of ['/a', '/b', '/c', '/d']) {
      await insertIssue(api.db, { ...open, title: `Open at ${path}`, issue_value: path })
    }
    await insertIssue(api.db, {
      ...open,
      title: 'Resolved',
      resolved_at: new Date('2026-01-05T00:00:00Z'),
    })
    await insertIssue(api.db, { check_id: checkId, device_id: ids.beta, title: 'Elsewhere' })
  })

  describeListContract({
    api: () => api,
    path: () => `/devices/${ids.alpha}/open_issues`,
    fields: ['id (:)', 'detected_at (: < >)', 'title (: ~)', 'device_id (: ~)'],
    narrowSearch: () => 'issue_value~"/" AND (issue_value:/a OR issue_value:/c OR issue_value:/d)',
  })
  describeRecordContract({
    api: () => api,
    path: () => `/devices/${ids.alpha}`,
    suffix: '/open_issues',
  })

  it('lists the open issues of this device alone', async () => {
    const { body } = await api.request<{ data: { title: string }[] }>(
      `/devices/${ids.alpha}/open_issues`,
    )
    expect(body.data.map(({ title }) => title)).toEqual([
      'Open at /a',
      'Open at /b',
      'Open at /c',
      'Open at /d',
    ])
  })

  it('refuses a cursor of the issues of another device', async () => {
    const { body } = await api.request<{ pagination: { next_cursor: string } }>(
      `/devices/${ids.alpha}/open_issues?per_page=1`,
    )
    const { status } = await api.request(
      `/devices/${ids.beta}/open_issues?cursor=${body.pagination.next_cursor}`,
    )
    expect(status).toBe(400)
  })
})

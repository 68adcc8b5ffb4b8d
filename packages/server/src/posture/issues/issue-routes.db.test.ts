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
  findNames,
  toTrials,
  trialsOf,
} from '../../../test/support/read-contract.ts'
import { ISSUE_LIST } from './issue-read.ts'
import { issueRoutes } from './issue-routes.ts'

let api: TestApi
let deviceId: string
let otherDeviceId: string
let checkId: string
let otherCheckId: string
/** Issue ids by title. */
let ids: Record<'disk' | 'firewall' | 'key' | 'account', string>

beforeAll(async () => {
  api = await createTestApi(({ db }) => issueRoutes(db, BASE_URL))
  const { db } = api
  deviceId = await insertDevice(db)
  otherDeviceId = await insertDevice(db)
  checkId = await insertCheck(db)
  otherCheckId = await insertCheck(db)
  ids = {
    disk: await insertIssue(db, {
      check_id: checkId,
      device_id: deviceId,
      title: 'A disk is not encrypted',
      issue_key: 'name',
      issue_value: 'disk1s1',
      value: JSON.stringify({ KOLIDE_CHECK_STATUS: 'FAIL', name: 'disk1s1', size: '500' }),
      detected_at: new Date('2026-01-10T00:00:00.001Z'),
      last_rechecked_at: new Date('2026-01-11T00:00:00.020Z'),
      blocks_device_at: new Date('2026-01-20T00:00:00.300Z'),
      updated_at: new Date('2026-01-11T00:00:00Z'),
    }),
    firewall: await insertIssue(db, {
      check_id: otherCheckId,
      device_id: otherDeviceId,
      title: 'The firewall is off',
      detected_at: new Date('2026-02-10T00:00:00Z'),
      last_rechecked_at: new Date('2026-02-11T00:00:00Z'),
      resolved_at: new Date('2026-02-11T00:00:00Z'),
      exempted_at: new Date('2026-02-10T12:00:00Z'),
    }),
    key: await insertIssue(db, {
      check_id: otherCheckId,
      device_id: deviceId,
      title: 'An SSH key has no passphrase',
      issue_key: 'path',
      issue_value: '/home/ada/.ssh/id_rsa',
      detected_at: new Date('2026-03-10T00:00:00Z'),
      last_rechecked_at: new Date('2026-03-11T00:00:00Z'),
      resolved_at: new Date('2026-03-11T00:00:00Z'),
      blocks_device_at: new Date('2026-03-20T00:00:00Z'),
    }),
    account: await insertIssue(db, {
      check_id: otherCheckId,
      person_id: await insertPerson(db),
      title: 'An account has no second factor',
      detected_at: new Date('2026-04-10T00:00:00Z'),
      last_rechecked_at: new Date('2026-04-11T00:00:00Z'),
    }),
  }
})

afterAll(() => api.close())

const findIds = (query: string) => findNames(api, '/issues', query, ids)

describe('GET /issues', () => {
  describeListContract({
    api: () => api,
    path: () => '/issues',
    fields: [
      'id (:)',
      'detected_at (: < >)',
      'resolved_at (: < >)',
      'blocks_device_at (: < >)',
      'last_rechecked_at (: < >)',
      'title (: ~)',
      'issue_key (: ~)',
      'issue_value (: ~)',
      'exempted (:)',
      'open (:)',
      'check_id (: ~)',
      'device_id (: ~)',
    ],
    narrowSearch: () => 'exempted:false',
  })

  const SEARCHES: Record<string, readonly string[]> = {
    'detected_at:2026-01-10T00:00:00.001Z': ['disk'],
    'detected_at:2026-01-10': [],
    'detected_at>2026-01-10T00:00:00.001Z': ['firewall', 'key', 'account'],
    'detected_at<"2026-02-10T00:00:00.000Z"': ['disk'],
    'resolved_at:2026-02-11': ['firewall'],
    'resolved_at>2026-02-15': ['key'],
    'resolved_at<2026-02-15': ['firewall'],
    'blocks_device_at:"2026-01-20T00:00:00.300Z"': ['disk'],
    'blocks_device_at>2026-02-01': ['key'],
    'blocks_device_at<2026-02-01': ['disk'],
    'last_rechecked_at:2026-01-11T00:00:00.020Z': ['disk'],
    'last_rechecked_at>2026-03-11T00:00:00Z': ['account'],
    'last_rechecked_at<2026-02-11T00:00:00Z': ['disk'],
    'title:"The firewall is off"': ['firewall'],
    'title~FIREWALL': ['firewall'],
    'issue_key:name': ['disk'],
    'issue_key~AT': ['key'],
    'issue_value:disk1s1': ['disk'],
    'issue_value~/.SSH/': ['key'],
    'issue_value~%': [],
    'open:true': ['disk', 'account'],
    'open:false': ['firewall', 'key'],
    'exempted:true': ['firewall'],
    'exempted:false': ['disk', 'key', 'account'],
    'updated_at:2026-01-11': ['disk'],
    'updated_at>2026-01-10': ['disk'],
    'updated_at<2026-01-10': ['firewall', 'key', 'account'],
  }

  it.each(Object.entries(SEARCHES))('finds by %s', async (query, names) => {
    expect(await findIds(query)).toEqual(names)
  })

  it('finds by the ids of issue, check and device, whole or in part', async () => {
    const searches = {
      [`id:${ids.key}`]: ['key'],
      [`id:["${ids.disk}","${ids.key}"]`]: ['disk', 'key'],
      [`check_id:${checkId}`]: ['disk'],
      [`check_id~${otherCheckId}`]: ['firewall', 'key', 'account'],
      [`device_id:${deviceId}`]: ['disk', 'key'],
      [`device_id~${otherDeviceId}`]: ['firewall'],
    }
    for (const [query, names] of Object.entries(searches)) {
      expect(await findIds(query), query).toEqual(names)
    }
    expect(trialsOf([...Object.keys(SEARCHES), ...Object.keys(searches)])).toEqual(
      toTrials(ISSUE_LIST.fields),
    )
  })
})

describe('GET /issues/{id}', () => {
  describeRecordContract({ api: () => api, path: () => `/issues/${ids.disk}` })

  it('shows an open issue of a check that can open several', async () => {
    const { status, body } = await api.request(`/issues/${ids.disk}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: ids.disk,
      title: 'A disk is not encrypted',
      issue_key: 'name',
      issue_value: 'disk1s1',
      value: { KOLIDE_CHECK_STATUS: 'FAIL', name: 'disk1s1', size: '500' },
      exempted: false,
      detected_at: '2026-01-10T00:00:00.001Z',
      last_rechecked_at: '2026-01-11T00:00:00.020Z',
      resolved_at: null,
      blocks_device_at: '2026-01-20T00:00:00.300Z',
      snoozed_until: null,
      device_information: { identifier: deviceId, link: `${BASE_URL}/devices/${deviceId}` },
      check_information: { identifier: checkId, link: `${BASE_URL}/checks/${checkId}` },
    })
  })

  it('leaves key and value out where a check opens one issue only', async () => {
    const { body } = await api.request(`/issues/${ids.firewall}`)
    expect(body).toEqual({
      id: ids.firewall,
      title: 'The firewall is off',
      value: { KOLIDE_CHECK_STATUS: 'FAIL' },
      exempted: true,
      detected_at: '2026-02-10T00:00:00.000Z',
      last_rechecked_at: '2026-02-11T00:00:00.000Z',
      resolved_at: '2026-02-11T00:00:00.000Z',
      blocks_device_at: null,
      snoozed_until: null,
      device_information: {
        identifier: otherDeviceId,
        link: `${BASE_URL}/devices/${otherDeviceId}`,
      },
      check_information: {
        identifier: otherCheckId,
        link: `${BASE_URL}/checks/${otherCheckId}`,
      },
    })
  })

  it('shows an empty link to the device of an issue of a person', async () => {
    const { body } = await api.request(`/issues/${ids.account}`)
    expect(body).toMatchObject({ device_information: { identifier: '', link: null } })
  })

  it('shows the same in the list', async () => {
    const { body: issue } = await api.request(`/issues/${ids.key}`)
    const { body } = await api.request<{ data: unknown[] }>(`/issues?query=id:${ids.key}`)
    expect(body.data).toEqual([issue])
  })
})

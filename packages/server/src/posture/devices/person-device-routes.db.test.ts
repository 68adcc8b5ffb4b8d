import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL, createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import {
  insertCheck,
  insertDevice,
  insertIssue,
  insertPerson,
  insertPersonGroup,
} from '../../../test/support/factories.ts'
import {
  describeListContract,
  describeRecordContract,
} from '../../../test/support/read-contract.ts'
import { personRoutes } from '../../people/people/person-routes.ts'
import { personDeviceRoutes } from './person-device-routes.ts'

let api: TestApi
let ada: string
let alan: string
let gone: string

beforeAll(async () => {
  api = await createTestApi(({ db }) => [...personRoutes(db), ...personDeviceRoutes(db, BASE_URL)])
  const { db } = api
  ada = await insertPerson(db, { email: 'ada@example.com' })
  alan = await insertPerson(db, { email: 'alan@example.com' })
  gone = await insertPerson(db, { deprovisioned_at: new Date('2026-01-05') })
  for (const name of ['Engineering', 'Sales team', 'Support team', 'Red team']) {
    await insertPersonGroup(db, { name }, [ada, gone])
  }
  await insertPersonGroup(db, { name: 'Board team' }, [alan])

  const registered_at = new Date('2026-01-10')
  const firewall = await insertCheck(db, { platforms: ['darwin'] })
  for (const name of ['mac-1', 'mac-2', 'mac-3', 'desktop']) {
    const device_id = await insertDevice(db, { name, owner_person_id: ada, registered_at })
    await insertIssue(db, { check_id: firewall, device_id, title: `On ${name}` })
    await insertIssue(db, {
      check_id: firewall,
      device_id,
      title: `Resolved on ${name}`,
      resolved_at: new Date('2026-01-11'),
    })
  }
  await insertIssue(db, { check_id: firewall, person_id: ada, title: 'Training is overdue' })
  await insertIssue(db, { check_id: firewall, person_id: alan, title: 'Training is overdue' })
  const former = await insertDevice(db, { name: 'former', owner_person_id: ada })
  const other = await insertDevice(db, { name: 'other', owner_person_id: alan, registered_at })
  await insertIssue(db, { check_id: firewall, device_id: former, title: 'On former' })
  await insertIssue(db, { check_id: firewall, device_id: other, title: 'On other' })
})

afterAll(() => api.close())

async function list(path: string): Promise<Record<string, unknown>[]> {
  const { status, body } = await api.request<{ data: Record<string, unknown>[] }>(path)
  expect(status).toBe(200)
  return body.data
}

const LISTS = [
  {
    suffix: '/person_groups',
    fields: ['name (: ~)', 'updated_at (: < >)'],
    search: 'name~team',
  },
  {
    suffix: '/registered_devices',
    fields: [
      'id (:)',
      'name (: ~)',
      'device_type (:)',
      'will_block_at (: < >)',
      'updated_at (: < >)',
    ],
    search: 'name~mac',
  },
  {
    suffix: '/open_issues',
    fields: [
      'id (:)',
      'detected_at (: < >)',
      'title (: ~)',
      'device_id (: ~)',
      'updated_at (: < >)',
    ],
    search: 'title~mac',
  },
]

describe.each(LISTS)('GET /people/{id}$suffix', ({ suffix, fields, search }) => {
  describeListContract({
    api: () => api,
    path: () => `/people/${ada}${suffix}`,
    fields,
    narrowSearch: () => search,
  })
  describeRecordContract({ api: () => api, path: () => `/people/${ada}`, suffix })

  it('is not found for someone who has been deprovisioned', async () => {
    expect((await api.request(`/people/${gone}${suffix}`)).status).toBe(404)
  })
})

it('lists the groups that a person belongs to', async () => {
  const groups = await list(`/people/${ada}/person_groups`)
  expect(groups.map(({ name }) => name)).toEqual([
    'Engineering',
    'Sales team',
    'Support team',
    'Red team',
  ])
  expect(Object.keys(groups[0] ?? {})).toEqual(['id', 'name'])
})

it('lists the devices that are registered to a person, no former ones and none of others', async () => {
  const devices = await list(`/people/${ada}/registered_devices`)
  expect(devices.map(({ name }) => name)).toEqual(['mac-1', 'mac-2', 'mac-3', 'desktop'])
  expect(devices[0]).toMatchObject({
    registered_owner_info: { identifier: ada, link: `${BASE_URL}/people/${ada}` },
  })
})

it('lists the open issues of a person and of their registered devices', async () => {
  const issues = await list(`/people/${ada}/open_issues`)
  expect(issues.map(({ title }) => title)).toEqual([
    'On mac-1',
    'On mac-2',
    'On mac-3',
    'On desktop',
    'Training is overdue',
  ])
  expect(issues.at(-1)).toMatchObject({ device_information: { identifier: '', link: null } })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi, type TestRefusal } from '../../../test/support/api-app.ts'
import {
  describeListContract,
  describeRecordContract,
  toTrials,
  trialsOf,
} from '../../../test/support/read-contract.ts'
import { organisationRoutes } from '../settings/organisation-routes.ts'
import { ADMIN_LIST } from './admin-read.ts'
import { adminRoutes } from './admin-routes.ts'

const reevaluateAllDevices = () => Promise.reject(new Error('no threshold changes here'))

let api: TestApi
let ada: string

beforeAll(async () => {
  api = await createTestApi(({ db, runChange, deviceTrust }) => [
    ...adminRoutes({ db, runChange }),
    ...organisationRoutes({ db, runChange, reevaluateAllDevices, deviceTrust }),
  ])
  ada = await insertAdmin('Ada', 'Lovelace', { access: 'limited', restrictions: ['devices'] })
  await insertAdmin('Ada', 'Yonath')
  await insertAdmin('Ada', 'Hopper', { created_at: new Date('2026-03-01') })
  await insertAdmin('Alan', 'Turing', { access: 'billing_only', restrictions: ['stale'] })
})
afterAll(() => api.close())

async function insertAdmin(firstName: string, lastName: string, more: object = {}) {
  const at = new Date('2026-01-01')
  const { id } = await api.db
    .insertInto('admin_user')
    .values({
      first_name: firstName,
      last_name: lastName,
      email: `${firstName}.${lastName}@example.com`,
      access: 'full',
      created_at: at,
      updated_at: at,
      ...more,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

const SEARCHES: [string, string[]][] = [
  ['first_name:Alan', ['Turing']],
  ['first_name~LA', ['Turing']],
  ['last_name:Lovelace', ['Lovelace']],
  ['last_name~onat', ['Yonath']],
  ['email:Ada.Yonath@example.com', ['Yonath']],
  ['email~turing', ['Turing']],
  ['created_at:2026-03-01', ['Hopper']],
  ['created_at>2026-02-01', ['Hopper']],
  ['created_at<2026-01-02 AND last_name~ovela', ['Lovelace']],
]

describe('admins', () => {
  describeListContract({
    api: () => api,
    path: () => '/admin_users',
    fields: ['first_name', 'last_name', 'email', 'created_at'],
    narrowSearch: () => 'first_name:Ada',
  })
  describeRecordContract({ api: () => api, path: () => `/admin_users/${ada}` })

  it('are shown with what they may not do', async () => {
    const { body } = await api.request(`/admin_users/${ada}`)
    expect(body).toEqual({
      id: ada,
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'Ada.Lovelace@example.com',
      created_at: '2026-01-01T00:00:00.000Z',
      access: 'limited',
      restrictions: ['devices'],
      deactivated_at: null,
      last_sign_in_at: null,
      ways_to_sign_in: [],
      invited_until: null,
    })
    const { body: list } = await api.request<{
      data: { access: string; restrictions: string[] }[]
    }>('/admin_users')
    const others = list.data.filter(({ access }) => access !== 'limited')
    expect(others.flatMap(({ restrictions }) => restrictions)).toEqual([])
  })

  it.each(SEARCHES)('are found by %s', async (query, names) => {
    const { status, body } = await api.request<{ data: { last_name: string }[] }>(
      `/admin_users?query=${encodeURIComponent(query)}`,
    )
    expect(status).toBe(200)
    expect(body.data.map(({ last_name: name }) => name)).toEqual(names)
  })

  it('are searched by every field and operator that is documented', () => {
    expect(trialsOf(SEARCHES.map(([query]) => query))).toEqual(toTrials(ADMIN_LIST.fields))
  })
})

describe('the organisation of a key', () => {
  it('is named with its id as a text', async () => {
    const { status, body } = await api.request('/whoami')
    expect([status, body]).toEqual([200, { organization_id: '1', organization_name: 'Example' }])
  })

  it('is told to nobody without a key', async () => {
    const { status, body } = await api.request<TestRefusal>('/whoami', { key: null })
    expect([status, body.code]).toEqual([401, 'unauthenticated'])
  })
})

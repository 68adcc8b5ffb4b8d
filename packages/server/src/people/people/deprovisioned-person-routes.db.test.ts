import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL, createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import {
  describeListContract,
  describeRecordContract,
} from '../../../test/support/read-contract.ts'
import { deprovisionedPersonRoutes } from './deprovisioned-person-routes.ts'

let api: TestApi
let gone: string
let live: string

beforeAll(async () => {
  api = await createTestApi(({ db }) => deprovisionedPersonRoutes(db, BASE_URL))
  const { db } = api
  const deprovisioned_at = new Date('2026-02-01')
  gone = await insertPerson(db, {
    name: 'Gone Away',
    email: 'gone@example.com',
    deprovisioned_at,
    last_authenticated_at: new Date('2026-01-31T10:00:00.005Z'),
  })
  live = await insertPerson(db, { name: 'Live', email: 'gone@example.com' })
  for (const name of ['One', 'Two', 'Three']) {
    await insertPerson(db, { name, email: `${name}@example.org`, deprovisioned_at })
  }
  await insertDevice(db, { owner_person_id: live, registered_at: new Date('2026-01-10') })
})

afterAll(() => api.close())

describe('GET /deprovisioned_people', () => {
  describeListContract({
    api: () => api,
    path: () => '/deprovisioned_people',
    fields: ['id (:)', 'email (: ~)', 'name (: ~)', 'last_authenticated_at (: < >)'],
    narrowSearch: () => 'email~example.org',
  })

  it('lists nobody who is live', async () => {
    const { body } = await api.request<{ data: { id: string }[] }>(
      '/deprovisioned_people?query=email:gone@example.com',
    )
    expect(body.data.map(({ id }) => id)).toEqual([gone])
  })
})

describe('GET /deprovisioned_people/{id}', () => {
  describeRecordContract({ api: () => api, path: () => `/deprovisioned_people/${gone}` })

  it('shows the record under the address that it names', async () => {
    const url = `/deprovisioned_people/${gone}`
    const { status, body } = await api.request(url)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: gone,
      name: 'Gone Away',
      email: 'gone@example.com',
      created_at: '2026-01-02T03:04:05.678Z',
      last_authenticated_at: '2026-01-31T10:00:00.005Z',
      has_registered_device: false,
      api_url: BASE_URL + url,
    })
  })

  it('does not show a live person', async () => {
    expect((await api.request(`/deprovisioned_people/${live}`)).status).toBe(404)
  })
})

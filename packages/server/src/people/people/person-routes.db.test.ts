import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import {
  describeListContract,
  describeRecordContract,
  toTrials,
  trialsOf,
} from '../../../test/support/read-contract.ts'
import { PERSON_LIST } from './person-read.ts'
import { personRoutes } from './person-routes.ts'

let api: TestApi
let ids: Record<'ada' | 'alan' | 'edsger' | 'barbara' | 'gone', string>

beforeAll(async () => {
  api = await createTestApi(({ db }) => personRoutes(db))
  const { db } = api
  ids = {
    ada: await insertPerson(db, {
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      usernames: ['ada', 'alovelace'],
      last_authenticated_at: new Date('2026-01-10T00:00:00.001Z'),
      updated_at: new Date('2026-01-12T00:00:00Z'),
    }),
    alan: await insertPerson(db, { name: 'Alan Turing', email: 'alan@example.org' }),
    edsger: await insertPerson(db, {
      name: 'Edsger Dijkstra',
      email: 'edsger@example.com',
      last_authenticated_at: new Date('2026-02-10T00:00:00Z'),
    }),
    barbara: await insertPerson(db, { name: 'Barbara Liskov', email: 'barbara@example.com' }),
    gone: await insertPerson(db, {
      name: 'Gone Away',
      email: 'gone@example.com',
      deprovisioned_at: new Date('2026-01-05T00:00:00Z'),
    }),
  }
  await insertDevice(db, { owner_person_id: ids.ada, registered_at: new Date('2026-01-10') })
  await insertDevice(db, { owner_person_id: ids.edsger, registered_at: null })
})

afterAll(() => api.close())

async function findNames(query: string): Promise<string[]> {
  const url = `/people?query=${encodeURIComponent(query)}`
  const { body } = await api.request<{ data: { name: string }[] }>(url)
  return body.data.map(({ name }) => name)
}

describe('GET /people', () => {
  describeListContract({
    api: () => api,
    path: () => '/people',
    fields: ['id (:)', 'email (: ~)', 'name (: ~)', 'last_authenticated_at (: < >)'],
    narrowSearch: () => 'email~example.com',
  })

  const SEARCHES: Record<string, readonly string[]> = {
    'email:ada@example.com': ['Ada Lovelace'],
    'email~EXAMPLE.ORG': ['Alan Turing'],
    'name:"Alan Turing"': ['Alan Turing'],
    'name~TUR': ['Alan Turing'],
    'last_authenticated_at:2026-01-10T00:00:00.001Z': ['Ada Lovelace'],
    'last_authenticated_at>2026-01-10T00:00:00.001Z': ['Edsger Dijkstra'],
    'last_authenticated_at<2026-02-10': ['Ada Lovelace'],
    'updated_at:2026-01-12': ['Ada Lovelace'],
    'updated_at>2026-01-10': ['Ada Lovelace'],
    'updated_at<2026-01-10': ['Alan Turing', 'Edsger Dijkstra', 'Barbara Liskov'],
  }

  it.each(Object.entries(SEARCHES))('finds by %s', async (query, names) => {
    expect(await findNames(query)).toEqual(names)
  })

  it('finds by one id and by several', async () => {
    expect(await findNames(`id:${ids.alan}`)).toEqual(['Alan Turing'])
    expect(await findNames(`id:["${ids.alan}","${ids.ada}"]`)).toEqual([
      'Ada Lovelace',
      'Alan Turing',
    ])
    expect(trialsOf([...Object.keys(SEARCHES), 'id:1'])).toEqual(toTrials(PERSON_LIST.fields))
  })

  it('shows nobody who has been deprovisioned', async () => {
    expect(await findNames(`id:${ids.gone}`)).toEqual([])
    expect((await api.request(`/people/${ids.gone}`)).status).toBe(404)
  })
})

describe('GET /people/{id}', () => {
  describeRecordContract({ api: () => api, path: () => `/people/${ids.ada}` })

  it('shows a person with a registered device', async () => {
    const { status, body } = await api.request(`/people/${ids.ada}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: ids.ada,
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      created_at: '2026-01-02T03:04:05.678Z',
      last_authenticated_at: '2026-01-10T00:00:00.001Z',
      has_registered_device: true,
      usernames: ['ada', 'alovelace'],
    })
  })

  it('shows a person who has not signed in and has registered nothing', async () => {
    const { body } = await api.request(`/people/${ids.alan}`)
    expect(body).toEqual({
      id: ids.alan,
      name: 'Alan Turing',
      email: 'alan@example.org',
      created_at: '2026-01-02T03:04:05.678Z',
      last_authenticated_at: null,
      has_registered_device: false,
      usernames: [],
    })
  })

  it('counts no device whose registration has ended', async () => {
    const { body } = await api.request(`/people/${ids.edsger}`)
    expect(body).toMatchObject({ has_registered_device: false })
  })
})

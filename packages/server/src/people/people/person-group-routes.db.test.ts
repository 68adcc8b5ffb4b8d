import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import { insertPerson, insertPersonGroup } from '../../../test/support/factories.ts'
import {
  describeListContract,
  describeRecordContract,
  toTrials,
  trialsOf,
} from '../../../test/support/read-contract.ts'
import { PERSON_GROUP_LIST } from './person-group-read.ts'
import { personGroupRoutes } from './person-group-routes.ts'

let api: TestApi
let ids: Record<'engineering' | 'sales' | 'board', string>
let people: string[]

beforeAll(async () => {
  api = await createTestApi(({ db }) => personGroupRoutes(db))
  const { db } = api
  people = []
  for (const name of ['Ada', 'Alan', 'Edsger', 'Barbara', 'Left']) {
    people.push(
      await insertPerson(db, {
        name,
        email: `${name.toLowerCase()}@example.com`,
        deprovisioned_at: name === 'Left' ? new Date('2026-01-05') : null,
      }),
    )
  }
  const outsider = await insertPerson(db, { name: 'Outsider', email: 'outsider@example.com' })
  ids = {
    engineering: await insertPersonGroup(
      db,
      { name: 'Engineering', updated_at: new Date('2026-03-01') },
      people,
    ),
    sales: await insertPersonGroup(db, { name: 'Sales team' }, [outsider]),
    board: await insertPersonGroup(db, { name: 'Board' }),
  }
  await insertPersonGroup(db, { name: 'Support team' })
  await insertPersonGroup(db, { name: 'Steam engines' })
})

afterAll(() => api.close())

async function findNames(path: string, query = ''): Promise<string[]> {
  const url = `${path}?query=${encodeURIComponent(query)}`
  const { body } = await api.request<{ data: { name: string }[] }>(url)
  return body.data.map(({ name }) => name)
}

describe('GET /person_groups', () => {
  describeListContract({
    api: () => api,
    path: () => '/person_groups',
    fields: ['name (: ~)', 'updated_at (: < >)'],
    narrowSearch: () => 'name~team',
  })

  const SEARCHES: Record<string, readonly string[]> = {
    'name:Board': ['Board'],
    'name~TEAM': ['Sales team', 'Support team', 'Steam engines'],
    'updated_at:2026-03-01': ['Engineering'],
    'updated_at>2026-02-01': ['Engineering'],
    'updated_at<2026-02-01 AND name~board': ['Board'],
  }

  it.each(Object.entries(SEARCHES))('finds by %s', async (query, names) => {
    expect(await findNames('/person_groups', query)).toEqual(names)
  })

  it('tries every field with every operator', () => {
    expect(trialsOf(Object.keys(SEARCHES))).toEqual(toTrials(PERSON_GROUP_LIST.fields))
  })
})

describe('GET /person_groups/{id}', () => {
  describeRecordContract({ api: () => api, path: () => `/person_groups/${ids.board}` })

  it('shows a group', async () => {
    const { status, body } = await api.request(`/person_groups/${ids.board}`)
    expect(status).toBe(200)
    expect(body).toEqual({ id: ids.board, name: 'Board' })
  })

  it('gives no group the id of a person', () => {
    expect(Object.values(ids).filter((id) => people.includes(id))).toEqual([])
  })
})

describe('GET /person_groups/{id}/people', () => {
  describeListContract({
    api: () => api,
    path: () => `/person_groups/${ids.engineering}/people`,
    fields: ['id (:)', 'email (: ~)', 'name (: ~)', 'last_authenticated_at (: < >)'],
    narrowSearch: () => 'name~a',
  })
  describeRecordContract({
    api: () => api,
    path: () => `/person_groups/${ids.engineering}`,
    suffix: '/people',
  })

  it('lists members in the form of people, and nobody who has been deprovisioned', async () => {
    const path = `/person_groups/${ids.engineering}/people`
    expect(await findNames(path)).toEqual(['Ada', 'Alan', 'Edsger', 'Barbara'])
    expect(await findNames(path, 'email:alan@example.com')).toEqual(['Alan'])
    const { body } = await api.request<{ data: unknown[] }>(`${path}?per_page=1`)
    expect(body.data).toEqual([
      {
        id: people[0],
        name: 'Ada',
        email: 'ada@example.com',
        created_at: '2026-01-02T03:04:05.678Z',
        last_authenticated_at: null,
        has_registered_device: false,
        usernames: [],
      },
    ])
  })

  it('lists nobody of an empty group', async () => {
    expect(await findNames(`/person_groups/${ids.board}/people`)).toEqual([])
  })
})

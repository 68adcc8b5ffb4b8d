import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createScimApi, type ScimApi, type TestList } from '../../../test/support/scim-app.ts'

const SEARCH = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest'

let api: ScimApi
let ada: string
let alan: string
let team: string

beforeAll(async () => {
  api = await createScimApi()
  ada = (await api.createUser('ada@example.com', { displayName: 'Team lead' })).id
  alan = (await api.createUser('alan@example.com', { displayName: 'Alan' })).id
  team = (await api.createGroup('Team', [ada])).id
})
afterAll(() => api.close())

interface Found {
  readonly id: string
  readonly meta?: { readonly resourceType: string }
}

const search = (body: object) =>
  api.scim<TestList<Found>>('POST', '/.search', { schemas: [SEARCH], ...body })

const idsOf = async (filter?: string) =>
  (await search(filter === undefined ? {} : { filter })).body.Resources.map(({ id }) => id)

describe('a search over all resources', () => {
  it('finds users, then groups', async () => {
    const { status, body } = await search({})
    expect([status, body.totalResults]).toEqual([200, 3])
    expect(body.Resources.map(({ id, meta }) => [id, meta?.resourceType])).toEqual([
      [ada, 'User'],
      [alan, 'User'],
      [team, 'Group'],
    ])
  })

  it('takes what a type does not have for an attribute without a value', async () => {
    expect(await idsOf('displayName sw "team"')).toEqual([ada, team])
    expect(await idsOf('userName eq "alan@example.com"')).toEqual([alan])
    expect(await idsOf('userName ne "alan@example.com"')).toEqual([ada, team])
    expect(await idsOf('not (userName pr)')).toEqual([team])
    expect(await idsOf('userName eq null')).toEqual([team])
    expect(await idsOf('members pr or userName sw "alan"')).toEqual([alan, team])
    expect(await idsOf('emails[type eq "work"]')).toEqual([ada, alan])
    expect(await idsOf('meta.resourceType eq "Group"')).toEqual([team])
  })

  it('comes in pages that go on from one type to the next', async () => {
    const pages = []
    for (const startIndex of [1, 2, 3, 4]) {
      const { body } = await search({ startIndex, count: 2 })
      expect(body).toMatchObject({ totalResults: 3, startIndex })
      pages.push(body.Resources.map(({ id }) => id))
    }
    expect(pages).toEqual([[ada, alan], [alan, team], [team], []])
    const { body } = await search({ count: 0 })
    expect([body.totalResults, body.Resources]).toEqual([3, []])
  })

  it('shows the attributes that are asked for, of each type those that it has', async () => {
    const { body } = await search({ attributes: ['userName', 'members.value'] })
    expect(body.Resources).toMatchObject([
      { userName: 'ada@example.com' },
      { userName: 'alan@example.com' },
      { members: [{ value: ada }] },
    ])
    expect(body.Resources[2]).not.toHaveProperty('displayName')
  })

  it.each(['shoeSize eq "45"', 'userName gt', 'active eq "maybe"', 'members.shoeSize pr'])(
    'refuses %s',
    async (filter) => {
      const { status, body } = await search({ filter })
      expect([status, body]).toMatchObject([400, { scimType: 'invalidFilter' }])
    },
  )
})

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createScimApi,
  filterQuery,
  type ScimApi,
  type TestList,
} from '../../../test/support/scim-app.ts'
import { countRuns } from '../../../test/support/count-runs.ts'
import { insertPerson } from '../../../test/support/factories.ts'
import { bindFilter } from './bind-filter.ts'
import { evaluateFilter } from './evaluate-filter.ts'
import { parseScimFilter } from './scim-filter.ts'
import { GROUP_SCHEMA, GROUP_TYPE, USER_SCHEMA, USER_TYPE } from './scim-schema.ts'

type Resource = Record<string, unknown> & { readonly id: string }

let api: ScimApi
let users: readonly Resource[]
let groups: readonly Resource[]

beforeAll(async () => {
  api = await createScimApi()
  const ids: string[] = []
  const add = async (userName: string, attributes: object) => {
    api.clock.advance(1)
    const { id } = await api.createUser(userName, attributes)
    ids.push(id)
  }
  await add('ada@example.com', { name: { givenName: 'Ada', familyName: 'Lovelace' } })
  await add('Alan', {
    externalId: 'Ext-1',
    displayName: '100% Alan_T',
    emails: [
      { value: 'alan@example.com', type: 'work', primary: true },
      { value: 'alan@example.org', type: 'home', display: 'Home' },
    ],
  })
  await add('edsger@example.com', { externalId: 'ext-1', active: false })
  await add('Zoë', {
    emails: [{ value: 'zoe@example.org', primary: false }],
    name: { formatted: 'Zoë' },
  })
  ids.push(await insertPerson(api.db, { name: 'Barbara', email: 'Barbara@Example.com' }))
  await api.createGroup('Engineering', [ids[0] ?? '', ids[1] ?? ''])
  await api.createGroup('engine room', [ids[2] ?? ''])
  await api.createGroup('Board')
  users = (await api.scim<TestList<Resource>>('GET', '/Users')).body.Resources
  groups = (await api.scim<TestList<Resource>>('GET', '/Groups')).body.Resources
  expect([users.length, groups.length]).toEqual([5, 3])
})

afterAll(() => api.close())

const texts = fc.constantFrom(
  ...['ada', 'ADA@example.com', 'Alan', 'alan@example.org', 'ext-1', 'Ext-1', 'work', 'home'],
  ...['e', '%', '_', '\\', '', '100% alan_t', 'Lovelace', 'zoë', 'User', 'direct', 'engine', '"'],
)
const ids = fc.integer({ min: 0, max: 9 }).map(String)
const times = fc
  .integer({ min: -2, max: 8 })
  .map((offset) => new Date(Date.parse('2026-01-02T03:04:05.678Z') + offset).toISOString())
const textOperators = fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le')
const orderOperators = fc.constantFrom('eq', 'ne', 'gt', 'ge', 'lt', 'le')
const equality = fc.constantFrom('eq', 'ne')

function conditions(names: {
  readonly text: readonly string[]
  readonly id: readonly string[]
  readonly boolean: readonly string[]
  readonly time: readonly string[]
}): fc.Arbitrary<string> {
  const all = [...names.text, ...names.id, ...names.boolean, ...names.time]
  const compare = (
    from: readonly string[],
    operators: fc.Arbitrary<string>,
    values: fc.Arbitrary<string>,
  ) =>
    fc
      .tuple(fc.constantFrom(...from), operators, values)
      .map(([name, operator, value]) => `${name} ${operator} ${JSON.stringify(value)}`)
  return fc.oneof(
    compare(names.text, textOperators, texts),
    compare(names.id, textOperators, ids),
    ...(names.boolean.length === 0
      ? []
      : [compare(names.boolean, equality, fc.constantFrom('true', 'false'))]),
    ...(names.time.length === 0 ? [] : [compare(names.time, orderOperators, times)]),
    fc.constantFrom(...all).map((name) => `${name} pr`),
    fc.tuple(fc.constantFrom(...all), equality).map(([name, sign]) => `${name} ${sign} null`),
  )
}

function filters(condition: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.letrec<{ filter: string }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 3 },
      condition,
      fc.tuple(tie('filter'), tie('filter')).map(([left, right]) => `${left} and ${right}`),
      fc.tuple(tie('filter'), tie('filter')).map(([left, right]) => `(${left} or ${right})`),
      tie('filter').map((inner) => `not (${inner})`),
    ),
  })).filter
}

const values = (name: string, inner: fc.Arbitrary<string>) =>
  filters(inner).map((filter) => `${name}[${filter}]`)

const userFilters = filters(
  fc.oneof(
    conditions({
      text: [
        ...['externalId', 'userName', 'displayName', 'name.givenName', 'name.formatted'],
        ...['emails', 'emails.value', 'emails.type', 'groups.display', 'meta.resourceType'],
      ],
      id: ['id', 'groups', 'groups.value'],
      boolean: ['active', 'emails.primary'],
      time: ['meta.created', 'meta.lastModified'],
    }),
    values(
      'emails',
      conditions({
        text: ['value', 'type', 'display'],
        id: ['value'],
        boolean: ['primary'],
        time: [],
      }),
    ),
    values(
      'groups',
      conditions({ text: ['display', 'type'], id: ['value'], boolean: [], time: [] }),
    ),
  ),
)

const groupFilters = filters(
  fc.oneof(
    conditions({
      text: ['displayName', 'externalId', 'members.display', 'members.type'],
      id: ['id', 'members', 'members.value'],
      boolean: [],
      time: ['meta.created'],
    }),
    values(
      'members',
      conditions({ text: ['display', 'type'], id: ['value'], boolean: [], time: [] }),
    ),
  ),
)

describe('a filter of a list', () => {
  it('chooses the users for which it holds, and no others', async () => {
    await fc.assert(
      fc.asyncProperty(userFilters, async (filter) => {
        const scope = { attributes: USER_TYPE.attributes, schema: USER_SCHEMA }
        const bound = bindFilter(parseScimFilter(filter), scope)
        const expected = users.filter((user) => evaluateFilter(bound, user))
        expect(await idsOf(`/Users?${filterQuery(filter)}`)).toEqual(expected.map(({ id }) => id))
      }),
      { numRuns: countRuns(200) },
    )
  })

  it('chooses the groups for which it holds, and no others', async () => {
    await fc.assert(
      fc.asyncProperty(groupFilters, async (filter) => {
        const scope = { attributes: GROUP_TYPE.attributes, schema: GROUP_SCHEMA }
        const bound = bindFilter(parseScimFilter(filter), scope)
        const expected = groups.filter((group) => evaluateFilter(bound, group))
        expect(await idsOf(`/Groups?${filterQuery(filter)}`)).toEqual(expected.map(({ id }) => id))
      }),
      { numRuns: countRuns(100) },
    )
  })

  it.each(['id eq "x"', 'id eq "99999999999999999999"', 'userName eq "\\u0000"'])(
    'chooses nobody: %s',
    async (filter) => {
      expect(await idsOf(`/Users?${filterQuery(filter)}`)).toEqual([])
    },
  )

  it.each(['meta.location pr', 'meta.version eq "x"', 'userName eq'])(
    'is refused: %s',
    async (filter) => {
      const { status, body } = await api.scim('GET', `/Users?${filterQuery(filter)}`)
      expect(status).toBe(400)
      expect(body).toMatchObject({ status: '400', scimType: 'invalidFilter' })
    },
  )
})

async function idsOf(path: string): Promise<string[]> {
  const { status, body } = await api.scim<TestList<Resource>>('GET', path)
  expect(status, path).toBe(200)
  expect(body.totalResults).toBe(body.Resources.length)
  return body.Resources.map(({ id }) => id)
}

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createScimApi,
  GROUP_SCHEMA,
  patchOf,
  SCIM_URL,
  type ScimApi,
  type TestGroup,
  type TestList,
} from '../../../test/support/scim-app.ts'

let api: ScimApi
let people: [string, string, string, string]
let group: TestGroup
let count = 0

beforeAll(async () => {
  api = await createScimApi()
  const ids: string[] = []
  for (const name of ['ada', 'alan', 'edsger', 'barbara']) {
    ids.push((await api.createUser(`${name}@example.com`)).id)
  }
  people = ids as [string, string, string, string]
})

afterAll(() => api.close())

beforeEach(async () => {
  count += 1
  group = await api.createGroup(`Group ${count}`, people.slice(0, 2))
})

async function membersOf(id: string): Promise<string[]> {
  const { body } = await api.scim<TestGroup>('GET', `/Groups/${id}`)
  return body.members.map(({ value }) => value)
}

async function patch(...operations: object[]) {
  return api.scim('PATCH', `/Groups/${group.id}`, patchOf(...operations))
}

describe('POST /Groups', () => {
  it('makes a group whom the REST API shows', async () => {
    const { status, headers, body } = await api.scim<TestGroup>('POST', '/Groups', {
      schemas: [GROUP_SCHEMA],
      displayName: 'Engineering',
      externalId: 'ext-1',
      members: [{ value: people[0], display: 'whatever', type: 'User' }, { value: people[0] }],
    })
    const location = `${SCIM_URL}/Groups/${body.id}`
    expect(status).toBe(201)
    expect(headers['location']).toBe(location)
    expect(body).toEqual({
      schemas: [GROUP_SCHEMA],
      id: body.id,
      externalId: 'ext-1',
      displayName: 'Engineering',
      members: [
        {
          value: people[0],
          $ref: `${SCIM_URL}/Users/${people[0]}`,
          display: 'ada@example.com',
          type: 'User',
        },
      ],
      meta: {
        resourceType: 'Group',
        created: '2026-01-02T03:04:05.678Z',
        lastModified: '2026-01-02T03:04:05.678Z',
        location,
        version: 'W/"1"',
      },
    })
    const { body: listed } = await api.request(`/people/${people[0]}/person_groups`)
    expect(listed).toMatchObject({
      data: expect.arrayContaining([{ id: body.id, name: 'Engineering' }]) as unknown,
    })
    expect(await api.auditOf('person_group', body.id)).toMatchObject([
      { action: 'person_group.created', after: { name: 'Engineering', external_id: 'ext-1' } },
      { action: 'person_group.members_changed', after: { added_person_ids: [people[0]] } },
    ])
  })

  it.each([
    ['no name', {}],
    ['a long name', { displayName: 'x'.repeat(257) }],
    ['a member who does not exist', { displayName: 'New', members: [{ value: '999999' }] }],
    ['a member without an id', { displayName: 'New', members: [{ display: 'Ada' }] }],
    ['a member who is no id', { displayName: 'New', members: [{ value: 'ada@example.com' }] }],
    ['a group as a member', { displayName: 'New', members: [{ value: '1', type: 'Group' }] }],
  ])('refuses %s and makes nothing', async (_what, resource) => {
    const { status, body } = await api.scim('POST', '/Groups', resource)
    expect(status).toBe(400)
    expect(body).toMatchObject({ scimType: 'invalidValue' })
    const { body: list } = await api.scim<TestList<TestGroup>>('GET', '/Groups')
    expect(list.Resources.map(({ displayName }) => displayName)).not.toContain('New')
  })

  it('refuses the name of another group in any case', async () => {
    const { status, body } = await api.scim('POST', '/Groups', { displayName: `GROUP ${count}` })
    expect(status).toBe(409)
    expect(body).toMatchObject({ scimType: 'uniqueness' })
  })
})

describe('GET /Groups', () => {
  it('lists groups with their members, or without', async () => {
    const { body } = await api.scim<TestList<TestGroup>>('GET', '/Groups?count=100')
    expect(body.totalResults).toBe(body.Resources.length)
    const listed = body.Resources.find(({ id }) => id === group.id)
    expect(listed).toEqual((await api.scim('GET', `/Groups/${group.id}`)).body)
    expect(listed?.members).toHaveLength(2)
    for (const path of ['/Groups', `/Groups/${group.id}`]) {
      const { body: without } = await api.scim('GET', `${path}?excludedAttributes=members`)
      expect(JSON.stringify(without)).not.toContain('members')
    }
  })

  it('cuts the list by position', async () => {
    const { body: all } = await api.scim<TestList<TestGroup>>('GET', '/Groups')
    const { body } = await api.scim<TestList<TestGroup>>('GET', '/Groups?startIndex=2&count=1')
    expect(body).toMatchObject({
      totalResults: all.totalResults,
      startIndex: 2,
      itemsPerPage: 1,
      Resources: [{ id: all.Resources[1]?.id }],
    })
  })

  it('has members who are named by their addresses, and is found by them', async () => {
    const [, , edsger = ''] = people
    const $ref = `${SCIM_URL}/Users/${edsger}`
    expect((await patch({ op: 'add', path: 'members', value: [{ $ref }] })).status).toBe(204)
    expect(await membersOf(group.id)).toContain(edsger)
    const filter = new URLSearchParams({ filter: `members.$ref eq "${$ref}"` }).toString()
    const { body } = await api.scim<TestList<TestGroup>>('GET', `/Groups?${filter}`)
    expect(body.Resources.map(({ id }) => id)).toContain(group.id)
    const remove = { op: 'remove', path: `members[$ref eq "${$ref}"]` }
    expect((await patch(remove)).status).toBe(204)
    expect(await membersOf(group.id)).not.toContain(edsger)
  })

  it('is searched by POST as well', async () => {
    const { body } = await api.scim('POST', '/Groups/.search', {
      filter: `displayName eq "group ${count}" and members eq "${people[1]}"`,
      excludedAttributes: ['members'],
    })
    expect(body).toMatchObject({ totalResults: 1, Resources: [{ id: group.id }] })
  })
})

describe('PUT /Groups/{id}', () => {
  it('replaces the name and all members', async () => {
    const { status, body } = await api.scim<TestGroup>('PUT', `/Groups/${group.id}`, {
      displayName: `Renamed ${count}`,
      members: [{ value: people[1] }, { value: people[2] }],
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ displayName: `Renamed ${count}`, meta: { version: 'W/"2"' } })
    expect(body.members.map(({ value }) => value)).toEqual([people[1], people[2]])
    expect((await api.auditOf('person_group', group.id)).slice(-2)).toMatchObject([
      {
        action: 'person_group.updated',
        before: { name: `Group ${count}` },
        after: { name: `Renamed ${count}` },
      },
      {
        action: 'person_group.members_changed',
        before: { removed_count: 1, removed_person_ids: [people[0]] },
        after: { added_count: 1, added_person_ids: [people[2]] },
      },
    ])
  })

  it('writes nothing when nothing changes', async () => {
    const before = await api.auditOf('person_group', group.id)
    const { body } = await api.scim<TestGroup>('PUT', `/Groups/${group.id}`, {
      displayName: group.displayName,
      members: [{ value: people[1] }, { value: people[0] }],
    })
    expect(body.meta.version).toBe(group.meta.version)
    expect(await api.auditOf('person_group', group.id)).toEqual(before)
  })

  it('refuses the name of another group', async () => {
    const other = await api.createGroup(`Other ${count}`)
    const { status } = await api.scim('PUT', `/Groups/${other.id}`, {
      displayName: group.displayName,
    })
    expect(status).toBe(409)
  })
})

describe('PATCH /Groups/{id}', () => {
  const CASES: readonly (readonly [string, () => readonly object[], () => readonly string[]])[] = [
    [
      'adds members, known ones too',
      () => [{ op: 'Add', path: 'members', value: [{ value: people[2] }, { value: people[0] }] }],
      () => [people[0], people[1], people[2]],
    ],
    [
      'adds a member that is no list',
      () => [{ op: 'add', path: 'members', value: { $ref: null, value: people[2] } }],
      () => [people[0], people[1], people[2]],
    ],
    [
      'adds members without a path',
      () => [{ op: 'add', value: { members: [{ value: people[3] }] } }],
      () => [people[0], people[1], people[3]],
    ],
    [
      'removes the member whom a path chooses',
      () => [{ op: 'remove', path: `members[value eq "${people[0]}"]` }],
      () => [people[1]],
    ],
    [
      'removes the members who are listed',
      () => [{ op: 'Remove', path: 'members', value: [{ $ref: null, value: people[1] }] }],
      () => [people[0]],
    ],
    [
      'removes whom a longer filter chooses',
      () => [{ op: 'remove', path: `members[value eq "${people[0]}" or value eq "${people[1]}"]` }],
      () => [],
    ],
    ['removes all members', () => [{ op: 'remove', path: 'members' }], () => []],
    [
      'removes nobody for an empty list',
      () => [{ op: 'remove', path: 'members', value: [] }],
      () => [people[0], people[1]],
    ],
    [
      'removes nobody who is no member, or nobody at all',
      () => [
        { op: 'remove', path: `members[value eq "${people[3]}"]` },
        { op: 'remove', path: 'members[value eq "nobody"]' },
        { op: 'remove', path: 'members', value: [{ value: '999999' }] },
      ],
      () => [people[0], people[1]],
    ],
    [
      'replaces all members',
      () => [{ op: 'replace', path: 'members', value: [{ value: people[3] }] }],
      () => [people[3]],
    ],
    ['replaces all members by none', () => [{ op: 'replace', value: { members: [] } }], () => []],
    [
      'carries operations out in their order',
      () => [
        { op: 'remove', path: 'members' },
        { op: 'add', path: 'members', value: [{ value: people[3] }, { value: people[0] }] },
        { op: 'remove', path: `members[value eq "${people[3]}"]` },
      ],
      () => [people[0]],
    ],
  ]

  it.each(CASES)('%s', async (_title, operations, expected) => {
    const { status, headers, body } = await patch(...operations())
    expect(status).toBe(204)
    expect(body).toBeUndefined()
    expect(await membersOf(group.id)).toEqual(expected())
    const changed = expected().join() !== [people[0], people[1]].join()
    expect(headers['etag']).toBe(changed ? 'W/"2"' : 'W/"1"')
  })

  it('shows the group when attributes are asked for', async () => {
    const { status, body } = await api.scim(
      'PATCH',
      `/Groups/${group.id}?attributes=displayName`,
      patchOf({ op: 'replace', path: 'displayName', value: `Shown ${count}` }),
    )
    expect(status).toBe(200)
    expect(body).toEqual({ schemas: [GROUP_SCHEMA], id: group.id, displayName: `Shown ${count}` })
  })

  it.each([
    ['invalidValue', { op: 'add', path: 'members', value: [{ value: '999999' }] }],
    ['mutability', { op: 'remove', path: 'displayName' }],
    ['invalidValue', { op: 'add', path: 'members', value: [{ $ref: 'Users/x' }] }],
    ['invalidValue', { op: 'add', path: 'members', value: [{ value: '1', $ref: '../Users/2' }] }],
    ['invalidValue', { op: 'add', path: 'members', value: [{ $ref: '/scim/v2/Groups/1' }] }],
    ['invalidPath', { op: 'add', path: 'owners', value: 'x' }],
    ['mutability', { op: 'replace', path: 'members.value', value: '1' }],
    ['mutability', { op: 'replace', path: 'members[value eq "1"].display', value: 'x' }],
    ['noTarget', { op: 'replace', path: 'members[value eq "1"]', value: { value: '2' } }],
    ['invalidFilter', { op: 'remove', path: 'members[display eq "Ada"]' }],
  ])('answers %s and changes nothing: %j', async (scimType, operation) => {
    const rename = { op: 'replace', path: 'displayName', value: 'Half done' }
    const { status, body } = await patch(rename, operation)
    expect(status).toBe(400)
    expect(body).toMatchObject({ scimType })
    expect((await api.scim('GET', `/Groups/${group.id}`)).body).toEqual(group)
  })

  it('refuses the name of another group, and an older version', async () => {
    await api.createGroup(`Taken ${count}`)
    const rename = (name: string) => ({ op: 'replace', value: { id: group.id, displayName: name } })
    expect((await patch(rename(`taken ${count}`))).status).toBe(409)
    expect((await patch(rename(`Free ${count}`))).status).toBe(204)
    const stale = await api.scim('PATCH', `/Groups/${group.id}`, patchOf(rename('Late')), {
      headers: { 'if-match': group.meta.version },
    })
    expect(stale.status).toBe(412)
  })

  it('carries out replacements that arrive at once one after another', async () => {
    await Promise.all(
      [...people, ...people].map((value) =>
        api.scim(
          'PATCH',
          `/Groups/${group.id}`,
          patchOf({ op: 'replace', path: 'members', value: [{ value }] }),
        ),
      ),
    )
    expect(await membersOf(group.id)).toHaveLength(1)
  })

  it('loses no member of changes that arrive at once', async () => {
    const empty = await api.createGroup(`Busy ${count}`)
    const answers = await Promise.all(
      people.map((value) =>
        api.scim(
          'PATCH',
          `/Groups/${empty.id}`,
          patchOf({ op: 'add', path: 'members', value: [{ value }] }),
        ),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204])
    expect(await membersOf(empty.id)).toEqual(people)
  })
})

describe('DELETE /Groups/{id}', () => {
  it('deletes the group and leaves its members', async () => {
    expect((await api.scim('DELETE', `/Groups/${group.id}`)).status).toBe(204)
    expect((await api.scim('GET', `/Groups/${group.id}`)).status).toBe(404)
    expect((await api.scim('DELETE', `/Groups/${group.id}`)).status).toBe(404)
    expect((await api.request(`/person_groups/${group.id}`)).status).toBe(404)
    expect((await api.request(`/people/${people[0]}`)).status).toBe(200)
    expect((await api.auditOf('person_group', group.id)).at(-1)).toMatchObject({
      action: 'person_group.deleted',
      before: { name: group.displayName, members_count: 2 },
    })
  })
})

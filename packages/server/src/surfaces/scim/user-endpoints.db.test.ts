import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertPerson } from '../../../test/support/factories.ts'
import {
  createScimApi,
  filterQuery,
  patchOf,
  SCIM_URL,
  USER_SCHEMA,
  type ScimApi,
  type TestList,
  type TestUser,
} from '../../../test/support/scim-app.ts'

let api: ScimApi

beforeAll(async () => {
  api = await createScimApi()
})

afterAll(() => api.close())

let count = 0
function newEmail(): string {
  count += 1
  return `person-${count}@example.com`
}

describe('POST /Users', () => {
  it('makes a person whom the REST API shows', async () => {
    const { status, headers, body } = await api.scim<TestUser>('POST', '/Users', {
      schemas: [USER_SCHEMA],
      userName: 'ada',
      externalId: 'ext-1',
      name: { givenName: 'Ada', familyName: 'Lovelace' },
      emails: [
        { value: 'home@example.org', type: 'home' },
        { value: 'ada@example.com', type: 'work', primary: true },
      ],
      active: true,
    })
    expect(status).toBe(201)
    const location = `${SCIM_URL}/Users/${body.id}`
    expect(headers['location']).toBe(location)
    expect(headers['etag']).toBe(body.meta.version)
    expect(body).toEqual({
      schemas: [USER_SCHEMA],
      id: body.id,
      externalId: 'ext-1',
      userName: 'ada',
      name: { givenName: 'Ada', familyName: 'Lovelace' },
      emails: [
        { value: 'home@example.org', type: 'home' },
        { value: 'ada@example.com', type: 'work', primary: true },
      ],
      active: true,
      groups: [],
      meta: {
        resourceType: 'User',
        created: '2026-01-02T03:04:05.678Z',
        lastModified: '2026-01-02T03:04:05.678Z',
        location,
        version: expect.stringMatching(/^W\/"[\w-]+"$/) as string,
      },
    })
    const person = await api.request(`/people/${body.id}`)
    expect(person.body).toMatchObject({
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      usernames: ['ada'],
    })
    expect(await api.auditOf('person', body.id)).toMatchObject([
      { action: 'person.created', actor_name: expect.stringMatching(/^key /) as string },
    ])
  })

  it('identifies a person by the primary address, else that for work, else the first, else the user name', async () => {
    const emails = [{ value: 'a1@example.com' }, { value: 'a2@example.com', type: 'Work' }]
    const cases: readonly (readonly [object, string])[] = [
      [
        { userName: 'a', emails: [...emails, { value: 'a3@example.com', primary: true }] },
        'a3@example.com',
      ],
      [{ userName: 'b', emails }, 'a2@example.com'],
      [{ userName: 'c', emails: emails.slice(0, 1) }, 'a1@example.com'],
      [{ userName: 'd@example.com' }, 'd@example.com'],
      [{ userName: 'e', emails: 'e@example.com' }, 'e@example.com'],
    ]
    for (const [user, email] of cases) {
      const { status, body } = await api.scim<TestUser>('POST', '/Users', user)
      expect(status).toBe(201)
      expect((await api.request(`/people/${body.id}`)).body).toMatchObject({ email })
    }
  })

  it.each([
    ['no user name', { emails: [{ value: 'x@example.com' }] }],
    ['an empty user name', { userName: ' ', emails: [{ value: 'x@example.com' }] }],
    ['a user name of another type', { userName: 5 }],
    ['a long user name without an email address', { userName: 'x'.repeat(255) }],
    ['a malformed email address', { userName: 'x', emails: [{ value: 'not an address' }] }],
    ['an email without an address', { userName: 'x@example.com', emails: [{ type: 'work' }] }],
    ['emails of another type', { userName: 'x@example.com', emails: [5] }],
    ['too many emails', { userName: 'x', emails: Array(21).fill({ value: 'x@example.com' }) }],
    ['a long name', { userName: 'x@example.com', displayName: 'x'.repeat(201) }],
    ['active as a number', { userName: 'x@example.com', active: 1 }],
    ['a name of another type', { userName: 'x@example.com', name: ['Ada', 'Lovelace'] }],
  ])('refuses %s', async (_what, user) => {
    const { status, body } = await api.scim('POST', '/Users', user)
    expect(status).toBe(400)
    expect(body).toMatchObject({ status: '400', scimType: 'invalidValue' })
  })

  it('refuses a user name or an email address that another user has', async () => {
    const email = newEmail()
    await api.createUser(email, { active: false })
    await api.createUser('owner', { emails: [{ value: newEmail() }] })
    await insertPerson(api.db, {
      email: 'Former@example.com',
      deprovisioned_at: api.clock.now(),
    })
    const taken: object[] = [
      { userName: email.toUpperCase() },
      { userName: 'OWNER', emails: [{ value: newEmail() }] },
      { userName: 'somebody', emails: [{ value: `person-${count - 1}@EXAMPLE.com` }] },
      // The address of who has no user name, live or not, stands in for it.
      { userName: 'former@EXAMPLE.com', emails: [{ value: newEmail() }] },
    ]
    for (const user of taken) {
      const { status, body } = await api.scim('POST', '/Users', user)
      expect(status).toBe(409)
      expect(body).toMatchObject({ status: '409', scimType: 'uniqueness' })
    }
  })

  it('makes one of two users that are sent at once', async () => {
    const user = { userName: newEmail() }
    const answers = await Promise.all([1, 2, 3, 4].map(() => api.scim('POST', '/Users', user)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  })

  it('takes over a person who is there without an identity provider', async () => {
    const byEmail = await insertPerson(api.db, { email: 'Enrolled@example.com', name: 'Enrolled' })
    const { body } = await api.scim<TestUser>('POST', '/Users', {
      userName: 'enrolled.person',
      externalId: 'ext-2',
      emails: [{ value: 'enrolled@EXAMPLE.com', primary: true }],
    })
    expect(body.id).toBe(byEmail)
    expect(await api.auditOf('person', byEmail)).toMatchObject([
      {
        action: 'person.provisioned',
        before: { user_name: null, external_id: null, name: 'Enrolled' },
        after: { user_name: 'enrolled.person', external_id: 'ext-2', name: 'enrolled.person' },
      },
    ])
    const byUserName = await insertPerson(api.db, { email: 'upn@example.com' })
    const { body: other } = await api.scim<TestUser>('POST', '/Users', {
      userName: 'UPN@example.com',
      emails: [{ value: 'mail@example.com' }],
    })
    expect(other.id).toBe(byUserName)
  })

  it('stores what no database text can hold as what it can', async () => {
    const { body } = await api.scim<TestUser>('POST', '/Users', {
      userName: newEmail(),
      displayName: 'a\u0000b',
    })
    expect(body.displayName).toBe('a\uFFFDb')
  })

  it('refuses a text that was cut in the middle of a character', async () => {
    const { status, body } = await api.scim('POST', '/Users', {
      userName: newEmail(),
      displayName: 'a\ud83d',
    })
    expect(status).toBe(400)
    const detail = '"displayName" must not contain lone surrogates.'
    expect(body).toMatchObject({ scimType: 'invalidValue', detail })
  })
})

describe('GET /Users', () => {
  it('shows a person from an enrollment as a user', async () => {
    const id = await insertPerson(api.db, { email: 'plain@example.com', name: 'Plain' })
    const { body } = await api.scim('GET', `/Users/${id}`)
    expect(body).toMatchObject({
      userName: 'plain@example.com',
      displayName: 'Plain',
      emails: [{ value: 'plain@example.com', type: 'work', primary: true }],
      active: true,
    })
    const found = await api.scim<TestList<TestUser>>(
      'GET',
      `/Users?${filterQuery('userName eq "PLAIN@example.com"')}`,
    )
    expect(found.body.Resources.map((user) => user.id)).toEqual([id])
  })

  it('cuts a list by position and counts all', async () => {
    const page = async (query: string) =>
      (await api.scim<TestList<TestUser>>('GET', `/Users?${query}`)).body
    const all = await page('')
    expect(all.totalResults).toBe(all.Resources.length)
    const ids = all.Resources.map(({ id }) => id)
    expect(ids).toEqual([...ids].sort((a, b) => Number(a) - Number(b)))
    const second = await page('startIndex=3&count=2')
    expect(second).toMatchObject({
      totalResults: ids.length,
      startIndex: 3,
      itemsPerPage: 2,
    })
    expect(second.Resources.map(({ id }) => id)).toEqual(ids.slice(2, 4))
    expect(await page('count=0')).toMatchObject({ totalResults: ids.length, Resources: [] })
    expect(await page('count=-5')).toMatchObject({ totalResults: ids.length, Resources: [] })
    expect(await page('startIndex=0&count=1')).toMatchObject({ startIndex: 1, itemsPerPage: 1 })
    expect(await page('startIndex=1000')).toMatchObject({ totalResults: ids.length, Resources: [] })
    expect((await page('count=999999')).Resources).toHaveLength(ids.length)
  })

  it.each(['startIndex=x', 'count=1.5', 'count=99999999999999999999'])(
    'refuses %s',
    async (query) => {
      const { status, body } = await api.scim('GET', `/Users?${query}`)
      expect(status).toBe(400)
      expect(body).toMatchObject({ scimType: 'invalidValue' })
    },
  )

  it('shows the attributes that are asked for, always with the id', async () => {
    const { id } = await api.createUser(newEmail(), { name: { givenName: 'A', familyName: 'B' } })
    const show = async (query: string) =>
      (await api.scim<object>('GET', `/Users/${id}?${query}`)).body
    expect(await show('attributes=userName,NAME.givenName')).toEqual({
      schemas: [USER_SCHEMA],
      id,
      userName: `person-${count}@example.com`,
      name: { givenName: 'A' },
    })
    expect(await show(`attributes=${USER_SCHEMA}:active`)).toEqual({
      schemas: [USER_SCHEMA],
      id,
      active: true,
    })
    expect(Object.keys(await show('excludedAttributes=id,meta,emails.type,groups,name'))).toEqual([
      'schemas',
      'id',
      'userName',
      'emails',
      'active',
    ])
    expect(await show('excludedAttributes=emails.type')).toMatchObject({
      emails: [{ value: `person-${count}@example.com`, primary: true }],
    })
    const both = await api.scim('GET', `/Users/${id}?attributes=id&excludedAttributes=id`)
    expect(both.status).toBe(400)
  })

  it('is searched by POST as well', async () => {
    const { id } = await api.createUser('search-me', { emails: [{ value: newEmail() }] })
    const { body } = await api.scim('POST', '/Users/.search', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
      filter: 'userName sw "search-"',
      attributes: ['userName'],
      startIndex: 1,
      count: 5,
    })
    expect(body).toMatchObject({
      totalResults: 1,
      Resources: [{ schemas: [USER_SCHEMA], id, userName: 'search-me' }],
    })
  })
})

describe('PUT /Users/{id}', () => {
  it('replaces every attribute but the activity, which only changes by its name', async () => {
    const email = newEmail()
    const { id } = await api.createUser(email, {
      active: false,
      externalId: 'ext',
      displayName: 'Before',
      name: { givenName: 'G' },
    })
    api.clock.advance(1_000)
    const { status, body } = await api.scim<TestUser>('PUT', `/Users/${id}`, {
      schemas: [USER_SCHEMA],
      id: 'ignored',
      userName: email,
      meta: { version: 'ignored' },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ id, userName: email, active: false })
    expect(body).not.toHaveProperty('displayName')
    expect(body).not.toHaveProperty('externalId')
    expect(body).not.toHaveProperty('name')
    expect((await api.auditOf('person', id)).at(-1)).toMatchObject({
      action: 'person.updated',
      before: { external_id: 'ext', display_name: 'Before', given_name: 'G', name: 'Before' },
      after: { external_id: null, display_name: null, given_name: null, name: email },
    })
    const restored = await api.scim<TestUser>('PUT', `/Users/${id}`, {
      userName: email,
      active: true,
    })
    expect(restored.body.active).toBe(true)
  })

  it('writes nothing when nothing changes', async () => {
    const { id, meta } = await api.createUser(newEmail())
    const before = await api.auditOf('person', id)
    api.clock.advance(1_000)
    const { body } = await api.scim<TestUser>('PUT', `/Users/${id}`, {
      userName: `person-${count}@example.com`,
    })
    expect(body.meta).toEqual(meta)
    expect(await api.auditOf('person', id)).toEqual(before)
  })

  it('refuses what another user has, and what is no user', async () => {
    const taken = newEmail()
    await api.createUser(taken)
    const { id } = await api.createUser(newEmail())
    const conflict = await api.scim('PUT', `/Users/${id}`, { userName: taken })
    expect(conflict.status).toBe(409)
    expect(conflict.body).toMatchObject({ scimType: 'uniqueness' })
    const invalid = await api.scim('PUT', `/Users/${id}`, { userName: '' })
    expect(invalid.status).toBe(400)
  })
})

describe('PATCH /Users/{id}', () => {
  it('changes all or nothing', async () => {
    const { id } = await api.createUser(newEmail(), { displayName: 'Before' })
    const { status } = await api.scim(
      'PATCH',
      `/Users/${id}`,
      patchOf(
        { op: 'replace', path: 'displayName', value: 'After' },
        { op: 'replace', path: 'emails', value: [{ value: 'no address' }] },
      ),
    )
    expect(status).toBe(400)
    expect((await api.scim('GET', `/Users/${id}`)).body).toMatchObject({ displayName: 'Before' })
  })

  it('lets a name follow its parts unless it was given', async () => {
    const { id } = await api.createUser(newEmail(), {
      name: { givenName: 'Ada', familyName: 'Byron' },
    })
    const { body } = await api.scim<TestUser>(
      'PATCH',
      `/Users/${id}`,
      patchOf({ op: 'replace', path: 'name.familyName', value: 'Lovelace' }),
    )
    expect(body).not.toHaveProperty('displayName')
    expect((await api.request(`/people/${id}`)).body).toMatchObject({ name: 'Ada Lovelace' })
  })

  it('lets the email address follow the user name unless it was given', async () => {
    const next = newEmail()
    const rename = patchOf({ op: 'replace', path: 'userName', value: next })
    const following = await api.createUser(newEmail())
    const { body } = await api.scim<TestUser>('PATCH', `/Users/${following.id}`, rename)
    expect(body.emails.map(({ value }) => value)).toEqual([next])
    const given = await api.createUser('given', { emails: [{ value: newEmail() }] })
    const other = patchOf({ op: 'replace', path: 'userName', value: newEmail() })
    const { body: kept } = await api.scim<TestUser>('PATCH', `/Users/${given.id}`, other)
    expect(kept.emails).toEqual(given.emails)
  })

  it('has no display name once that was removed, and is not found by one', async () => {
    const user = await api.createUser(newEmail(), { displayName: `Shown ${count}` })
    const remove = patchOf({ op: 'remove', path: 'displayName' })
    const { status, body } = await api.scim<TestUser>('PATCH', `/Users/${user.id}`, remove)
    expect([status, body.displayName]).toEqual([200, undefined])
    const filter = new URLSearchParams({
      filter: `displayName pr and id eq "${user.id}"`,
    }).toString()
    expect((await api.scim('GET', `/Users?${filter}`)).body).toMatchObject({ totalResults: 0 })
    expect((await api.request(`/people/${user.id}`)).body).toMatchObject({ name: user.userName })
  })

  it.each([
    { op: 'remove', path: 'active' },
    { op: 'replace', path: 'active', value: null },
    { op: 'replace', value: { active: null } },
  ])('is active or not, and stays so with %j', async (operation) => {
    const { id } = await api.createUser(newEmail(), { active: false })
    const { status, body } = await api.scim('PATCH', `/Users/${id}`, patchOf(operation))
    expect([status, body]).toMatchObject([400, { scimType: 'mutability' }])
    expect((await api.scim('GET', `/Users/${id}`)).body).toMatchObject({ active: false })
  })

  it('needs no email address: the user name stands in for it', async () => {
    const user = await api.createUser(`bjensen-${count}`)
    expect(user).not.toHaveProperty('emails')
    expect((await api.request(`/people/${user.id}`)).body).toMatchObject({
      email: `bjensen-${count}`,
      usernames: [`bjensen-${count}`],
    })
    const filter = new URLSearchParams({ filter: `emails pr and id eq "${user.id}"` }).toString()
    expect((await api.scim('GET', `/Users?${filter}`)).body).toMatchObject({ totalResults: 0 })
    const email = newEmail()
    const add = patchOf({ op: 'add', path: 'emails', value: [{ value: email, type: 'work' }] })
    const { body } = await api.scim<TestUser>('PATCH', `/Users/${user.id}`, add)
    expect(body.emails).toEqual([{ value: email, type: 'work' }])
    expect((await api.request(`/people/${user.id}`)).body).toMatchObject({ email })
  })

  it('falls back to the user name when the emails are removed', async () => {
    const email = newEmail()
    const { id } = await api.createUser(email, { emails: [{ value: newEmail() }] })
    const remove = patchOf({ op: 'remove', path: 'emails' })
    const { body } = await api.scim<TestUser>('PATCH', `/Users/${id}`, remove)
    expect(body.emails).toEqual([{ value: email, type: 'work', primary: true }])
    const other = await api.createUser('no-address', { emails: [{ value: newEmail() }] })
    const { body: without } = await api.scim<TestUser>('PATCH', `/Users/${other.id}`, remove)
    expect(without).not.toHaveProperty('emails')
  })

  it.each([
    ['invalidPath', { op: 'replace', path: 'shoeSize', value: '45' }],
    ['noTarget', { op: 'replace', path: 'emails[type eq "fax"].value', value: 'x@example.com' }],
    ['mutability', { op: 'replace', path: 'id', value: '1' }],
    ['mutability', { op: 'remove', path: 'userName' }],
  ])('answers %s to %j', async (scimType, operation) => {
    const { id } = await api.createUser(`patched-${count}`, { emails: [{ value: newEmail() }] })
    const { status, body } = await api.scim('PATCH', `/Users/${id}`, patchOf(operation))
    expect(status).toBe(400)
    expect(body).toMatchObject({ status: '400', scimType })
  })

  it('refuses what another user has', async () => {
    const taken = newEmail()
    await api.createUser(taken)
    const { id } = await api.createUser(newEmail())
    const { status, body } = await api.scim(
      'PATCH',
      `/Users/${id}`,
      patchOf({ op: 'replace', path: 'userName', value: taken.toUpperCase() }),
    )
    expect(status).toBe(409)
    expect(body).toMatchObject({ scimType: 'uniqueness' })
  })
})

describe('the version of a user', () => {
  it('spares a client what it has, and guards what it has not seen', async () => {
    const { id, meta } = await api.createUser(newEmail())
    const headers = { 'if-none-match': meta.version }
    const unchanged = await api.scim('GET', `/Users/${id}`, undefined, { headers })
    expect([unchanged.status, unchanged.body, unchanged.headers['etag']]).toEqual([
      304,
      undefined,
      meta.version,
    ])
    const change = patchOf({ op: 'replace', path: 'displayName', value: 'New' })
    const ifMatch = { headers: { 'if-match': meta.version } }
    expect((await api.scim('PATCH', `/Users/${id}`, change, ifMatch)).status).toBe(200)
    for (const method of ['PATCH', 'PUT', 'DELETE'] as const) {
      const payload = { PATCH: change, PUT: { userName: newEmail() }, DELETE: undefined }[method]
      const { status, body } = await api.scim(method, `/Users/${id}`, payload, ifMatch)
      expect(status, method).toBe(412)
      expect(body).toMatchObject({ status: '412' })
    }
    const any = { headers: { 'if-match': '*' } }
    expect((await api.scim('DELETE', `/Users/${id}`, undefined, any)).status).toBe(204)
  })

  it('changes with the groups of the user', async () => {
    const { id, meta } = await api.createUser(newEmail())
    await api.createGroup('Version group', [id])
    const { body } = await api.scim<TestUser>('GET', `/Users/${id}`)
    expect(body.meta.version).not.toBe(meta.version)
    expect(body.groups).toMatchObject([{ display: 'Version group', type: 'direct' }])
  })
})

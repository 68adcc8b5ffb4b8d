/*
 * The requests of Okta and Microsoft Entra in the order and the form in which their documentation says
 * that they are sent.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertPerson } from '../../../test/support/factories.ts'
import {
  createScimApi,
  filterQuery,
  GROUP_SCHEMA,
  PATCH_SCHEMA,
  USER_SCHEMA,
  type ScimApi,
  type TestGroup,
  type TestList,
  type TestUser,
} from '../../../test/support/scim-app.ts'

let api: ScimApi

beforeAll(async () => {
  api = await createScimApi()
})

afterAll(() => api.close())

function patchBody(...Operations: object[]) {
  return { schemas: [PATCH_SCHEMA], Operations }
}

describe('Okta', () => {
  const OKTA = {
    headers: { 'user-agent': 'Okta SCIM Client 1.0.0', accept: 'application/scim+json' },
  }
  const profile = {
    schemas: [USER_SCHEMA],
    userName: 'test.user@okta.example',
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: 'test.user@okta.example', type: 'work' }],
    displayName: 'Test User',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  }
  const lookup = `/Users?${filterQuery('userName eq "test.user@okta.example"')}&startIndex=1&count=100`
  let userId: string
  let groupId: string

  it('finds nobody before the first assignment', async () => {
    for (const path of ['/Users?startIndex=1&count=2', '/Groups?startIndex=1&count=100', lookup]) {
      const { status, body } = await api.scim<TestList<TestUser>>('GET', path, undefined, OKTA)
      expect(status).toBe(200)
      expect(body).toEqual({
        schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
        totalResults: 0,
        startIndex: 1,
        itemsPerPage: 0,
        Resources: [],
      })
    }
  })

  it('creates the user and finds it again', async () => {
    const { status, body } = await api.scim<TestUser>('POST', '/Users', profile, OKTA)
    expect(status).toBe(201)
    expect(body).toMatchObject({ ...omit(profile, ['locale', 'password']), groups: [] })
    expect(JSON.stringify(body)).not.toContain(profile.password)
    userId = body.id
    const found = await api.scim<TestList<TestUser>>('GET', lookup, undefined, OKTA)
    expect(found.body.Resources).toEqual([body])
  })

  it('is told when it creates the user once more', async () => {
    const { status, body } = await api.scim('POST', '/Users', profile, OKTA)
    expect(status).toBe(409)
    expect(body).toMatchObject({ status: '409', scimType: 'uniqueness' })
  })

  it('updates a profile with what it has read, changed', async () => {
    const { body: read } = await api.scim<TestUser>('GET', `/Users/${userId}`, undefined, OKTA)
    const changed = {
      ...read,
      name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
      displayName: 'Another User',
    }
    const { status, body } = await api.scim<TestUser>('PUT', `/Users/${userId}`, changed, OKTA)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: userId,
      name: { givenName: 'Another', familyName: 'User' },
      displayName: 'Another User',
      externalId: profile.externalId,
      active: true,
    })
  })

  it('pushes a group, renames it and changes its members', async () => {
    const created = await api.scim<TestGroup>(
      'POST',
      '/Groups',
      { schemas: [GROUP_SCHEMA], displayName: 'Test SCIMv2', members: [] },
      OKTA,
    )
    expect(created.status).toBe(201)
    expect(created.body.members).toEqual([])
    groupId = created.body.id
    const rename = { op: 'replace', value: { id: groupId, displayName: 'Test SCIMv20' } }
    const changes: readonly (readonly [object, readonly string[]])[] = [
      [patchBody(rename), []],
      [
        patchBody(
          { op: 'remove', path: 'members[value eq "89bb1940-b905-4575-9e7f-6f887cfb368e"]' },
          {
            op: 'add',
            path: 'members',
            value: [{ value: userId, display: 'test.user@okta.example' }],
          },
        ),
        [userId],
      ],
      [patchBody({ op: 'replace', path: 'members', value: [{ value: userId }] }), [userId]],
      [patchBody({ op: 'remove', path: `members[value eq "${userId}"]` }), []],
      [patchBody({ op: 'add', path: 'members', value: [{ value: userId }] }), [userId]],
    ]
    for (const [payload, members] of changes) {
      expect((await api.scim('PATCH', `/Groups/${groupId}`, payload, OKTA)).status).toBe(204)
      const { body } = await api.scim<TestGroup>('GET', `/Groups/${groupId}`, undefined, OKTA)
      expect(body.displayName).toBe('Test SCIMv20')
      expect(body.members.map(({ value }) => value)).toEqual(members)
    }
  })

  it('deactivates by PATCH, as an integration, and by PUT, as a custom app', async () => {
    const deactivate = patchBody({ op: 'replace', value: { active: false } })
    const patched = await api.scim<TestUser>('PATCH', `/Users/${userId}`, deactivate, OKTA)
    expect([patched.status, patched.body.active]).toEqual([200, false])
    const activate = { ...patched.body, active: true }
    const put = await api.scim<TestUser>('PUT', `/Users/${userId}`, activate, OKTA)
    expect([put.status, put.body.active]).toEqual([200, true])
    const again = await api.scim<TestUser>(
      'PUT',
      `/Users/${userId}`,
      { ...put.body, active: false },
      OKTA,
    )
    expect(again.body).toMatchObject({ active: false, groups: [{ value: groupId }] })
    expect((await api.request(`/people/${userId}`)).status).toBe(404)
  })

  it('unlinks the group', async () => {
    expect((await api.scim('DELETE', `/Groups/${groupId}`, undefined, OKTA)).status).toBe(204)
  })
})

describe('Microsoft Entra', () => {
  const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
  const upn = 'test.user@entra.example'
  let userId: string
  let groupId: string

  it('tests the connection with a user who does not exist', async () => {
    const filter = 'userName eq "non-existent user"'
    const { status, body } = await api.scim('GET', `/Users?${filterQuery(filter)}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ totalResults: 0, Resources: [] })
  })

  it('creates the user', async () => {
    const { status, body } = await api.scim<TestUser>('POST', '/Users', {
      schemas: [USER_SCHEMA, ENTERPRISE],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: upn,
      active: true,
      emails: [{ primary: true, type: 'work', value: 'mail@entra.example' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      roles: [],
      [ENTERPRISE]: { department: 'Engines', manager: { value: '5' } },
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: upn,
      emails: [{ value: 'mail@entra.example', type: 'work', primary: true }],
    })
    userId = body.id
  })

  it.each([
    `userName eq "${upn}"`,
    'externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"',
    'emails[type eq "work"].value eq "mail@entra.example"',
    'emails[type eq "work" and value eq "mail@entra.example"]',
    `active eq true and userName eq "${upn}"`,
  ])('matches the user by %s', async (filter) => {
    const { body } = await api.scim<TestList<TestUser>>('GET', `/Users?${filterQuery(filter)}`)
    expect(body.Resources.map(({ id }) => id)).toEqual([userId])
  })

  it('updates attributes, one operation each', async () => {
    const { status, body } = await api.scim(
      'PATCH',
      `/Users/${userId}`,
      patchBody(
        { op: 'Replace', path: 'displayName', value: 'Pvlo' },
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@entra.example' },
        { op: 'Replace', path: 'name.givenName', value: 'Gtfd' },
        { op: 'Replace', path: 'name.familyName', value: 'Pkqf' },
        { op: 'Replace', path: 'externalId', value: 'Eqpj' },
        { op: 'Replace', path: `${ENTERPRISE}:employeeNumber`, value: 'Eqpj' },
        { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555 0100' },
        { op: 'Add', path: 'nickName', value: 'Babs' },
      ),
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      displayName: 'Pvlo',
      externalId: 'Eqpj',
      name: { givenName: 'Gtfd', familyName: 'Pkqf' },
      emails: [{ value: 'updated@entra.example', type: 'work', primary: true }],
    })
    expect((await api.request(`/people/${userId}`)).body).toMatchObject({
      name: 'Pvlo',
      email: 'updated@entra.example',
      usernames: [upn],
    })
  })

  it.each([
    { op: 'Remove', path: 'emails[type eq "work"].value' },
    { op: 'Replace', path: 'emails[type eq "work"].value', value: '' },
  ])('takes an email away by its address alone: %o', async (operation) => {
    const made = { op: 'Add', path: 'emails[type eq "home"].value', value: 'home@entra.example' }
    const work = { op: 'Add', path: 'emails[type eq "work"].value', value: 'work@entra.example' }
    expect((await api.scim('PATCH', `/Users/${userId}`, patchBody(made, work))).status).toBe(200)
    const { status, body } = await api.scim('PATCH', `/Users/${userId}`, patchBody(operation))
    expect(status).toBe(200)
    expect(body).toMatchObject({ emails: [{ value: 'home@entra.example', type: 'home' }] })
    const back = patchBody(work, { op: 'Remove', path: 'emails[type eq "home"]' })
    expect((await api.scim('PATCH', `/Users/${userId}`, back)).status).toBe(200)
  })

  it('updates attributes in one operation, with its newer client', async () => {
    const { status, body } = await api.scim(
      'PATCH',
      `/Users/${userId}`,
      patchBody(
        { op: 'replace', path: 'emails[type eq "work"].value', value: 'newest@entra.example' },
        {
          op: 'replace',
          value: {
            displayName: 'Bjfe',
            'name.givenName': 'Kkom',
            'name.familyName': 'Unua',
            [`${ENTERPRISE}:employeeNumber`]: 'Aklq',
          },
        },
      ),
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      displayName: 'Bjfe',
      name: { givenName: 'Kkom', familyName: 'Unua' },
      emails: [{ value: 'newest@entra.example' }],
    })
  })

  it('creates a group, finds it and changes it', async () => {
    const created = await api.scim<TestGroup>('POST', '/Groups', {
      schemas: [
        GROUP_SCHEMA,
        'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
      ],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'displayName',
      meta: { resourceType: 'Group' },
    })
    expect(created.status).toBe(201)
    expect(created.body.members).toEqual([])
    groupId = created.body.id
    const shown = await api.scim('GET', `/Groups/${groupId}?excludedAttributes=members`)
    expect(shown.body).not.toHaveProperty('members')
    const filter = filterQuery('displayName eq "displayName"')
    const found = await api.scim<TestList<TestGroup>>(
      'GET',
      `/Groups?excludedAttributes=members&${filter}`,
    )
    expect(found.body.Resources).toEqual([shown.body])
    const rename = patchBody({ op: 'Replace', path: 'displayName', value: '1879db59-updated' })
    expect((await api.scim('PATCH', `/Groups/${groupId}`, rename)).status).toBe(204)
  })

  it('adds and removes members in both of its dialects', async () => {
    const add = patchBody({ op: 'Add', path: 'members', value: [{ $ref: null, value: userId }] })
    const removals = [
      patchBody({ op: 'Remove', path: 'members', value: [{ $ref: null, value: userId }] }),
      patchBody({ op: 'remove', path: `members[value eq "${userId}"]` }),
    ]
    const isMember = `/Groups?${filterQuery(`id eq "${groupId}" and members eq "${userId}"`)}`
    const count = async () =>
      (await api.scim<TestList<TestGroup>>('GET', isMember)).body.totalResults
    for (const remove of removals) {
      expect((await api.scim('PATCH', `/Groups/${groupId}`, add)).status).toBe(204)
      expect(await count()).toBe(1)
      expect((await api.scim('PATCH', `/Groups/${groupId}`, remove)).status).toBe(204)
      expect(await count()).toBe(0)
    }
    expect((await api.scim('PATCH', `/Groups/${groupId}`, add)).status).toBe(204)
  })

  it('disables and enables in both of its dialects; membership needs no repetition', async () => {
    for (const [off, on] of [
      ['False', 'True'],
      [false, true],
    ]) {
      const disable = patchBody({ op: 'Replace', path: 'active', value: off })
      const disabled = await api.scim<TestUser>('PATCH', `/Users/${userId}`, disable)
      expect(disabled.body.active).toBe(false)
      expect((await api.request(`/people/${userId}`)).status).toBe(404)
      const enable = patchBody({ op: 'Add', path: 'active', value: on })
      const enabled = await api.scim<TestUser>('PATCH', `/Users/${userId}`, enable)
      expect(enabled.body).toMatchObject({ active: true, groups: [{ value: groupId }] })
    }
  })

  it('deletes the user and the group', async () => {
    expect((await api.scim('DELETE', `/Users/${userId}`)).status).toBe(204)
    expect((await api.scim('GET', `/Users/${userId}`)).status).toBe(404)
    expect((await api.scim('DELETE', `/Groups/${groupId}`)).status).toBe(204)
    const { body } = await api.scim<TestList<TestUser>>(
      'GET',
      `/Users?${filterQuery(`userName eq "${upn}"`)}`,
    )
    expect(body.totalResults).toBe(0)
  })

  it('takes over whoever enrolled a device before, found by the user name', async () => {
    const id = await insertPerson(api.db, { email: 'early@entra.example', name: 'Early' })
    const { body } = await api.scim<TestList<TestUser>>(
      'GET',
      `/Users?${filterQuery('userName eq "Early@entra.example"')}`,
    )
    expect(body.Resources.map((user) => user.id)).toEqual([id])
    const link = patchBody(
      { op: 'Add', path: 'externalId', value: 'early-1' },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'bird@entra.example' },
    )
    const { body: linked } = await api.scim('PATCH', `/Users/${id}`, link)
    expect(linked).toMatchObject({
      id,
      externalId: 'early-1',
      userName: 'early@entra.example',
      displayName: 'Early',
      emails: [{ value: 'bird@entra.example', type: 'work', primary: true }],
    })
  })
})

function omit(object: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

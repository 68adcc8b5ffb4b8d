import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import {
  createConsoleSession,
  type TestSession,
  type TestSessionOptions,
} from '../../../test/support/console-session.ts'

interface View {
  readonly id: string
  readonly name: string
  readonly owner_name: string | null
  readonly shared: boolean
  readonly may_change: boolean
}

interface Answer {
  readonly status: number
  readonly body: View & { readonly code?: string; readonly data?: readonly View[] }
}

let api: ServiceApi
let ada: TestSession
let grace: TestSession
let chief: TestSession

const LIMITED: TestSessionOptions = { access: 'limited' }

beforeAll(async () => {
  api = await createServiceApi()
  ada = await createConsoleSession(api.db, LIMITED)
  grace = await createConsoleSession(api.db, LIMITED)
  chief = await createConsoleSession(api.db)
})
afterAll(() => api.close())

async function ask(
  by: TestSession | string,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  body?: object,
): Promise<Answer> {
  const key = typeof by === 'string' ? by : null
  const headers = typeof by === 'string' ? {} : by.headers
  return api.request<Answer['body']>(url, {
    key,
    headers,
    method,
    ...(body === undefined ? {} : { payload: body }),
  })
}

const DEVICES = { list: '/devices', page: '/devices', search: 'query=auth_state%3ABlocked' }

const save = async (by: TestSession | string, name: string, more: object = {}) =>
  ask(by, 'POST', '/saved_views', { ...DEVICES, name, ...more })

const namesSeenBy = async (by: TestSession | string, list = '/devices') => {
  const { body } = await ask(by, 'GET', `/saved_views?per_page=100&list=${list}`)
  return (body.data ?? []).map(({ name }) => name)
}

describe('a view', () => {
  it('is seen by its owner alone until it is shared, and no longer when it is not', async () => {
    const { status, body } = await save(ada, 'Mine', { columns: ['name'], order: 'desc' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...DEVICES,
      ...{ columns: ['name'], order: 'desc', shared: false, may_change: true },
    })
    const path = `/saved_views/${body.id}`
    expect(await namesSeenBy(ada)).toContain('Mine')
    expect(await namesSeenBy(ada, '/people')).not.toContain('Mine')
    for (const other of [grace, chief, api.key]) {
      expect(await namesSeenBy(other)).not.toContain('Mine')
      expect((await ask(other, 'DELETE', path)).body.code).toMatch(/^(?:not_found)$/)
    }
    expect((await ask(ada, 'PATCH', path, { shared: true })).body.shared).toBe(true)
    for (const other of [grace, chief, api.key]) {
      expect(await namesSeenBy(other)).toContain('Mine')
    }
    expect((await ask(ada, 'PATCH', path, { shared: false })).body.shared).toBe(false)
    expect(await namesSeenBy(grace)).not.toContain('Mine')
  })

  it('that is shared is changed by its owner and by Full Access, who cannot hide it', async () => {
    const { body } = await save(ada, 'Ours', { shared: true })
    const path = `/saved_views/${body.id}`
    expect((await ask(grace, 'PATCH', path, { name: 'Hers' })).body.code).toBe('permission_missing')
    expect((await ask(grace, 'DELETE', path)).body.code).toBe('permission_missing')
    expect((await ask(chief, 'PATCH', path, { name: 'Theirs' })).body.name).toBe('Theirs')
    expect((await ask(chief, 'PATCH', path, { shared: false })).body.code).toBe(
      'permission_missing',
    )
    expect((await ask(chief, 'DELETE', path)).status).toBe(200)
    expect((await ask(ada, 'DELETE', path)).status).toBe(404)
  })

  it('has a name that its owner has once for a list', async () => {
    expect((await save(ada, 'Twice')).status).toBe(200)
    expect((await save(ada, 'TWICE')).body.code).toBe('conflict')
    expect((await save(ada, 'Twice', { list: '/people' })).status).toBe(200)
    expect((await save(grace, 'Twice')).status).toBe(200)
  })

  it('is saved by a key only for the organisation', async () => {
    expect((await save(await api.createKey([]), 'By a key', { shared: true })).status).toBe(403)
    const key = await api.createKey(['Manage Organisation'])
    expect((await save(key, 'By a key')).body.code).toBe('invalid_body')
    const { body } = await save(key, 'By a key', { shared: true })
    expect(body).toMatchObject({ owner_name: null, shared: true, may_change: true })
    expect((await ask(key, 'PATCH', `/saved_views/${body.id}`, { shared: false })).status).toBe(403)
  })

  it.each([
    { page: '//evil.example.com' },
    { page: 'https://evil.example.com' },
    { page: '/devices?x' },
    { page: 'javascript:alert(1)' },
    { list: '/devices/../x' },
    { name: '   ' },
    { name: 'x'.repeat(81) },
    { search: 'x'.repeat(4_097) },
    { columns: Array.from({ length: 61 }, (_, index) => `column-${index}`) },
    { order: 'sideways' },
    { columns: ['\ud83d'] },
  ])('is refused with %j', async (wrong) => {
    const { status, body } = await save(ada, 'Wrong', wrong)
    expect([status, body.code]).toEqual([422, 'invalid_body'])
  })

  it('goes with its owner, unless it is shared', async () => {
    const leaving = await createConsoleSession(api.db, LIMITED)
    await save(leaving, 'Goes')
    await save(leaving, 'Stays', { shared: true })
    expect((await ask(chief, 'DELETE', `/admin_users/${leaving.adminId}`)).status).toBe(200)
    expect(await namesSeenBy(chief)).toContain('Stays')
    const left = await api.db
      .selectFrom('saved_view')
      .select(['name', 'owner_id'])
      .where('name', 'in', ['Goes', 'Stays'])
      .execute()
    expect(left).toEqual([{ name: 'Stays', owner_id: null }])
  })

  it('is one of a hundred at the most', async () => {
    const admin = await createConsoleSession(api.db, LIMITED)
    await api.db
      .insertInto('saved_view')
      .values(
        Array.from({ length: 100 }, (_, index) => ({
          ...{ ...DEVICES, owner_id: admin.adminId, name: `View ${index}`, is_shared: false },
          ...{ columns: null, row_order: null, created_at: new Date(), updated_at: new Date() },
        })),
      )
      .execute()
    expect((await save(admin, 'One more')).body.code).toBe('conflict')
    expect((await save(grace, 'One more')).status).toBe(200)
  })
})

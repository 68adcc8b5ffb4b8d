import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BASE_URL,
  createTestApi,
  type TestApi,
  type TestRefusal,
} from '../../../test/support/api-app.ts'
import {
  countAuditEntries,
  describeWriteContract,
  lastAuditEntry,
} from '../../../test/support/write-contract.ts'
import { apiKeyRoutes } from './api-key-routes.ts'

interface KeyJson {
  readonly id: string
  readonly name: string
  readonly masked_secret: string
  readonly state: string
  readonly responsible_email: string | null
  readonly permissions: readonly { readonly permission: string; readonly rationale: string }[]
  readonly expires_at: string | null
  readonly rotated_from_id: string | null
  readonly secret?: string
}

const RESPONSIBLE = 'grace@example.com'
const REFRESH = { permission: 'Refresh Check', rationale: 'Help desk.' }
const REMOVE = { permission: 'Remove Devices', rationale: 'Offboarding.' }

let api: TestApi
let manager: string

beforeAll(async () => {
  api = await createTestApi((parts) => apiKeyRoutes({ ...parts, baseUrl: BASE_URL }))
  manager = await api.createKey(['Manage API Keys', 'Refresh Check'])
})
afterAll(() => api.close())

const create = async (body: object = {}) =>
  api.request<KeyJson & TestRefusal>('/api_keys', {
    method: 'POST',
    key: manager,
    payload: { name: 'Help desk', responsible_email: RESPONSIBLE, ...body },
  })
const send = async (method: 'PATCH' | 'POST' | 'DELETE', path: string, payload?: object) =>
  api.request<KeyJson & TestRefusal>(path, {
    method,
    key: manager,
    ...(payload === undefined ? {} : { payload }),
  })
const show = async (id: string) => api.request<KeyJson>(`/api_keys/${id}`, { key: manager })
/** The status with which the key is answered, by the route that shows itself. */
const statusOf = async (secret: string) => (await api.request('/api_keys', { key: secret })).status

describeWriteContract({
  api: () => api,
  method: 'POST',
  path: () => '/api_keys',
  payload: () => ({ name: 'Help desk', responsible_email: RESPONSIBLE }),
  permission: 'Manage API Keys',
})
describeWriteContract({
  api: () => api,
  method: 'DELETE',
  path: () => '/api_keys/1',
  permission: 'Manage API Keys',
  missingPaths: () => ['/api_keys/999999999', '/api_keys/abc', `/api_keys/${'9'.repeat(40)}`],
})

describe('a key', () => {
  it('is told once with its secret, and is listed and shown without it', async () => {
    const { status, headers, body } = await create({ permissions: [REFRESH] })
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('no-store')
    const { secret = '', ...shown } = body
    expect(shown).toMatchObject({
      name: 'Help desk',
      state: 'live',
      responsible_email: RESPONSIBLE,
      permissions: [REFRESH],
      masked_secret: `k2sk_v1_****${secret.slice(-4)}`,
    })
    expect(await statusOf(secret)).toBe(403)
    expect((await show(body.id)).body).toEqual(shown)
    const { body: page } = await api.request<{ data: KeyJson[] }>('/api_keys', { key: manager })
    expect(page.data.at(-1)).toEqual(shown)
    expect(JSON.stringify(page)).not.toContain(secret)
  })

  it('is not read by a key without the permission', async () => {
    for (const path of ['/api_keys', '/api_keys/1']) {
      expect((await api.request(path)).status).toBe(403)
    }
  })

  it('names every wrong member', async () => {
    const before = await countAuditEntries(api)
    for (const [body, path] of [
      [{ responsible_email: 'nobody@example.com' }, 'responsible_email'],
      [{ permissions: [{ permission: 'Fly', rationale: 'x' }] }, 'permissions.0.permission'],
      [
        { permissions: [{ permission: 'Refresh Check', rationale: ' ' }] },
        'permissions.0.rationale',
      ],
      [{ expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
      [{ name: '' }, 'name'],
    ] as const) {
      const { status, body: refusal } = await create(body)
      expect([path, status, refusal.details?.[0]?.path]).toEqual([path, 422, path])
    }
    expect(await countAuditEntries(api)).toBe(before)
  })

  it('is revoked at once, and stays on the list', async () => {
    const { id, secret = '' } = (await create()).body
    expect((await send('DELETE', `/api_keys/${id}`)).body).toMatchObject({ id, state: 'revoked' })
    expect(await statusOf(secret)).toBe(401)
    expect((await show(id)).body.state).toBe('revoked')
    expect((await send('POST', `/api_keys/${id}/reveal`, { reason: 'x' })).status).toBe(409)
    expect((await send('PATCH', `/api_keys/${id}`, { name: 'x' })).status).toBe(409)
  })
})

describe('a change of a key', () => {
  it('takes effect on the next request, and the audit log has before and after', async () => {
    const { id, secret = '' } = (await create()).body
    const expiresAt = new Date(api.clock.now().getTime() + 60_000).toISOString()
    const { status, body } = await send('PATCH', `/api_keys/${id}`, {
      name: 'Support',
      permissions: [REFRESH],
      expires_at: expiresAt,
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'Support', permissions: [REFRESH], expires_at: expiresAt })
    expect(body.secret).toBeUndefined()
    expect(await lastAuditEntry(api, 'api_key.updated')).toMatchObject({
      target_id: id,
      before: { name: 'Help desk', permissions: [], expires_at: null },
      after: { name: 'Support', permissions: [REFRESH], expires_at: expiresAt },
    })
    expect(await statusOf(secret)).toBe(403)
    const { body: same } = await send('PATCH', `/api_keys/${id}`, { expires_at: null })
    expect(same).toMatchObject({ name: 'Support', permissions: [REFRESH], expires_at: null })
  })

  it('keeps the time at which a permission was granted that stays', async () => {
    const { id } = (await create({ permissions: [REFRESH] })).body
    const grantedAt = async () =>
      api.db
        .selectFrom('api_key_permission')
        .select(['granted_at'])
        .where('api_key_id', '=', id)
        .executeTakeFirstOrThrow()
    const before = await grantedAt()
    api.clock.advance(1_000)
    await send('PATCH', `/api_keys/${id}`, { permissions: [REFRESH] })
    expect(await grantedAt()).toEqual(before)
    await send('PATCH', `/api_keys/${id}`, { permissions: [{ ...REFRESH, rationale: 'New.' }] })
    expect(await grantedAt()).not.toEqual(before)
  })
})

describe('a caller that does not hold a permission', () => {
  /** A key that holds what the manager does not. */
  const createStronger = async () => {
    const strong = await api.createKey(['Manage API Keys', 'Remove Devices'])
    const { body } = await api.request<KeyJson>('/api_keys', {
      method: 'POST',
      key: strong,
      payload: { name: 'Strong', responsible_email: RESPONSIBLE, permissions: [REMOVE] },
    })
    return body.id
  }

  it('creates no key with it, and gives it to none', async () => {
    const { status, body } = await create({ permissions: [REMOVE] })
    expect([status, body.code]).toEqual([403, 'permission_missing'])
    expect(body.message).toContain('"Remove Devices"')
    const { id } = (await create()).body
    const change = await send('PATCH', `/api_keys/${id}`, { permissions: [REMOVE] })
    expect(change.status).toBe(403)
    expect((await show(id)).body.permissions).toEqual([])
  })

  it('gets no secret that holds it and changes nothing of the key, but can end it', async () => {
    const id = await createStronger()
    const before = await countAuditEntries(api)
    expect((await send('POST', `/api_keys/${id}/reveal`, { reason: 'x' })).status).toBe(403)
    expect((await send('POST', `/api_keys/${id}/rotate`, {})).status).toBe(403)
    expect(await countAuditEntries(api)).toBe(before)
    const expiresAt = new Date(api.clock.now().getTime() + 60_000).toISOString()
    for (const edit of [{ name: 'x' }, { expires_at: expiresAt }, { permissions: [] }]) {
      const { status, body } = await send('PATCH', `/api_keys/${id}`, edit)
      expect([status, body.code]).toEqual([403, 'permission_missing'])
    }
    expect((await send('DELETE', `/api_keys/${id}`)).status).toBe(200)
  })
})

describe('a key that ends', () => {
  const inMinutes = (minutes: number) =>
    new Date(api.clock.now().getTime() + minutes * 60_000).toISOString()
  const MANAGE = { permission: 'Manage API Keys', rationale: 'A pipeline.' }
  const createEnding = async () => {
    const lead = await api.createKey(['Manage API Keys'])
    const as = (key: string, method: 'POST' | 'PATCH', path: string, payload: object) =>
      api.request<KeyJson & TestRefusal>(path, { method, key, payload })
    const payload = { name: 'CI', responsible_email: RESPONSIBLE, permissions: [MANAGE] }
    const { body } = await as(lead, 'POST', '/api_keys', { ...payload, expires_at: inMinutes(60) })
    const ask = (method: 'POST' | 'PATCH', path: string, edit: object) =>
      as(body.secret ?? '', method, path, edit)
    return { id: body.id, ask, payload }
  }

  it('moves no end beyond its own, not even its own', async () => {
    const { id, ask } = await createEnding()
    const other = (await create()).body.id
    for (const end of [null, inMinutes(61)]) {
      const { status, body } = await ask('PATCH', `/api_keys/${id}`, { expires_at: end })
      expect([status, body.details?.[0]?.path]).toEqual([422, 'expires_at'])
    }
    const at = async (which: string, minutes: number) =>
      (await ask('PATCH', `/api_keys/${which}`, { expires_at: inMinutes(minutes) })).status
    expect(await at(other, 90)).toBe(200)
    expect(await at(other, 95)).toBe(422)
    expect(await at(other, 50)).toBe(200)
    expect(await at(other, 60)).toBe(200)
    expect(await at(id, 30)).toBe(200)
  })

  it('makes no key that outlives it, and gets no secret of one that does', async () => {
    const { id, ask, payload } = await createEnding()
    const make = async (more: object) =>
      (await ask('POST', '/api_keys', { ...payload, ...more })).status
    expect(await make({})).toBe(422)
    expect(await make({ expires_at: inMinutes(61) })).toBe(422)
    expect(await make({ expires_at: inMinutes(60) })).toBe(200)
    const other = (await create()).body.id
    const secretOf = async (which: string) => [
      (await ask('POST', `/api_keys/${which}/reveal`, { reason: 'x' })).status,
      (await ask('POST', `/api_keys/${which}/rotate`, {})).status,
    ]
    expect(await secretOf(other)).toEqual([403, 403])
    expect(await secretOf(id)).toEqual([200, 200])
  })
})

describe('the secret of a key', () => {
  it('is revealed with a reason, which the audit log keeps', async () => {
    const { id, secret = '' } = (await create()).body
    expect((await send('POST', `/api_keys/${id}/reveal`, {})).status).toBe(422)
    const answer = await send('POST', `/api_keys/${id}/reveal`, { reason: 'The vault is lost.' })
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.body).toEqual({ id, secret })
    const entry = await lastAuditEntry(api, 'api_key.revealed')
    expect(entry).toMatchObject({ target_id: id, after: { reason: 'The vault is lost.' } })
    expect(JSON.stringify(entry)).not.toContain(secret)
  })

  it('is rotated: the new key holds the same, and the old one ends with the overlap', async () => {
    const old = (await create({ permissions: [REFRESH] })).body
    const { body: next } = await send('POST', `/api_keys/${old.id}/rotate`, { overlap_seconds: 60 })
    expect(next).toMatchObject({ permissions: [REFRESH], rotated_from_id: old.id, state: 'live' })
    expect(await statusOf(old.secret ?? '')).toBe(403)
    api.clock.advance(60_000)
    expect(await statusOf(old.secret ?? '')).toBe(401)
    expect((await show(old.id)).body.state).toBe('expired')
    expect(await statusOf(next.secret ?? '')).toBe(403)
  })
})

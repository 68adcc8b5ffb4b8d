import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BASE_URL,
  createTestApi,
  type TestApi,
  type TestRefusal,
} from '../../../../test/support/api-app.ts'
import {
  countAuditEntries,
  describeWriteContract,
  lastAuditEntry,
} from '../../../../test/support/write-contract.ts'
import { findLiveSecret } from '../../osquery/enrollment-store.ts'
import { hashEnrollmentSecret } from './create-enrollment-secret.ts'
import { enrollmentSecretRoutes } from './enrollment-secret-routes.ts'

interface SecretJson {
  readonly id: string
  readonly state: string
  readonly owner: { readonly identifier: string; readonly link: string | null }
  readonly secret?: string
}

let api: TestApi
let manager: string

beforeAll(async () => {
  api = await createTestApi((parts) => enrollmentSecretRoutes({ ...parts, baseUrl: BASE_URL }))
  manager = await api.createKey(['Manage Enrollment'])
})
afterAll(() => api.close())

const create = async (payload: object) =>
  api.request<SecretJson & TestRefusal>('/enrollment_secrets', {
    method: 'POST',
    key: manager,
    payload,
  })
const show = async (path: string) => api.request<SecretJson>(path, { key: manager })
const findLive = (secret: string) =>
  findLiveSecret(api.db, hashEnrollmentSecret(secret), api.clock.now())

describeWriteContract({
  api: () => api,
  method: 'POST',
  path: () => '/enrollment_secrets',
  payload: () => ({ name: 'Laptops' }),
  permission: 'Manage Enrollment',
})
describeWriteContract({
  api: () => api,
  method: 'DELETE',
  path: () => '/enrollment_secrets/1',
  permission: 'Manage Enrollment',
  missingPaths: () => ['/enrollment_secrets/999999999', '/enrollment_secrets/abc'],
})

describe('an enrollment secret', () => {
  it('is told once with its text, and is listed and shown without it', async () => {
    const expiresAt = new Date(api.clock.now().getTime() + 60_000).toISOString()
    const { status, headers, body } = await create({
      name: 'Laptops',
      owner_email: 'new@example.com',
      expires_at: expiresAt,
      uses_max: 25,
    })
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    const { secret = '', ...shown } = body
    expect(shown).toMatchObject({
      name: 'Laptops',
      state: 'live',
      owner_email: 'new@example.com',
      owner: { link: `${BASE_URL}/people/${shown.owner.identifier}` },
      expires_at: expiresAt,
      use_count: 0,
      uses_max: 25,
      alarm_uses_per_hour: 100,
    })
    expect(await findLive(secret)).toMatchObject({ id: shown.id })
    expect((await show(`/enrollment_secrets/${shown.id}`)).body).toEqual(shown)
    const { body: page } = await api.request<{ data: SecretJson[] }>('/enrollment_secrets', {
      key: manager,
    })
    expect(page.data.at(-1)).toEqual(shown)
    expect(JSON.stringify(page)).not.toContain(secret)
    expect(JSON.stringify(await lastAuditEntry(api))).not.toContain(secret)
  })

  it('is not read by a key without the permission', async () => {
    for (const path of ['/enrollment_secrets', '/enrollment_secrets/1']) {
      expect((await api.request(path)).status).toBe(403)
    }
  })

  it('never alarms where that is asked for', async () => {
    const { body } = await create({ name: 'Quiet', alarm_uses_per_hour: null })
    expect(body).toMatchObject({ alarm_uses_per_hour: null, uses_max: null, owner_email: null })
  })

  it.each([
    ['name', { name: '' }],
    ['uses_max', { name: 'x', uses_max: 0 }],
    ['expires_at', { name: 'x', expires_at: '2001-01-01T00:00:00Z' }],
    ['owner_email', { name: 'x', owner_email: '' }],
    ['email', { name: 'x', owner_email: 'nobody' }],
  ])('is refused for its %s, and nothing is created', async (path, payload) => {
    const before = await countAuditEntries(api)
    const { status, body } = await create(payload)
    expect([status, body.details?.[0]?.path]).toEqual([422, path])
    expect(await countAuditEntries(api)).toBe(before)
  })

  it('ends: no device enrolls with it any more, and the record stays', async () => {
    const { id, secret = '' } = (await create({ name: 'Laptops' })).body
    const { status, body } = await api.request<SecretJson>(`/enrollment_secrets/${id}`, {
      method: 'DELETE',
      key: manager,
    })
    expect([status, body.state]).toEqual([200, 'revoked'])
    expect(await findLive(secret)).toBeUndefined()
    expect((await show(`/enrollment_secrets/${id}`)).body.state).toBe('revoked')
    expect(await lastAuditEntry(api, 'enrollment_secret.revoked')).toMatchObject({ target_id: id })
  })
})

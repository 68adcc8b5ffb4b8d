import { generateKeyPairSync } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK } from 'jose'
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
import { clientRoutes } from './client-routes.ts'

const PERMISSION = 'Manage Shared Signals Framework Streams'

interface Client {
  readonly id: string
  readonly client_id: string
  readonly client_secret: string | null
  readonly token_endpoint: string
  readonly secrets: readonly { readonly last_four: string; readonly expires_at: string | null }[]
  readonly revoked_at: string | null
}

let api: TestApi
let key: string
let id: string

beforeAll(async () => {
  api = await createTestApi(({ db, clock, runChange }) =>
    clientRoutes({ db, clock, baseUrl: BASE_URL, runChange }),
  )
  key = await api.createKey([PERMISSION])
  id = (await create()).id
})
afterAll(() => api.close())

const call = <Body = Client>(
  url: string,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE' = 'GET',
  payload?: object,
) => api.request<Body>(url, { method, key, ...(payload === undefined ? {} : { payload }) })

async function create(payload: object = { name: 'Gateway' }): Promise<Client> {
  const { status, body } = await call('/ssf_clients', 'POST', payload)
  expect([status, body]).toEqual([200, body])
  return body
}

const missing = (suffix = '') => [`/ssf_clients/999999${suffix}`, `/ssf_clients/nonsense${suffix}`]
const contract = { api: () => api, permission: PERMISSION } as const

describeWriteContract({
  ...contract,
  method: 'POST',
  path: () => '/ssf_clients',
  payload: () => ({ name: 'Gateway' }),
})
describeWriteContract({
  ...contract,
  method: 'PATCH',
  path: () => `/ssf_clients/${id}`,
  payload: () => ({ name: 'Gateway' }),
  missingPaths: () => missing(),
})
describeWriteContract({
  ...contract,
  method: 'POST',
  path: () => `/ssf_clients/${id}/rotate_secret`,
  payload: () => ({}),
  missingPaths: () => missing('/rotate_secret'),
})
describeWriteContract({
  ...contract,
  method: 'DELETE',
  path: () => `/ssf_clients/${id}`,
  missingPaths: () => missing(),
})

describe('creating a client', () => {
  it('answers its secret once, with where to get tokens', async () => {
    const client = await create({ name: 'Gateway', scopes: ['ssf.read'] })
    expect(client).toMatchObject({
      client_id: expect.stringMatching(/^ssfc_/) as string,
      client_secret: expect.stringMatching(/^ssfs_[\w-]{43}$/) as string,
      token_endpoint: 'https://trust.example.com/ssf/token',
      scopes: ['ssf.read'],
      authentication_method: 'client_secret',
    })
    const shown = await call(`/ssf_clients/${client.id}`)
    expect(JSON.stringify(shown.body)).not.toContain(client.client_secret ?? 'none')
    expect(shown.body.secrets[0]?.last_four).toBe(client.client_secret?.slice(-4))
  })

  it('leaves an audit entry without the secret', async () => {
    const client = await create()
    const entry = await lastAuditEntry(api, 'ssf_client.created')
    expect(entry).toMatchObject({ target_type: 'ssf_client', target_id: client.id })
    expect(JSON.stringify(entry)).not.toContain(client.client_secret ?? 'none')
  })

  it('takes public keys in the place of a secret', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwks = { keys: [await exportJWK(publicKey)] }
    const client = await create({ name: 'Gateway', jwks })
    expect(client).toMatchObject({
      authentication_method: 'private_key_jwt',
      client_secret: null,
      jwks,
      secrets: [],
    })
  })

  it.each([
    ['no name', {}],
    ['a blank name', { name: ' ' }],
    ['no scope', { name: 'a', scopes: [] }],
    ['an unknown scope', { name: 'a', scopes: ['ssf.admin'] }],
    ['unknown default subjects', { name: 'a', default_subjects: 'SOME' }],
    ['an unknown profile', { name: 'a', profile: 'acme' }],
    ['an unknown member', { name: 'a', secret: 'mine' }],
    ['no keys', { name: 'a', jwks: { keys: [] } }],
    ['a shared key', { name: 'a', jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }],
    [
      'a key that is none',
      { name: 'a', jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'A', y: 'A' }] } },
    ],
  ])('refuses %s and leaves nothing behind', async (_name, payload) => {
    const before = await countAuditEntries(api)
    const { status } = await call<TestRefusal>('/ssf_clients', 'POST', payload)
    expect(status).toBe(422)
    expect(await countAuditEntries(api)).toBe(before)
  })

  it('refuses a private key, and a short one', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1_024 })
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    for (const each of [rsa.publicKey, ec.privateKey]) {
      const jwks = { keys: [await exportJWK(each)] }
      const { status } = await call('/ssf_clients', 'POST', { name: 'a', jwks })
      expect(status).toBe(422)
    }
  })
})

describe('a client', () => {
  it('is listed and shown, revoked or not', async () => {
    const client = await create()
    const { body } = await call<{ data: Client[] }>('/ssf_clients?per_page=100')
    expect(body.data.map((each) => each.id)).toContain(client.id)
    await call(`/ssf_clients/${client.id}`, 'DELETE')
    expect((await call(`/ssf_clients/${client.id}`)).body.revoked_at).not.toBeNull()
  })

  it('is changed with an audit entry of what was before and after', async () => {
    const client = await create({ name: 'one' })
    const { status } = await call(`/ssf_clients/${client.id}`, 'PATCH', {
      name: 'two',
      audience: 'https://receiver.example.com',
      default_subjects: 'NONE',
      profile: 'sgnl',
    })
    expect(status).toBe(200)
    expect(await lastAuditEntry(api, 'ssf_client.updated')).toMatchObject({
      before: { name: 'one', audience: null, default_subjects: null, profile: 'strict' },
      after: {
        name: 'two',
        audience: 'https://receiver.example.com',
        default_subjects: 'NONE',
        profile: 'sgnl',
      },
    })
  })

  it('has the profile that it was given, else the strict one', async () => {
    const profileOf = async (payload: object) => {
      const client = await create({ name: 'Gateway', ...payload })
      return (await call<{ profile: string }>(`/ssf_clients/${client.id}`)).body.profile
    }
    expect(await profileOf({ profile: 'okta' })).toBe('okta')
    expect(await profileOf({})).toBe('strict')
  })

  it('keeps the way it authenticates', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwks = { keys: [await exportJWK(publicKey)] }
    const withSecret = await create()
    expect((await call(`/ssf_clients/${withSecret.id}`, 'PATCH', { jwks })).status).toBe(409)
    const withKeys = await create({ name: 'a', jwks })
    const rotation = await call(`/ssf_clients/${withKeys.id}/rotate_secret`, 'POST', {})
    expect(rotation.status).toBe(409)
  })

  it('tells the audit log which keys it had, and which it has', async () => {
    const generate = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
    const made = await Promise.all([generate(), generate()].map(async (key) => exportJWK(key)))
    const [before, after] = made.map((jwk) => ({ keys: [{ ...jwk, kid: 'same' }] }))
    const client = await create({ name: 'a', jwks: before })
    await call(`/ssf_clients/${client.id}`, 'PATCH', { jwks: after })
    const told = await lastAuditEntry(api)
    const thumbprints = await Promise.all(made.map(async (jwk) => calculateJwkThumbprint(jwk)))
    expect([told?.before, told?.after]).toMatchObject(
      thumbprints.map((each) => ({ key_thumbprints: [each] })),
    )
  })

  it('gets a new secret beside the old one, a few at most', async () => {
    const client = await create()
    const rotate = () =>
      call(`/ssf_clients/${client.id}/rotate_secret`, 'POST', { overlap_seconds: 60 })
    const first = await rotate()
    expect(first.body.client_secret).not.toBe(client.client_secret)
    expect(first.body.secrets.map(({ expires_at }) => expires_at === null)).toEqual([false, true])
    expect((await rotate()).status).toBe(200)
    expect((await rotate()).status).toBe(409)
    const now = await call(`/ssf_clients/${client.id}/rotate_secret`, 'POST', {
      overlap_seconds: 0,
    })
    expect(now.body.secrets).toHaveLength(1)
  })

  it('is revoked for good', async () => {
    const client = await create()
    const { status, body } = await call(`/ssf_clients/${client.id}`, 'DELETE')
    expect([status, body.secrets]).toEqual([200, []])
    expect(await lastAuditEntry(api, 'ssf_client.revoked')).toMatchObject({ target_id: client.id })
    const before = await countAuditEntries(api)
    expect((await call(`/ssf_clients/${client.id}`, 'DELETE')).status).toBe(200)
    expect((await call(`/ssf_clients/${client.id}`, 'PATCH', { name: 'a' })).status).toBe(409)
    const rotation = await call(`/ssf_clients/${client.id}/rotate_secret`, 'POST', {})
    expect(rotation.status).toBe(409)
    expect(await countAuditEntries(api)).toBe(before)
  })
})

import { generateKeyPairSync } from 'node:crypto'
import { exportJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createStandardApi,
  type StandardApi,
  type TestClient,
} from '../../../test/support/standard-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { createAuthorizationStore } from './authorization-store.ts'
import { changeSsfClient, revokeSsfClient, rotateClientSecret } from './change-client.ts'

const FORM = 'application/x-www-form-urlencoded'
const TOKEN_ENDPOINT = 'https://trust.example.com/ssf/token'

let api: StandardApi

beforeAll(async () => {
  api = await createStandardApi()
})
afterAll(() => api.close())

function basic({ clientId, secret }: TestClient): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` }
}

async function post(
  form: Record<string, string>,
  headers: Record<string, string> = {},
  path = '/ssf/token',
) {
  const answer = await api.app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': FORM, ...headers },
    payload: new URLSearchParams(form).toString(),
  })
  const body = (answer.body === '' ? undefined : answer.json()) as Record<string, unknown>
  return { status: answer.statusCode, headers: answer.headers, body }
}

const grant = { grant_type: 'client_credentials' }

async function isLive(token: string): Promise<boolean> {
  const { status } = await api.call('/ssf/streams', { token })
  return status === 200
}

describe('the token endpoint', () => {
  it('ssf-T139 gives a token of at most 60 minutes for client_secret_basic', async () => {
    const { status, body, headers } = await post({ ...grant, scope: 'ssf.read' }, basic(api.client))
    expect(status).toBe(200)
    expect(body).toMatchObject({ token_type: 'Bearer', scope: 'ssf.read' })
    expect(body['expires_in']).toBe(1_800)
    expect(headers['cache-control']).toBe('no-store')
    expect(await isLive(String(body['access_token']))).toBe(true)
  })

  it('ssf-T139 takes client_secret_post', async () => {
    const { clientId, secret } = api.client
    const { status } = await post({ ...grant, client_id: clientId, client_secret: secret })
    expect(status).toBe(200)
  })

  it('ssf-T140 gives every scope of the client when none is asked for', async () => {
    const client = await api.newClient({ scopes: ['ssf.read'] })
    const { body } = await post(grant, basic(client))
    expect(body['scope']).toBe('ssf.read')
    expect((await post(grant, basic(api.client))).body['scope']).toBe('ssf.read ssf.manage')
  })

  it('ssf-T140 refuses unknown scopes that no known one is among: none means all', async () => {
    for (const scope of ['ssf.reed', 'SSF.READ', 'all of them']) {
      const { status, body } = await post({ ...grant, scope }, basic(api.client))
      expect([status, body['error']]).toEqual([400, 'invalid_scope'])
    }
    const { body } = await post({ ...grant, scope: 'ssf.read ssf.reed' }, basic(api.client))
    expect(body['scope']).toBe('ssf.read')
  })

  it('ssf-T140 refuses a scope that the client may not have', async () => {
    const client = await api.newClient({ scopes: ['ssf.read'] })
    const { status, body } = await post({ ...grant, scope: 'ssf.manage' }, basic(client))
    expect(status).toBe(400)
    expect(body['error']).toBe('invalid_scope')
  })

  it.each([
    ['a wrong secret', (client: TestClient) => basic({ ...client, secret: 'ssfs_wrong' })],
    ['an unknown client', (client: TestClient) => basic({ ...client, clientId: 'ssfc_nobody' })],
    [
      'its own id as the secret',
      (client: TestClient) => basic({ ...client, secret: client.clientId }),
    ],
  ])('refuses %s with 401 and a challenge', async (_name, headersOf) => {
    const { status, body, headers } = await post(grant, headersOf(api.client))
    expect(status).toBe(401)
    expect(body).toEqual({
      error: 'invalid_client',
      error_description: 'client authentication failed',
    })
    expect(headers['www-authenticate']).toMatch(/^Basic realm=/)
  })

  it('refuses an id that cannot be stored', async () => {
    const form = { ...grant, client_id: 'a\0b', client_secret: 'c' }
    expect((await post(form)).status).toBe(401)
  })

  it('refuses the hash of a secret as the secret', async () => {
    const { secret_hash: hash } = await api.db
      .selectFrom('ssf_client_secret')
      .select('secret_hash')
      .where('ssf_client_id', '=', api.client.id)
      .executeTakeFirstOrThrow()
    const { status } = await post(grant, basic({ ...api.client, secret: hash.toString('hex') }))
    expect(status).toBe(401)
  })

  it.each([
    [{ grant_type: 'password', username: 'a', password: 'b' }, 'unsupported_grant_type'],
    [{ grant_type: 'authorization_code', code: 'a' }, 'unsupported_grant_type'],
    [{}, 'invalid_request'],
  ])('refuses the request %j', async (form, error) => {
    const { status, body } = await post(form, basic(api.client))
    expect(status).toBe(400)
    expect(body['error']).toBe(error)
  })

  it('answers refusals as JSON to browsers too', async () => {
    const { headers } = await post(grant, { ...basic(api.client), accept: 'text/html' })
    expect(headers['content-type']).toMatch(/^application\/json/)
    const refused = await post({}, { accept: 'text/html' })
    expect(refused.body['error']).toBe('invalid_request')
  })

  it('refuses a body of another type', async () => {
    const { status } = await post(grant, { ...basic(api.client), 'content-type': 'text/plain' })
    expect(status).toBe(400)
  })

  it.each([
    ['GET', '/ssf/auth'],
    ['POST', '/ssf/reg'],
    ['GET', '/ssf/me'],
    ['POST', '/ssf/request'],
    ['GET', '/ssf/session/end'],
    ['GET', '/ssf/interaction/1'],
  ] as const)('has nothing at %s %s', async (method, url) => {
    expect((await api.app.inject({ method, url })).statusCode).toBe(404)
  })

  it('keeps neither tokens nor secrets readable', async () => {
    const { body } = await post(grant, basic(api.client))
    const token = String(body['access_token'])
    const tokens = await api.db.selectFrom('ssf_access_token').selectAll().execute()
    const secrets = await api.db.selectFrom('ssf_client_secret').selectAll().execute()
    const stored = JSON.stringify([tokens, secrets])
    expect(stored).not.toContain(token)
    expect(stored).not.toContain(api.client.secret)
  })
})

describe('client assertions', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  let client: TestClient

  beforeAll(async () => {
    const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig' }
    client = await api.newClient({ jwks: { keys: [jwk] } })
  })

  const sign = (claims: Record<string, unknown> = {}, alg = 'RS256', key = privateKey) => {
    const nowSeconds = Math.floor(Date.now() / SECOND_MS)
    return new SignJWT({
      iss: client.clientId,
      sub: client.clientId,
      aud: TOKEN_ENDPOINT,
      jti: crypto.randomUUID(),
      iat: nowSeconds,
      exp: nowSeconds + 60,
      ...claims,
    })
      .setProtectedHeader({ alg })
      .sign(key)
  }
  const authenticate = (assertion: string) =>
    post({
      ...grant,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    })

  it.each([TOKEN_ENDPOINT, 'https://trust.example.com/ssf'])(
    'ssf-T139 authenticate private_key_jwt for the audience %s',
    async (aud) => {
      const { status, body } = await authenticate(await sign({ aud }))
      expect([status, body['error']]).toEqual([200, undefined])
    },
  )

  it('are used once, also by two requests at once', async () => {
    const assertion = await sign()
    const answers = await Promise.all([authenticate(assertion), authenticate(assertion)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
    expect((await authenticate(assertion)).status).toBe(401)
  })

  it('are remembered by the first of two processes that see one', async () => {
    const store = createAuthorizationStore('ReplayDetection', api)
    await store.upsert('an assertion', {}, 60)
    await expect(store.upsert('an assertion', {}, 60)).rejects.toMatchObject({ statusCode: 401 })
  })

  it.each([
    ['another audience', { aud: 'https://other.example.com' }],
    ['another issuer', { iss: 'ssfc_other' }],
    ['a life of a day', { exp: Math.floor(Date.now() / SECOND_MS) + 86_400 }],
    ['no id', { jti: undefined }],
    ['an end in the past', { exp: Math.floor(Date.now() / SECOND_MS) - 60 }],
  ])('are refused with %s', async (_name, claims) => {
    const { status, body } = await authenticate(await sign(claims))
    expect([status, body['error']]).toEqual([401, 'invalid_client'])
  })

  it('are refused when another key signed them', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
    expect((await authenticate(await sign({}, 'RS256', other.privateKey))).status).toBe(401)
  })
})

describe('the end of tokens', () => {
  it('ssf-T143 is their expiry', async () => {
    const token = await api.newToken(api.client)
    api.clock.advance(30 * MINUTE_MS - 1)
    expect(await isLive(token)).toBe(true)
    api.clock.advance(1)
    expect(await isLive(token)).toBe(false)
  })

  it('ssf-T143 is their revocation, on the next request', async () => {
    const token = await api.newToken(api.client)
    const path = '/ssf/token/revocation'
    expect((await post({ token }, basic(api.client), path)).status).toBe(200)
    expect(await isLive(token)).toBe(false)
  })

  it('is not in the hands of another client, which learns nothing of them', async () => {
    const token = await api.newToken(api.client)
    const other = await api.newClient()
    expect((await post({ token }, basic(other), '/ssf/token/revocation')).status).toBe(200)
    expect(await isLive(token)).toBe(true)
    const { body } = await post({ token }, basic(other), '/ssf/token/introspection')
    expect(body).toEqual({ active: false })
  })

  it('ssf-T143 is the revocation of their client, whose secret ends too', async () => {
    const client = await api.newClient()
    const token = await api.newToken(client)
    await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      revokeSsfClient(change, client.clientId),
    )
    expect(await isLive(token)).toBe(false)
    expect((await post(grant, basic(client))).status).toBe(401)
  })

  it('of a scope is that of the client to have it', async () => {
    const client = await api.newClient()
    const token = await api.newToken(client)
    await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      changeSsfClient(change, client.id, { scopes: ['ssf.read'] }),
    )
    expect(await isLive(token)).toBe(true)
    const { status } = await api.call('/ssf/streams', { method: 'POST', token, payload: {} })
    expect(status).toBe(403)
  })

  it('introspection tells a client of its own tokens', async () => {
    const client = await api.newClient()
    const token = await api.newToken(client, 'ssf.read')
    const { body } = await post({ token }, basic(client), '/ssf/token/introspection')
    expect(body).toMatchObject({ active: true, client_id: client.clientId, scope: 'ssf.read' })
  })
})

describe('the rotation of a secret', () => {
  it('lets both secrets work until the older one ends', async () => {
    const client = await api.newClient()
    const { secret } = await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      rotateClientSecret(change, client.id, 60),
    )
    const rotated = { ...client, secret: secret ?? '' }
    expect((await post(grant, basic(client))).status).toBe(200)
    expect((await post(grant, basic(rotated))).status).toBe(200)
    api.clock.advance(60 * SECOND_MS)
    expect((await post(grant, basic(client))).status).toBe(401)
    expect((await post(grant, basic(rotated))).status).toBe(200)
  })
})

describe('limits', () => {
  it('answer 429 to an address that fails too often, and leave others alone', async () => {
    const limited = await createStandardApi({ failedAuthenticationsPerMinute: 2 })
    try {
      const fail = () =>
        limited.app.inject({
          method: 'POST',
          url: '/ssf/token',
          headers: { 'content-type': FORM, ...basic({ ...limited.client, secret: 'wrong' }) },
          payload: 'grant_type=client_credentials',
        })
      const statuses = [await fail(), await fail(), await fail()].map((answer) => answer.statusCode)
      expect(statuses).toEqual([401, 401, 429])
      expect((await fail()).headers['retry-after']).toMatch(/^\d+$/)
      await limited.newToken(limited.client)
    } finally {
      await limited.close()
    }
  })

  it('answer 429 to a client that asks for tokens too often', async () => {
    const limited = await createStandardApi({ requestsPerMinute: 2 })
    try {
      await limited.newToken(limited.client)
      await expect(limited.newToken(limited.client)).rejects.toThrow(/Too many requests/)
    } finally {
      await limited.close()
    }
  })
})

describe('faults', () => {
  it('tell nothing of themselves', async () => {
    const broken = await createStandardApi()
    await broken.db.schema.dropTable('ssf_access_token').execute()
    try {
      const answer = await broken.app.inject({
        method: 'POST',
        url: '/ssf/token',
        headers: { 'content-type': FORM, ...basic(broken.client) },
        payload: 'grant_type=client_credentials',
      })
      expect(answer.statusCode).toBe(500)
      expect(answer.json<{ error: string }>().error).toBe('server_error')
      expect(answer.body).not.toMatch(/ssf_access_token|relation/)
      expect(broken.errors.join()).toContain('ssf_access_token')
    } finally {
      await broken.close()
    }
  })
})

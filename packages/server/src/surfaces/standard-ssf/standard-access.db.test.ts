import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createStandardApi, type StandardApi } from '../../../test/support/standard-api.ts'

const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'
const SESSION = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
const ISSUER = 'https://trust.example.com/ssf'
const PUSH = 'urn:ietf:rfc:8935'
const POLL = 'urn:ietf:rfc:8936'
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

let api: StandardApi

beforeAll(async () => {
  api = await createStandardApi()
})
afterAll(() => api.close())

describe('discovery', () => {
  it.each(['/.well-known/ssf-configuration/ssf', '/ssf/.well-known/ssf-configuration'])(
    'ssf-T001 ssf-T002 ssf-T004 ssf-T012 is served at %s, whatever credential comes along',
    async (url) => {
      const { status, headers, body } = await api.call(url, { token: 'junk' })
      expect(status).toBe(200)
      expect(headers['content-type']).toMatch(/^application\/json/)
      expect(body).toEqual({
        spec_version: '1_0',
        issuer: ISSUER,
        jwks_uri: 'https://trust.example.com/ssf/jwks.json',
        delivery_methods_supported: [PUSH, POLL],
        configuration_endpoint: `${ISSUER}/streams`,
        status_endpoint: `${ISSUER}/status`,
        add_subject_endpoint: `${ISSUER}/subjects:add`,
        remove_subject_endpoint: `${ISSUER}/subjects:remove`,
        verification_endpoint: `${ISSUER}/verify`,
        authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
        default_subjects: 'ALL',
        events_supported: [COMPLIANCE, SESSION],
      })
    },
  )

  it('ssf-T141 tells of the authorization server and of the protected resource', async () => {
    const server = await api.call('/.well-known/oauth-authorization-server/ssf', { token: null })
    expect(server.body).toMatchObject({
      issuer: ISSUER,
      token_endpoint: `${ISSUER}/token`,
      grant_types_supported: ['client_credentials'],
      scopes_supported: ['ssf.read', 'ssf.manage'],
    })
    const resource = await api.call('/.well-known/oauth-protected-resource/ssf', { token: null })
    expect(resource.body).toMatchObject({ resource: ISSUER, authorization_servers: [ISSUER] })
  })

  it('documents every operation that it serves', async () => {
    const { body } = await api.call<{ paths: Record<string, object> }>('/ssf/openapi.json', {
      token: null,
    })
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining([
        '/.well-known/ssf-configuration/ssf',
        '/ssf/streams',
        '/ssf/status',
        '/ssf/subjects:add',
        '/ssf/subjects:remove',
        '/ssf/verify',
        '/ssf/poll/{stream_id}',
      ]),
    )
    expect(Object.keys(body.paths['/ssf/streams'] ?? {}).sort()).toEqual(
      ['delete', 'get', 'patch', 'post', 'put'].sort(),
    )
  })

  it('documents every schema that it refers to', async () => {
    const { body } = await api.call<{ components: { schemas: object } }>('/ssf/openapi.json', {
      token: null,
    })
    const references = [...JSON.stringify(body).matchAll(/"\$ref":"([^"]*)"/g)].map(([, to]) => to)
    const known = Object.keys(body.components.schemas).map((name) => `#/components/schemas/${name}`)
    expect(references.length).toBeGreaterThan(0)
    expect(references.filter((to) => !known.includes(to ?? ''))).toEqual([])
  })
})

const OPERATIONS = [
  ['GET', '/ssf/streams', undefined],
  ['POST', '/ssf/streams', {}],
  ['PATCH', '/ssf/streams', {}],
  ['PUT', '/ssf/streams', {}],
  ['DELETE', '/ssf/streams?stream_id=a', undefined],
  ['GET', '/ssf/status?stream_id=a', undefined],
  ['POST', '/ssf/status', {}],
  ['POST', '/ssf/subjects:add', {}],
  ['POST', '/ssf/subjects:remove', {}],
  ['POST', '/ssf/verify', {}],
  ['POST', `/ssf/poll/${UNKNOWN_ID}`, {}],
] as const

describe.each(OPERATIONS)('access to %s %s', (method, url, payload) => {
  const options = { method, ...(payload === undefined ? {} : { payload }) }

  it('ssf-T046 is refused without a token by a challenge that names no error', async () => {
    const { status, headers } = await api.call(url, { ...options, token: null })
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toMatch(/^Bearer realm=/)
    expect(headers['www-authenticate']).not.toContain('error=')
    expect(headers['www-authenticate']).toContain('resource_metadata=')
    expect(headers['cache-control']).toBe('no-store')
  })

  it.each(['junk', 'k2sk_v1_abc', '"quoted"'])(
    'ssf-T046 ssf-T144 is refused with the token %s as invalid_token, whatever the body',
    async (token) => {
      const { status, headers } = await api.call(url, {
        ...options,
        token,
        ...(payload === undefined ? {} : { payload: ';{ broken' }),
      })
      expect(status).toBe(401)
      expect(headers['www-authenticate']).toContain('error="invalid_token"')
    },
  )

  it('ssf-T142 is refused with a token in the query', async () => {
    const token = await api.newToken(api.client)
    const target = `${url}${url.includes('?') ? '&' : '?'}access_token=${token}`
    for (const header of [null, token]) {
      const { status, headers } = await api.call(target, { ...options, token: header })
      expect(status).toBe(400)
      expect(headers['www-authenticate']).toContain('error="invalid_request"')
    }
  })

  it('ssf-T047 ssf-T145 needs ssf.manage to change anything and ssf.read to read', async () => {
    const token = await api.newToken(api.client, 'ssf.read')
    const { status, headers } = await api.call(url, { ...options, token })
    const isRead = method === 'GET' || url.includes('/poll/')
    if (isRead) {
      expect([200, 404]).toContain(status)
      return
    }
    expect(status).toBe(403)
    expect(headers['www-authenticate']).toContain('error="insufficient_scope", scope="ssf.manage"')
  })

  it('is refused while the organisation has Shared Signals switched off', async () => {
    api.switchOff(true)
    const { status } = await api.call(url, options)
    api.switchOff(false)
    expect(status).toBe(403)
  })
})

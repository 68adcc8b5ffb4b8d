import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createScimApi,
  GROUP_SCHEMA,
  patchOf,
  SCIM_URL,
  USER_SCHEMA,
  type ScimApi,
} from '../../../test/support/scim-app.ts'

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error'

let api: ScimApi
let userId: string
let groupId: string

beforeAll(async () => {
  api = await createScimApi()
  userId = (await api.createUser('ada@example.com')).id
  groupId = (await api.createGroup('Board', [userId])).id
})

afterAll(() => api.close())

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const OPERATIONS: readonly (readonly [Method, string])[] = [
  ['GET', '/Users'],
  ['POST', '/Users'],
  ['POST', '/.search'],
  ['POST', '/Users/.search'],
  ['GET', '/Users/:user'],
  ['PUT', '/Users/:user'],
  ['PATCH', '/Users/:user'],
  ['DELETE', '/Users/:user'],
  ['GET', '/Groups'],
  ['POST', '/Groups'],
  ['POST', '/Groups/.search'],
  ['GET', '/Groups/:group'],
  ['PUT', '/Groups/:group'],
  ['PATCH', '/Groups/:group'],
  ['DELETE', '/Groups/:group'],
]
const DISCOVERY: readonly (readonly [Method, string])[] = [
  ['GET', '/ServiceProviderConfig'],
  ['GET', '/ResourceTypes'],
  ['GET', '/ResourceTypes/User'],
  ['GET', '/Schemas'],
  ['GET', `/Schemas/${USER_SCHEMA}`],
]

function toPath(template: string): string {
  return template.replace(':user', userId).replace(':group', groupId)
}

describe.each([...OPERATIONS, ...DISCOVERY])('%s %s', (method, template) => {
  it.each([
    ['no credential', null],
    ['an unknown key', 'k2sk_v1_0000000000000000000000000000000000000000000000'],
  ])('is refused with %s, in the form of SCIM', async (_what, key) => {
    const { status, headers, body } = await api.scim(method, toPath(template), undefined, { key })
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toMatch(/^Bearer/)
    expect(headers['content-type']).toBe('application/scim+json; charset=utf-8')
    expect(body).toEqual({
      schemas: [ERROR_SCHEMA],
      status: '401',
      detail: expect.any(String) as string,
    })
  })
})

describe.each(OPERATIONS)('%s %s', (method, template) => {
  it('is refused to a key without "Manage People"', async () => {
    const { status, body } = await api.scim(method, toPath(template), undefined, { key: api.key })
    expect(status).toBe(403)
    expect(body).toMatchObject({
      schemas: [ERROR_SCHEMA],
      status: '403',
      detail: expect.stringContaining('Manage People') as string,
    })
  })
})

const BODIES: readonly (readonly [Method, string])[] = OPERATIONS.filter(([method]) =>
  ['POST', 'PUT', 'PATCH'].includes(method),
)

describe.each(BODIES)('%s %s', (method, template) => {
  it.each([
    ['{"userName"', 400, 'invalidSyntax'],
    ['[]', 400, 'invalidSyntax'],
    ['', 400, 'invalidSyntax'],
    ['{"schemas":["urn:example:none"]}', 400, 'invalidSyntax'],
    ['{"schemas":"x"}', 400, 'invalidSyntax'],
  ])('refuses the body %s', async (payload, expected, scimType) => {
    const { status, body } = await api.scim(method, toPath(template), payload)
    expect(status).toBe(expected)
    expect(body).toMatchObject({ schemas: [ERROR_SCHEMA], status: String(expected), scimType })
  })

  it('refuses another media type', async () => {
    const headers = { 'content-type': 'text/plain' }
    const { status, body } = await api.scim(method, toPath(template), '{}', { headers })
    expect(status).toBe(415)
    const detail = expect.stringContaining(
      'Content-Type: application/scim+json` or `application/json`',
    ) as string
    expect(body).toMatchObject({ schemas: [ERROR_SCHEMA], status: '415', detail })
  })
})

const RECORDS: readonly (readonly [Method, string])[] = [
  ['GET', '/Users'],
  ['PUT', '/Users'],
  ['PATCH', '/Users'],
  ['DELETE', '/Users'],
  ['GET', '/Groups'],
  ['PUT', '/Groups'],
  ['PATCH', '/Groups'],
  ['DELETE', '/Groups'],
]

describe.each(RECORDS)('%s %s/{id}', (method, collection) => {
  const bodies = {
    PUT: { userName: 'nobody@example.com', displayName: 'Nobody' },
    PATCH: patchOf({ op: 'replace', path: 'displayName', value: 'x' }),
  }

  it.each(['0', 'abc', '-1', '999999999', '9'.repeat(18), '9'.repeat(40), '%20'])(
    'does not find %s',
    async (id) => {
      const payload = method === 'PUT' || method === 'PATCH' ? bodies[method] : undefined
      const { status, body } = await api.scim(method, `${collection}/${id}`, payload)
      expect(status).toBe(404)
      expect(body).toMatchObject({ schemas: [ERROR_SCHEMA], status: '404' })
    },
  )

  it('does not take a group for a user, nor a user for a group', async () => {
    const id = collection === '/Users' ? groupId : userId
    const payload = method === 'PUT' || method === 'PATCH' ? bodies[method] : undefined
    expect((await api.scim(method, `${collection}/${id}`, payload)).status).toBe(404)
  })
})

describe('the SCIM surface', () => {
  it('answers 405 with the methods of a path, and 404 for paths that do not exist', async () => {
    const wrong = await api.scim('DELETE', '/Users')
    expect(wrong.status).toBe(405)
    expect(wrong.headers['allow']).toBe('GET, POST, HEAD')
    expect(wrong.body).toMatchObject({ schemas: [ERROR_SCHEMA], status: '405' })
    for (const path of [
      '',
      '/',
      '/Me',
      '/Bulk',
      '/Users/1/2',
      '/Schemas/urn:x',
      '/ResourceTypes/x',
    ]) {
      const { status, body } = await api.scim('GET', path)
      expect(status, path).toBe(404)
      expect(body, path).toMatchObject({ schemas: [ERROR_SCHEMA], status: '404' })
    }
  })

  it('takes plain JSON as well', async () => {
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      accept: 'application/json',
    }
    const user = { userName: 'json@example.com' }
    const { status, headers: answered } = await api.scim('POST', '/Users', user, { headers })
    expect(status).toBe(201)
    expect(answered['content-type']).toBe('application/scim+json; charset=utf-8')
  })

  it('limits the requests of a key as the REST API does', async () => {
    const limited = await createScimApi({ requestsPerMinute: 2 })
    try {
      await limited.scim('GET', '/Users')
      await limited.scim('GET', '/Users')
      const { status, headers, body } = await limited.scim('GET', '/Users')
      expect(status).toBe(429)
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
      expect(headers['ratelimit-limit']).toBe('2')
      expect(body).toMatchObject({ schemas: [ERROR_SCHEMA], status: '429' })
    } finally {
      await limited.close()
    }
  })
})

describe('discovery', () => {
  it('says what is supported', async () => {
    const { body } = await api.scim('GET', '/ServiceProviderConfig', undefined, { key: api.key })
    expect(body).toMatchObject({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
      patch: { supported: true },
      bulk: { supported: false },
      filter: { supported: true, maxResults: 200 },
      etag: { supported: true },
      authenticationSchemes: [{ type: 'oauthbearertoken', primary: true }],
    })
  })

  it('lists the resource types and their schemas, each under an address of its own', async () => {
    const types = await api.scim<{ Resources: { id: string; meta: { location: string } }[] }>(
      'GET',
      '/ResourceTypes',
    )
    expect(types.body.Resources.map(({ id }) => id)).toEqual(['User', 'Group'])
    const schemas = await api.scim<typeof types.body>('GET', '/Schemas')
    expect(schemas.body.Resources.map(({ id }) => id)).toEqual([USER_SCHEMA, GROUP_SCHEMA])
    for (const resource of [...types.body.Resources, ...schemas.body.Resources]) {
      const path = resource.meta.location.slice(SCIM_URL.length)
      expect((await api.scim('GET', path)).body).toEqual(resource)
    }
  })

  it('describes every attribute that a user shows', async () => {
    const { body: user } = await api.scim<Record<string, unknown>>('GET', `/Users/${userId}`)
    const { body: schema } = await api.scim<{ attributes: { name: string }[] }>(
      'GET',
      `/Schemas/${USER_SCHEMA}`,
    )
    const described = [
      'schemas',
      'id',
      'externalId',
      'meta',
      ...schema.attributes.map(({ name }) => name),
    ]
    expect(Object.keys(user).filter((name) => !described.includes(name))).toEqual([])
  })
})

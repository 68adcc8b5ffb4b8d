import { createSecretKey } from 'node:crypto'
import type { Principal } from '../../schema/principal.ts'
import { get, type IncomingMessage } from 'node:http'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkPermission } from '../../platform/http/access.ts'
import { AppError } from '../../platform/app-error.ts'
import { bearerCredential, type CallerOptions } from '../../platform/http/access.ts'
import { createHttpApp } from '../../platform/http/create-app.ts'
import type { Permission } from '../../schema/permissions.ts'
import type { RateLimiter } from '../../platform/rate-limits/rate-limiter.ts'
import { registerApi, type ApiOptions } from './register-api.ts'
import { listRouteTable } from '../../../generate/route-table.ts'
import { answer, noContent, route } from '../../platform/http/route.ts'

const widget = z.object({ id: z.string(), name: z.string() })

const routes = [
  route({
    method: 'GET',
    path: '/widgets/:id',
    summary: 'Show a widget',
    tags: ['Widgets'],
    permission: null,
    query: z.object({ verbose: z.enum(['0', '1']).optional() }),
    responses: { 200: widget },
    handler: async ({ params }) => {
      if (params.id === 'bug') throw new Error('secret internals')
      if (params.id === '0') throw new AppError('not_found', 'No such widget.')
      return { id: params.id, name: 'one', internal_field: 'hidden' }
    },
  }),
  route({
    method: 'POST',
    path: '/widgets',
    summary: 'Make a widget',
    tags: ['Widgets'],
    permission: 'Manage Checks',
    body: z.strictObject({ name: z.string(), tags: z.array(z.string()).optional() }),
    responses: { 201: widget },
    handler: async ({ body, principal }) =>
      answer(201, { id: principal.id, name: body.name }, { location: '/widgets/1' }),
  }),
  route({
    method: 'PATCH',
    path: '/widgets/:id',
    summary: 'Change a widget',
    tags: ['Widgets'],
    permission: 'Manage Checks',
    feature: 'ssf',
    responses: { 200: widget },
    handler: async ({ params }) => ({ id: params.id, name: 'changed' }),
  }),
  route({
    method: 'DELETE',
    path: '/widgets/:id',
    summary: 'Delete a widget',
    tags: ['Widgets'],
    permission: null,
    feature: null,
    versions: ['2026-04-07'],
    responses: { 204: noContent },
    handler: async () => undefined,
  }),
  route({
    method: 'POST',
    path: '/widgets/:id/test',
    summary: 'Test a widget',
    tags: ['Widgets'],
    permission: 'Manage Checks',
    responses: { 204: noContent },
    handler: async () => undefined,
  }),
  route({
    method: 'GET',
    path: '/open',
    summary: 'Anyone',
    tags: ['Widgets'],
    permission: 'public',
    responses: { 200: z.object({ ok: z.boolean() }) },
    handler: async (context) => ({ ok: Object.is(context.principal, undefined) }),
  }),
]

const apps: ReturnType<typeof createHttpApp>[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

const unlimited: RateLimiter = {
  take: async (_bucket, capacity) => ({
    isAllowed: true,
    limit: capacity,
    remaining: capacity - 1,
    resetEpochSeconds: 1_767_323_105,
    resetSeconds: 60,
  }),
}

function principal(permissions: Permission[] = []): Principal {
  return { kind: 'api_key', id: '7', name: 'reader', permissions: new Set(permissions) }
}

async function authenticate(secret: string): Promise<Principal> {
  if (secret === 'reader') return principal()
  if (secret === 'writer') return principal(['Manage Checks'])
  throw new AppError('unauthenticated', 'This key does not exist.')
}

function toCallers(
  rateLimiter: RateLimiter = unlimited,
  find: (secret: string) => Promise<Principal> = authenticate,
): CallerOptions {
  return {
    credentials: [bearerCredential(find)],
    rateLimiter,
    limits: { requestsPerMinute: 270, failedAuthenticationsPerMinute: 270 },
  }
}

function setUp(overrides: Partial<ApiOptions> = {}) {
  const lines: string[] = []
  const app = createHttpApp({
    logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    baseUrl: 'https://trust.example.com',
    limits: { bodyBytesMax: 1_000 },
  })
  apps.push(app)
  registerApi(app, {
    routes,
    callers: toCallers(),
    isFeatureEnabled: async () => true,
    checkPermission,
    answerOnce: async () => Promise.reject(new Error('not called')),
    paging: {
      baseUrl: 'https://trust.example.com',
      cursorKey: createSecretKey(Buffer.alloc(32, 1)),
    },
    ...overrides,
  })
  return { app, lines }
}

const reader = { authorization: 'Bearer reader' }
const writer = { authorization: 'Bearer writer' }

describe('access', () => {
  it('refuses a request without a credential, before its body is looked at', async () => {
    const { app } = setUp()
    const response = await app.inject({
      method: 'POST',
      url: '/widgets',
      headers: { 'content-type': 'application/json' },
      payload: '{ not json',
    })
    expect(response.statusCode).toBe(401)
    expect(response.headers['www-authenticate']).toBe('Bearer')
    expect(response.json()).toMatchObject({ error: 'Unauthorized', code: 'unauthenticated' })
  })

  it.each(['Basic reader', 'Bearer', 'Bearer unknown', 'reader', 'Bearer reader extra'])(
    'refuses the credential "%s"',
    async (authorization) => {
      const { app } = setUp()
      const response = await app.inject({ url: '/widgets/1', headers: { authorization } })
      expect(response.statusCode).toBe(401)
    },
  )

  it('takes the scheme in any case, and a token from nowhere but the header', async () => {
    const { app } = setUp()
    const lower = await app.inject({
      url: '/widgets/1',
      headers: { authorization: 'bearer reader' },
    })
    const query = await app.inject({ url: '/widgets/1?access_token=reader' })
    expect([lower.statusCode, query.statusCode]).toEqual([200, 401])
  })

  it('names the permission that a key lacks', async () => {
    const { app } = setUp()
    const response = await app.inject({ method: 'POST', url: '/widgets', headers: reader })
    expect(response.statusCode).toBe(403)
    expect(response.json()).toMatchObject({
      error: 'Forbidden',
      code: 'permission_missing',
      message: expect.stringContaining('Manage Checks') as string,
    })
  })

  it('answers a switched-off feature with 401 and the exact text, before the permission', async () => {
    const { app } = setUp({ isFeatureEnabled: async (feature) => feature !== 'api_writes' })
    const write = await app.inject({ method: 'POST', url: '/widgets', headers: reader })
    const read = await app.inject({ url: '/widgets/1', headers: reader })
    const ssf = await app.inject({ method: 'PATCH', url: '/widgets/1', headers: writer })
    expect(write.statusCode).toBe(401)
    expect(write.json()).toMatchObject({
      error: 'This feature has been disabled by your organization',
    })
    expect([read.statusCode, ssf.statusCode]).toEqual([200, 200])
  })

  it('lets everyone call a public route', async () => {
    const { app } = setUp()
    expect((await app.inject({ url: '/open' })).json()).toEqual({ ok: true })
  })

  it('lists every route with what it needs, PUT aliases included', () => {
    expect(
      listRouteTable(routes).map((entry) => [entry.method, entry.path, entry.permission]),
    ).toEqual([
      ['GET', '/widgets/:id', null],
      ['POST', '/widgets', 'Manage Checks'],
      ['PATCH', '/widgets/:id', 'Manage Checks'],
      ['PUT', '/widgets/:id', 'Manage Checks'],
      ['DELETE', '/widgets/:id', null],
      ['POST', '/widgets/:id/test', 'Manage Checks'],
      ['GET', '/open', 'public'],
    ])
  })
})

describe('answers', () => {
  it('drops fields that the response schema does not name', async () => {
    const { app } = setUp()
    const response = await app.inject({ url: '/widgets/1', headers: reader })
    expect(response.json()).toEqual({ id: '1', name: 'one' })
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  it('takes the status and the headers that a handler chooses', async () => {
    const { app } = setUp()
    const response = await app.inject({
      method: 'POST',
      url: '/widgets',
      headers: writer,
      payload: { name: 'two' },
    })
    expect(response.statusCode).toBe(201)
    expect(response.headers['location']).toBe('/widgets/1')
    expect(response.json()).toEqual({ id: '7', name: 'two' })
  })

  it('answers PUT like PATCH, HEAD like GET, and a path with a trailing slash', async () => {
    const { app } = setUp()
    const put = await app.inject({ method: 'PUT', url: '/widgets/1', headers: writer })
    const head = await app.inject({ method: 'HEAD', url: '/widgets/1', headers: reader })
    const slash = await app.inject({ url: '/widgets/1/', headers: reader })
    expect(put.json()).toEqual({ id: '1', name: 'changed' })
    expect([head.statusCode, head.body, slash.statusCode]).toEqual([200, '', 200])
  })

  it('tells nothing of a bug but the request id, and logs it once under that id', async () => {
    const { app, lines } = setUp()
    const response = await app.inject({ url: '/widgets/bug', headers: reader })
    const id = response.headers['request-id']
    expect(response.statusCode).toBe(500)
    expect(response.json()).toMatchObject({ code: 'internal', request_id: id })
    expect(response.body).not.toContain('secret internals')
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(logged).toHaveLength(1)
    expect(logged[0]).toMatchObject({ request_id: id, err: { message: 'secret internals' } })
  })

  it('answers a lost connection of a dependency with 503 and a time to come back', async () => {
    const { app } = setUp({
      callers: toCallers(unlimited, async () =>
        Promise.reject(new AppError('unavailable', 'The database restarts.')),
      ),
    })
    const response = await app.inject({ url: '/widgets/1', headers: reader })
    expect(response.statusCode).toBe(503)
    expect(response.headers['retry-after']).toBe('5')
    expect(response.json()).toMatchObject({ code: 'unavailable' })
  })
})

describe('input', () => {
  it('refuses an unknown query parameter with 400 and names the allowed ones', async () => {
    const { app } = setUp()
    const response = await app.inject({ url: '/widgets/1?verbos=1', headers: reader })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      code: 'invalid_parameter',
      details: [{ path: 'verbos', message: 'This parameter does not exist. Allowed: verbose.' }],
    })
  })

  it('refuses an invalid body with 422 and one detail per field', async () => {
    const { app } = setUp()
    const response = await app.inject({
      method: 'POST',
      url: '/widgets',
      headers: writer,
      payload: { tags: ['a', 5], colour: 'red' },
    })
    expect(response.statusCode).toBe(422)
    expect(response.json()).toMatchObject({
      code: 'invalid_body',
      details: [
        { path: 'name', message: 'This is required: a string.' },
        { path: 'tags.1' },
        { path: 'colour', message: 'This member does not exist. Allowed: name, tags.' },
      ],
    })
  })

  it.each([[undefined], ['{}'], ['null'], ['[]']])(
    'names what a body of %s lacks',
    async (payload) => {
      const { app } = setUp()
      const response = await app.inject({
        method: 'POST',
        url: '/widgets',
        headers: { ...writer, 'content-type': 'application/json' },
        ...(payload === undefined ? {} : { payload }),
      })
      expect(response.statusCode).toBe(422)
    },
  )

  it('refuses members of a body that nobody reads, and takes every form of none', async () => {
    const { app } = setUp()
    const headers = { ...writer, 'content-type': 'application/json' }
    const send = async (payload: string) => {
      const options = { method: 'POST', url: '/widgets/1/test', headers, payload } as const
      const response = await app.inject(options)
      return [response.statusCode, response.body] as const
    }
    for (const none of ['', '{}', 'null']) expect(await send(none)).toEqual([204, ''])
    expect(await send('{"device_ids": ["1"]}')).toEqual([
      422,
      expect.stringContaining('device_ids: This member does not exist.'),
    ])
    expect(await send('[]')).toEqual([422, expect.stringContaining('invalid_body')])
  })

  it('answers 204 to a delete that announces JSON and sends none', async () => {
    const { app } = setUp()
    const headers = { ...reader, 'content-type': 'application/json' }
    const response = await app.inject({ method: 'DELETE', url: '/widgets/1', headers })
    expect([response.statusCode, response.body]).toEqual([204, ''])
  })
})

describe('versions', () => {
  it.each([
    [{}, '2026-04-07'],
    [{ 'x-service-api-version': '2023-05-26' }, '2023-05-26'],
    [{ 'X-KOLIDE-API-VERSION': '2023-05-26' }, '2023-05-26'],
  ])('echoes the version that %j resolves to', async (headers, version) => {
    const { app } = setUp()
    const response = await app.inject({ url: '/widgets/1', headers: { ...reader, ...headers } })
    expect(response.headers['x-service-api-version']).toBe(version)
  })

  it.each([
    [{ 'x-service-api-version': '2024-01-01' }],
    [{ 'x-service-api-version': 'latest' }],
    [{ 'x-service-api-version': '2023-05-26', 'x-kolide-api-version': '2026-04-07' }],
  ])('refuses %j and lists the supported versions', async (headers) => {
    const { app } = setUp()
    const response = await app.inject({ url: '/widgets/1', headers: { ...reader, ...headers } })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      code: 'unsupported_version',
      message: expect.stringContaining('2023-05-26, 2026-04-07') as string,
    })
  })

  it('hides a route from versions that do not know it', async () => {
    const { app } = setUp()
    const headers = { ...reader, 'x-service-api-version': '2023-05-26' }
    const response = await app.inject({ method: 'DELETE', url: '/widgets/1', headers })
    expect(response.statusCode).toBe(404)
  })
})

describe('rate limit', () => {
  it('is told on every answer, with the documented spelling on the wire', async () => {
    const { app } = setUp()
    const address = await app.listen({ host: '127.0.0.1', port: 0 })
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${address}/widgets/0`, { headers: reader }, resolve).on('error', reject)
    })
    response.resume()
    expect(response.statusCode).toBe(404)
    expect(response.headers).toMatchObject({
      'ratelimit-limit': '270',
      'ratelimit-remaining': '269',
      'ratelimit-reset': '1767323105',
      'ratelimit-policy': '"default";q=270;w=60',
      ratelimit: '"default";r=269;t=60',
    })
    expect(response.headers).not.toHaveProperty('retry-after')
    expect(response.rawHeaders).toEqual(
      expect.arrayContaining(['RateLimit-Limit', 'Ratelimit-Remaining', 'Ratelimit-Reset']),
    )
  })

  it('refuses with 429 and the seconds to wait', async () => {
    const { app } = setUp({
      callers: toCallers({
        take: async (_bucket, limit) => ({
          isAllowed: false,
          limit,
          remaining: 0,
          resetEpochSeconds: 1_767_323_105,
          resetSeconds: 17,
        }),
      }),
    })
    const response = await app.inject({ url: '/widgets/1', headers: reader })
    expect(response.statusCode).toBe(429)
    expect(response.headers['retry-after']).toBe('17')
    // The types know the method for requests only; every outgoing message has it.
    const { res } = response.raw as unknown as { res: { getRawHeaderNames(): string[] } }
    expect(res.getRawHeaderNames()).toEqual(
      expect.arrayContaining([
        'Retry-After',
        'RateLimit-Limit',
        'Ratelimit-Remaining',
        'Ratelimit-Reset',
      ]),
    )
    expect(response.json()).toMatchObject({ code: 'rate_limited' })
  })

  it('counts failed authentications per address and successful ones never', async () => {
    const buckets: string[] = []
    const { app } = setUp({
      callers: toCallers({
        take: async (bucket, capacity) => {
          buckets.push(bucket)
          return unlimited.take(bucket, capacity)
        },
      }),
    })
    await app.inject({ url: '/widgets/1', headers: reader })
    await app.inject({ url: '/widgets/1', headers: { authorization: 'Bearer guess' } })
    expect(buckets).toEqual(['api_key:7', 'address:127.0.0.1'])
  })
})

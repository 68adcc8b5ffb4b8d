import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '../app-error.ts'
import { bearerCredential, checkPermission } from './access.ts'
import { createHttpApp } from './create-app.ts'
import { SERVICE_ERRORS } from './error-response.ts'
import { operation, type Caller, type Credential } from './operation.ts'
import { registerSurface } from './surface.ts'
import { unmatchedPath } from './unmatched-path.ts'

/** A tiny console: pages for an admin who is signed in, beside what keys may do as well. */
const operations = [
  operation({
    method: 'GET',
    path: '/widgets/:id',
    access: { permission: null },
    summary: 'Show a widget',
    responses: {},
    handler: ({ params, principal }) => ({
      status: 200,
      body: { id: params['id'], by: principal.name },
    }),
  }),
  operation({
    method: 'POST',
    path: '/widgets',
    access: { permission: 'Manage Widgets' },
    summary: 'Make a widget',
    responses: {},
    handler: ({ body }) => ({ status: 201, body }),
  }),
  operation({
    method: 'POST',
    path: '/sign_out',
    access: { session: true },
    summary: 'Sign out',
    responses: {},
    handler: () => ({ status: 204, headers: { 'set-cookie': 'session=; max-age=0' } }),
  }),
]

const ADMIN: Caller = {
  kind: 'admin',
  id: '3',
  name: 'Ada',
  permissions: new Set(['Manage Widgets']),
}
const KEY: Caller = { kind: 'api_key', id: '7', name: 'reader', permissions: new Set() }

/** A session by its cookie; a request that writes must show that it comes from the console's own page. */
const sessionCookie: Credential = {
  kind: 'session',
  find: async ({ method, headers }) => {
    const secret = /(?:^|; )session=(\w+)/.exec(headers.cookie ?? '')?.[1]
    if (secret === undefined) return undefined
    if (secret !== 'live') {
      throw new AppError('unauthenticated', 'The session has ended.')
    }
    if (method !== 'GET' && headers['x-csrf-token'] !== 'token-of-live') {
      throw new AppError('permission_missing', 'The request comes from another page.')
    }
    return ADMIN
  },
}

const apps: ReturnType<typeof createHttpApp>[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

function setUp() {
  const buckets: string[] = []
  const app = createHttpApp({
    logger: pino({ level: 'silent' }),
    baseUrl: 'https://trust.example.com',
    limits: { bodyBytesMax: 1_000 },
  })
  apps.push(app)
  registerSurface(app, {
    prefix: '/console',
    operations,
    callers: {
      credentials: [sessionCookie, bearerCredential(async () => KEY)],
      rateLimiter: {
        take: async (bucket, limit) => {
          buckets.push(bucket)
          return { isAllowed: true, limit, remaining: 1, resetEpochSeconds: 0, resetSeconds: 60 }
        },
      },
      limits: { requestsPerMinute: 270, failedAuthenticationsPerMinute: 270 },
    },
    checks: [checkPermission],
    errors: SERVICE_ERRORS,
    mediaType: 'application/json; charset=utf-8',
    unanswered: { toMethodRefusal: unmatchedPath },
  })
  return { app, buckets }
}

const session = { cookie: 'theme=dark; session=live' }
const ownPage = { ...session, 'x-csrf-token': 'token-of-live' }
const key = { authorization: 'Bearer reader' }

describe('a surface with a session beside keys', () => {
  it('finds the caller by whichever credential the request carries', async () => {
    const { app, buckets } = setUp()
    const bySession = await app.inject({ url: '/console/widgets/1', headers: session })
    const byKey = await app.inject({ url: '/console/widgets/1', headers: key })
    expect(bySession.json()).toEqual({ id: '1', by: 'Ada' })
    expect(byKey.json()).toEqual({ id: '1', by: 'reader' })
    expect(buckets).toEqual(['admin:3', 'api_key:7'])
  })

  it('refuses a request without any credential, and a session that has ended', async () => {
    const { app, buckets } = setUp()
    const none = await app.inject('/console/widgets/1')
    const ended = await app.inject({
      url: '/console/widgets/1',
      headers: { ...key, cookie: 'session=old' },
    })
    expect([none.statusCode, ended.statusCode]).toEqual([401, 401])
    expect(buckets).toEqual(['address:127.0.0.1', 'address:127.0.0.1'])
  })

  it('takes writes of a session from its own page only, and needs no such proof of a key', async () => {
    const { app } = setUp()
    const write = async (headers: Record<string, string>) =>
      (await app.inject({ method: 'POST', url: '/console/widgets', headers, payload: {} }))
        .statusCode
    expect(await write(session)).toBe(403)
    expect(await write(ownPage)).toBe(201)
    const byKey = await app.inject({ method: 'POST', url: '/console/widgets', headers: key })
    expect(byKey.json<{ message: string }>().message).toContain('Manage Widgets')
  })

  it('keeps what is for people who are signed in from keys', async () => {
    const { app } = setUp()
    const signOut = (headers: Record<string, string>) =>
      app.inject({ method: 'POST', url: '/console/sign_out', headers })
    expect((await signOut(key)).statusCode).toBe(403)
    const answer = await signOut(ownPage)
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([204, 'session=; max-age=0'])
  })

  it('names the methods of a path', async () => {
    const { app } = setUp()
    const answer = await app.inject({ method: 'DELETE', url: '/console/widgets' })
    expect([answer.statusCode, answer.headers['allow']]).toEqual([405, 'POST'])
  })
})

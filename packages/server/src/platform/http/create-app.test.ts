import { once } from 'node:events'
import { connect, type AddressInfo, type Server } from 'node:net'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { answerUnroutable, createHttpApp, type HttpAppOptions } from './create-app.ts'

const apps: ReturnType<typeof createHttpApp>[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

function setUp(overrides: Partial<HttpAppOptions> = {}) {
  const lines: string[] = []
  const app = createHttpApp({
    logger: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    baseUrl: 'https://trust.example.com',
    limits: { bodyBytesMax: 1_000 },
    ...overrides,
  })
  apps.push(app)
  app.post('/echo', async (request) => ({ body: request.body ?? null }))
  app.get('/echo', async (request) => ({ query: request.query }))
  app.delete('/echo/:id', async () => ({ deleted: true }))
  return { app, lines }
}

const json = { 'content-type': 'application/json' }

describe('bodies', () => {
  it.each(['GET', 'POST'] as const)(
    'takes an empty body that is announced as JSON on %s',
    async (method) => {
      const { app } = setUp()
      const response = await app.inject({ method, url: '/echo', headers: json })
      expect(response.statusCode).toBe(200)
    },
  )

  it.each([
    ['{"a":}', 'parsing stopped at position 5'],
    ['{"a":1,}', 'parsing stopped at position 7'],
    ['{"a":1 "b"', 'parsing stopped at position 7'],
    ['{"a"', 'it ends too early, at position 4'],
    ['nope', 'parsing stopped at position 0'],
    ['{} x', 'parsing stopped at position 3'],
    ['["a\n"]', 'parsing stopped at position 3'],
    ['[01]', 'parsing stopped at position 2'],
  ])('names the place where %j stops being JSON', async (payload, place) => {
    const { app } = setUp()
    const response = await app.inject({ method: 'POST', url: '/echo', headers: json, payload })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      code: 'malformed_json',
      message: expect.stringContaining(place) as string,
    })
  })

  it.each(['{"__proto__":{"admin":true}}', '{"a":{"constructor":{"prototype":{}}}}'])(
    'refuses %s, which would change a prototype',
    async (payload) => {
      const { app } = setUp()
      const response = await app.inject({ method: 'POST', url: '/echo', headers: json, payload })
      expect(response.json()).toMatchObject({ code: 'malformed_json' })
    },
  )

  it('refuses bytes that are not UTF-8', async () => {
    const { app } = setUp()
    const payload = Buffer.from([0x22, 0xff, 0x22])
    const response = await app.inject({ method: 'POST', url: '/echo', headers: json, payload })
    expect(response.json()).toMatchObject({ code: 'malformed_json' })
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'nonsense'])(
    'refuses a body of type %s with 415',
    async (type) => {
      const { app } = setUp()
      const headers = { 'content-type': type }
      const response = await app.inject({ method: 'POST', url: '/echo', headers, payload: '{}' })
      expect(response.statusCode).toBe(415)
      expect(response.json()).toMatchObject({ code: 'unsupported_media_type' })
    },
  )

  it('refuses a compressed body with 415, and takes one that says it is not', async () => {
    const { app } = setUp()
    const send = (encoding: string, payload: Buffer) =>
      app.inject({
        method: 'POST',
        url: '/echo',
        headers: { ...json, 'content-encoding': encoding },
        payload,
      })
    const refused = await send('gzip', gzipSync('{"a":1}'))
    expect(refused.statusCode).toBe(415)
    expect(refused.json()).toMatchObject({ code: 'unsupported_media_type' })
    expect((await send('gzip', Buffer.alloc(0))).json()).toEqual({ body: null })
    expect((await send('Identity', Buffer.from('{"a":1}'))).json()).toEqual({ body: { a: 1 } })
  })

  it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/problem+json'])(
    'takes a body of type %s',
    async (type) => {
      const { app } = setUp()
      const headers = { 'content-type': type }
      const response = await app.inject({
        method: 'POST',
        url: '/echo',
        headers,
        payload: '{"a":1}',
      })
      expect(response.json()).toEqual({ body: { a: 1 } })
    },
  )

  it('refuses a body above the limit with 413 and names the limit', async () => {
    const { app } = setUp()
    const payload = JSON.stringify('x'.repeat(2_000))
    const response = await app.inject({ method: 'POST', url: '/echo', headers: json, payload })
    expect(response.statusCode).toBe(413)
    expect(response.json()).toMatchObject({
      code: 'body_too_large',
      message: expect.stringContaining('1000') as string,
    })
  })
})

describe('paths', () => {
  it('answers an unknown path with 404, whatever its body holds', async () => {
    const { app } = setUp()
    const response = await app.inject({ method: 'POST', url: '/nothing', payload: 'x' })
    expect(response.statusCode).toBe(404)
    expect(response.json()).toMatchObject({ error: 'Not found', code: 'not_found' })
  })

  it('answers a known path with another method with 405 and the allowed methods', async () => {
    const { app } = setUp()
    const response = await app.inject({ method: 'PUT', url: '/echo/?a=1' })
    expect(response.statusCode).toBe(405)
    expect(response.headers['allow']).toBe('GET, HEAD, POST')
    expect(response.json()).toMatchObject({
      error: 'Method not allowed',
      code: 'method_not_allowed',
    })
    const parameter = await app.inject({ method: 'GET', url: '/echo/5' })
    expect(parameter.headers['allow']).toBe('DELETE')
  })

  it.each(['//echo', '/echo//', '/echo//5', '/echo/5//'])(
    'answers %s, which no route takes, with 404 and not with the methods of another path',
    async (url) => {
      const response = await setUp().app.inject({ method: 'GET', url })
      expect([response.statusCode, response.headers['allow']]).toEqual([404, undefined])
    },
  )

  it.each(['/api/v0', '/api/v0/devices', '/api/v0/devices/1/checks'])(
    'answers the retired path %s with 410',
    async (url) => {
      const { app } = setUp()
      for (const method of ['GET', 'POST'] as const) {
        const response = await app.inject({ method, url })
        expect(response.statusCode).toBe(410)
        expect(response.json()).toMatchObject({ code: 'version_retired' })
      }
    },
  )

  it('answers a path that cannot be decoded with 400', async () => {
    const { app } = setUp()
    const response = await app.inject({ url: '/echo/%zz' })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ request_id: response.headers['request-id'] })
  })

  it('reads a plus sign in a query as a space', async () => {
    const { app } = setUp()
    const response = await app.inject({ url: '/echo?query=a+AND%20b' })
    expect(response.json()).toEqual({ query: { query: 'a AND b' } })
  })
})

describe('headers', () => {
  it('gives every answer an id of its own, whatever the client calls its request', async () => {
    const { app } = setUp()
    const headers = { 'request-id': 'mine', 'x-request-id': 'mine' }
    const first = await app.inject({ url: '/echo', headers })
    const second = await app.inject({ url: '/nothing', headers })
    expect(first.headers['request-id']).toMatch(/^req_[0-9a-f]{32}$/)
    expect(second.json()).toMatchObject({ request_id: second.headers['request-id'] })
    expect(first.headers['request-id']).not.toBe(second.headers['request-id'])
  })

  it('protects every answer, and tells browsers to insist on HTTPS only where it is spoken', async () => {
    const secure = await setUp().app.inject({ url: '/nothing' })
    const plain = await setUp({ baseUrl: 'http://127.0.0.1:8080' }).app.inject({ url: '/echo' })
    const shared = {
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    }
    expect(secure.headers).toMatchObject({
      ...shared,
      'strict-transport-security': 'max-age=31536000',
    })
    expect(plain.headers).toMatchObject(shared)
    expect(plain.headers).not.toHaveProperty('strict-transport-security')
  })

  it('protects what is answered at an address that cannot be read, whoever answers it', async () => {
    const { app } = setUp()
    answerUnroutable(app, '/led', async (_refusal, _request, reply) => reply.redirect('/led/'))
    answerUnroutable(app, '/page', async (_refusal, _request, reply) =>
      reply.header('cache-control', 'private').send('<p>'),
    )
    const protects = {
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'strict-transport-security': 'max-age=31536000',
      'request-id': expect.stringMatching(/^req_/) as string,
    }
    const answers = ['/echo/%zz', '/led/%zz', '/page/%zz'].map((url) => app.inject({ url }))
    const [json, redirect, page] = await Promise.all(answers)
    const uncached = { ...protects, 'cache-control': 'no-store' }
    expect(json?.headers).toMatchObject(uncached)
    expect(redirect?.headers).toMatchObject({ ...uncached, location: '/led/' })
    expect(page?.headers).toMatchObject({ ...protects, 'cache-control': 'private' })
  })
})

describe('log', () => {
  it('holds one debug line per request, with the trace id of the caller', async () => {
    const { app, lines } = setUp()
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    await app.inject({
      url: '/echo',
      headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    })
    await app.inject({ url: '/echo', headers: { traceparent: `00-${'0'.repeat(32)}-00f0-01` } })
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(logged).toHaveLength(2)
    expect(logged[0]).toMatchObject({ level: 20, trace_id: traceId, path: '/echo', status: 200 })
    expect(logged[1]).not.toHaveProperty('trace_id')
  })
})

describe('connections', () => {
  it('answers bytes that are not HTTP with 400 and closes', async () => {
    const { app } = setUp()
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const answer = await exchange(port, 'nonsense\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })

  const host = 'Host: a.example\r\n'
  it.each([
    ['headers that are too long', 431, `${host}X-Big: ${'x'.repeat(20_000)}\r\n`],
    ['a header that is none', 400, `${host}Bad Header: x\r\n`],
    ['two lengths', 400, `${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n`],
    ['an unknown expectation', 417, `${host}Expect: 200-ok\r\nContent-Length: 0\r\n`],
    ['no host', 400, ''],
  ])('answers a request with %s by %d and an error that an agent understands', async (...row) => {
    const [, status, headers] = row
    const { app } = setUp()
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const answer = await exchange(port, `POST /echo HTTP/1.1\r\n${headers}\r\n`)
    expect(answer.split(' ')[1]).toBe(String(status))
    expect(answer.toLowerCase()).toContain('content-type: application/json')
    const [, body = ''] = answer.split('\r\n\r\n')
    expect(typeof (JSON.parse(body) as { error: unknown }).error).toBe('string')
  })

  it('lets go of a client that is sent away and keeps its half open', async () => {
    const { app } = setUp()
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    // Else it would be closed as one that is overdue.
    Object.assign(app.server, { headersTimeout: 0, requestTimeout: 0 })
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => undefined)
    socket.resume()
    socket.write('nonsense\r\n\r\n')
    await once(socket, 'end')
    await expect.poll(() => countConnections(app.server)).toBe(0)
    socket.destroy()
  })

  it('lets go of a client that does not take its answer', async () => {
    const { app } = setUp()
    app.get('/large', async () => 'x'.repeat(50_000_000))
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    expect(app.server.timeout).toBe(300_000)
    app.server.timeout = 200
    const accepted = once(app.server, 'connection')
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('GET /large HTTP/1.1\r\nHost: a.example\r\n\r\n')
    await accepted
    await expect.poll(() => countConnections(app.server)).toBe(0)
    socket.destroy()
  })

  it('answers a request with two Host headers with 400, on a known path and on any other', async () => {
    const { app } = setUp()
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    for (const path of ['/echo', '/nothing']) {
      const answer = await exchange(
        port,
        `GET ${path} HTTP/1.1\r\nHost: a.example\r\nhOsT: b.example\r\nConnection: close\r\n\r\n`,
      )
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).toContain('more than one `Host` header')
    }
  })
})

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })
}

function exchange(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.on('data', (chunk) => (received += String(chunk)))
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
}

import { once } from 'node:events'
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { createHttpApp, observeAnswers, type HttpAppOptions } from './create-app.ts'
import { findBodyReadAhead, type DirectRoute } from './direct-routes.ts'

const apps: ReturnType<typeof createHttpApp>[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

/** A path that is direct, and whose route says what it found. */
async function listen(direct: DirectRoute['answer'], options: Partial<HttpAppOptions> = {}) {
  const app = createHttpApp({
    logger: pino({ level: 'silent' }),
    baseUrl: 'https://trust.example.com',
    limits: { bodyBytesMax: 10_000 },
    ...options,
  })
  apps.push(app)
  const observed: string[] = []
  observeAnswers(app, ({ method, route, status }) => observed.push(`${method} ${route} ${status}`))
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.post('/small', { config: { direct: { answer: direct } } }, async (request) => ({
      route: findBodyReadAhead(request.raw)?.toString() ?? 'unread',
      address: request.ip,
    }))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { app, port, observed, post: (body: string, headers = {}) => post(port, body, headers) }
}

async function post(port: number, body: string, headers: OutgoingHttpHeaders) {
  const outgoing = request({ host: '127.0.0.1', port, path: '/small', method: 'POST', headers })
  outgoing.end(body)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) }
}

const DIRECT = '{"direct":true}'

test('an answer has the headers of every other, and an id of its own', async () => {
  const { app, post } = await listen(() => DIRECT)
  const [first, second] = [await post('{}'), await post('{}')]
  const routed = await app.inject({ method: 'POST', url: '/small', payload: '{}' })
  expect([first.status, first.text]).toEqual([200, DIRECT])
  const { date, connection, 'keep-alive': alive, ...own } = first.headers
  expect([date, connection, alive]).not.toContain(undefined)
  expect(Object.keys(own).sort()).toEqual(
    Object.keys(routed.headers)
      .filter((name) => !['date', 'connection', 'keep-alive'].includes(name))
      .sort(),
  )
  expect(own).toMatchObject({
    'cache-control': routed.headers['cache-control'],
    'content-type': routed.headers['content-type'],
    'content-length': String(DIRECT.length),
    'strict-transport-security': routed.headers['strict-transport-security'],
  })
  expect(own['request-id']).toMatch(/^req_[0-9a-f]{32}$/)
  expect(own['request-id']).not.toBe(second.headers['request-id'])
})

test.each([
  ['a credential', '{}', { authorization: 'NodeKey x' }],
  ['an encoding', '{}', { 'content-encoding': 'gzip' }],
  ['no length', '{}', { 'transfer-encoding': 'chunked' }],
  ['a body that is not small', 'x'.repeat(1_025), {}],
])('a request with %s is the route’s alone', async (_what, body, headers) => {
  const { post } = await listen(() => DIRECT)
  expect(JSON.parse((await post(body, headers)).text)).toMatchObject({ route: 'unread' })
})

test.each([
  { trustProxy: undefined, forwarded: '192.0.2.1', address: '127.0.0.1' },
  { trustProxy: ['127.0.0.1'], forwarded: undefined, address: '127.0.0.1' },
  { trustProxy: ['127.0.0.1'], forwarded: '192.0.2.1', address: '192.0.2.1' },
  { trustProxy: ['127.0.0.1'], forwarded: '192.0.2.1, 198.51.100.7', address: '198.51.100.7' },
  {
    trustProxy: ['::ffff:127.0.0.0/104', '198.51.100.0/24'],
    forwarded: '192.0.2.1, 198.51.100.7',
    address: '192.0.2.1',
  },
  { trustProxy: ['198.51.100.7'], forwarded: '192.0.2.1', address: '127.0.0.1' },
  { trustProxy: ['127.0.0.1'], forwarded: 'nobody', address: 'nobody' },
  { trustProxy: ['127.0.0.1'], forwarded: ' 192.0.2.1 ,, ', address: '192.0.2.1' },
  { trustProxy: ['127.0.0.1'], forwarded: ['192.0.2.1', '192.0.2.2'], address: '192.0.2.2' },
  {
    trustProxy: ['127.0.0.1', '192.0.2.2'],
    forwarded: '::ffff:192.0.2.2',
    address: '::ffff:192.0.2.2',
  },
])(
  'with proxies $trustProxy and $forwarded for whom they ask, the sender is $address, as for the router',
  async ({ trustProxy, forwarded, address }) => {
    const options = trustProxy === undefined ? {} : { trustProxy }
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    const direct = await listen((_body, sender) => JSON.stringify(sender.address), options)
    expect((await direct.post('{}', headers)).text).toBe(JSON.stringify(address))
    const routed = await listen(() => undefined, options)
    const { text: answer } = await routed.post('{}', headers)
    expect(JSON.parse(answer)).toMatchObject({ address })
  },
)

test('a request with two hosts is refused', async () => {
  const { port } = await listen(() => DIRECT)
  const socket = connect(port, '127.0.0.1')
  socket.write('POST /small HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}')
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /)
})

test.each([
  ['nothing', () => undefined],
  ['nothing after a while', () => Promise.resolve(undefined)],
  [
    'a failure',
    () => {
      throw new Error('failed')
    },
  ],
])('the route finds the body of what was answered with %s', async (_what, answer) => {
  const { post } = await listen(answer)
  expect(JSON.parse((await post('{"a":1}')).text)).toMatchObject({ route: '{"a":1}' })
})

test('what failed after a while is told by the route', async () => {
  const { post } = await listen(() => Promise.reject(new Error('failed')))
  expect(await post('{}')).toMatchObject({
    status: 500,
    headers: { 'request-id': expect.stringMatching(/^req_/) as string },
  })
})

test('every answer is observed once', async () => {
  const { observed, post } = await listen((body) => (body.length > 2 ? undefined : DIRECT))
  await post('{}')
  await post('{"a":1}')
  await expect.poll(() => observed).toEqual(['POST /small 200', 'POST /small 200'])
})

test('where each request has a line of the log, all pass the router', async () => {
  const { post } = await listen(() => DIRECT, {
    logger: pino({ level: 'debug' }, { write: () => undefined }),
  })
  expect(JSON.parse((await post('{}')).text)).toMatchObject({ route: 'unread' })
})

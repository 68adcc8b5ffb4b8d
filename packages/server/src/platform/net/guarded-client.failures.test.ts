import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Socket as TcpSocket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  answered,
  cleanUp,
  clientWith,
  connectionIsFree,
  failed,
  get,
  post,
  serve,
  serveRaw,
  unusedPort,
} from './test/loopback.ts'

afterEach(async () => {
  vi.useRealTimers()
  await cleanUp()
})

describe('a failed request', () => {
  it.each([
    ['ENOTFOUND', 'name_not_found', 'The name receiver.example has no address'],
    ['EAI_AGAIN', 'dns_failed', 'The name receiver.example could not be looked up (EAI_AGAIN)'],
  ])('tells a look-up that ends with %s', async (code, failureCode, message) => {
    const resolver = (): Promise<never> => Promise.reject(Object.assign(new Error(code), { code }))
    const client = clientWith({ resolver })
    const result = await failed(client, get('https://receiver.example/'))
    expect(result).toMatchObject({ stage: 'dns', code: failureCode, message, retryable: true })
  })

  it('tells a name without addresses, and a look-up that takes too long', async () => {
    const empty = clientWith({ resolver: async () => [] })
    expect(await failed(empty, get('https://receiver.example/'))).toMatchObject({
      code: 'name_not_found',
    })
    const stuck = clientWith({
      resolver: () => new Promise(() => undefined),
      limits: { dnsTimeoutMs: 20 },
    })
    expect(await failed(stuck, get('https://receiver.example/'))).toMatchObject({
      code: 'dns_timeout',
    })
  })

  it('tells a refused connection', async () => {
    const port = await unusedPort()
    expect(await failed(clientWith(), post(port))).toMatchObject({
      stage: 'connect',
      code: 'connection_refused',
      message: `127.0.0.1 port ${port} refused the connection`,
      remoteAddress: '127.0.0.1',
      retryable: true,
    })
  })

  it('tells a connection that is not accepted in time', async () => {
    const client = clientWith({
      connector: () => new TcpSocket(),
      limits: { connectTimeoutMs: 30 },
    })
    expect(await failed(client, post(8080))).toMatchObject({
      stage: 'connect',
      code: 'connect_timeout',
      message: '127.0.0.1 port 8080 did not accept a connection within 0.03 s',
    })
  })

  it('tells a receiver that takes the request and does not answer', async () => {
    const port = await serve(() => undefined)
    const result = await failed(clientWith(), post(port, { timeouts: { headersMs: 50 } }))
    expect(result).toMatchObject({
      stage: 'headers',
      code: 'headers_timeout',
      message: 'No answer within 0.05 s after the request was sent',
      retryable: true,
      remoteAddress: '127.0.0.1',
    })
  })

  it('gives up on headers that trickle in byte by byte', async () => {
    const port = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write('x'), 5)
      socket.on('close', () => clearInterval(timer))
    })
    const result = await failed(clientWith(), post(port, { timeouts: { headersMs: 60 } }))
    expect(result.code).toBe('headers_timeout')
  })

  it('gives up on a body that trickles in byte by byte, and tells the status', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'), 5)
      response.on('close', () => clearInterval(timer))
    })
    const result = await failed(clientWith(), post(port, { timeouts: { bodyMs: 60 } }))
    expect(result).toMatchObject({ stage: 'body', code: 'body_timeout', status: 200 })
  })

  it('ends with the overall deadline, whatever the other limits', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const sent = Promise.withResolvers<void>()
    const port = await serve(() => sent.resolve())
    const result = failed(clientWith(), post(port, { timeouts: { totalMs: 50 } }))
    await sent.promise
    vi.advanceTimersByTime(50)
    expect(await result).toMatchObject({ stage: 'headers', code: 'deadline_exceeded' })
  })

  it('ends with the overall deadline while it waits for a free connection, and is then never sent', async () => {
    let requests = 0
    const isOver = Promise.withResolvers<void>()
    const port = await serve((_request, response) => {
      requests++
      void isOver.promise.then(() => response.end())
    })
    const client = clientWith({ limits: { connectionsPerOriginMax: 1 } })
    const first = client.request(post(port))
    const second = await failed(client, post(port, { timeouts: { totalMs: 30 } }))
    isOver.resolve()
    expect(second).toMatchObject({ stage: 'connect', code: 'deadline_exceeded' })
    expect((await first).kind).toBe('response')
    await connectionIsFree()
    expect((await answered(client, post(port))).timings.reusedConnection).toBe(true)
    expect(requests).toBe(2)
  })

  it.each([
    ['closes before it answers', '', 'headers', 'connection_closed'],
    ['answers half of its headers', 'HTTP/1.1 200 OK\r\nx-a: ', 'headers', 'connection_closed'],
    [
      'answers half of its body',
      'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf',
      'body',
      'connection_closed',
    ],
    ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.0\r\n', 'headers', 'response_invalid'],
    [
      'answers endless headers',
      `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(40_000)}`,
      'headers',
      'headers_too_large',
    ],
    [
      'switches protocols',
      'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      'headers',
      'connection_closed',
    ],
  ])('tells a receiver that %s', async (_what, answer, stage, code) => {
    const port = await serveRaw((socket) => {
      socket.once('data', () => socket.end(answer))
    })
    expect(await failed(clientWith(), post(port))).toMatchObject({ stage, code, retryable: true })
  })

  it('tells a receiver that resets the connection', async () => {
    const port = await serveRaw((socket) => {
      socket.once('data', () => socket.resetAndDestroy())
    })
    expect(await failed(clientWith(), post(port))).toMatchObject({
      stage: 'headers',
      code: 'connection_reset',
    })
  })

  it('is broken off by its signal, before and after it is sent', async () => {
    const controller = new AbortController()
    const port = await serve(() => controller.abort())
    const client = clientWith()
    expect(await failed(client, post(port, { signal: AbortSignal.abort() }))).toMatchObject({
      stage: 'aborted',
      code: 'aborted',
    })
    expect(await failed(client, post(port, { signal: controller.signal }))).toMatchObject({
      stage: 'aborted',
      code: 'aborted',
    })
  })

  it('shares one listener with all that have its signal, which goes with the last', async () => {
    const arrived = [
      Promise.withResolvers<ServerResponse>(),
      Promise.withResolvers<ServerResponse>(),
    ]
    let count = 0
    const port = await serve((_request, response) => arrived[count++]?.resolve(response))
    const client = clientWith()
    const { signal } = new AbortController()
    const requests = arrived.map(() => client.request(post(port, { signal })))
    const responses = await Promise.all(arrived.map(({ promise }) => promise))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    for (const response of responses) response.end()
    await Promise.all(requests)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})

describe('close', () => {
  it('lets a request in flight end and refuses new ones', async () => {
    const arrived = Promise.withResolvers<ServerResponse>()
    const port = await serve((_request, response) => arrived.resolve(response))
    const client = clientWith()
    const inFlight = client.request(post(port))
    const response = await arrived.promise
    const closing = client.close()
    expect(await failed(client, post(port))).toMatchObject({
      stage: 'aborted',
      code: 'client_closed',
    })
    response.end()
    expect((await inFlight).kind).toBe('response')
    await closing
  })

  it('breaks a request off that outlasts the grace', async () => {
    const port = await serve(() => undefined)
    const client = clientWith()
    const inFlight = client.request(post(port))
    await client.close(30)
    expect(await inFlight).toMatchObject({ kind: 'failed', code: 'client_closed' })
  })
})

import { createServer, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Resolver } from './resolver.ts'
import type { TargetPolicy } from './target-policy.ts'
import { publicTargetsOnly } from '../../../test/support/public-targets-only.ts'
import {
  PUBLIC_ADDRESS,
  answered,
  cleanUp,
  clientWith,
  connectionIsFree,
  failed,
  forbiddenConnector,
  get,
  listen,
  policyOf,
  post,
  readBody,
  serve,
  serveRaw,
  spyConnector,
  unusedPort,
} from './test/loopback.ts'

afterEach(cleanUp)

describe('an answered request', () => {
  it('carries method, path, host, headers and body as given, and answers status, headers and body', async () => {
    let seen: unknown
    const port = await serve((request, response) => {
      void readBody(request).then((body) => {
        seen = { method: request.method, url: request.url, headers: request.headers, body }
        response.writeHead(202, { 'X-Receipt': 'r1' }).end('thanks')
      })
    })
    const result = await answered(
      clientWith(),
      post(port, { headers: { authorization: 'Bearer t', 'content-type': 'application/json' } }),
    )
    expect(seen).toMatchObject({ method: 'POST', url: '/hook?a=1', body: '{"a":1}' })
    expect(seen).toMatchObject({
      headers: {
        host: `127.0.0.1:${port}`,
        authorization: 'Bearer t',
        'content-type': 'application/json',
        'content-length': '7',
        'user-agent': 'Heliograph/test',
      },
    })
    expect(result).toMatchObject({ status: 202, bodyTruncated: false, remoteAddress: '127.0.0.1' })
    expect(result.headers['x-receipt']).toBe('r1')
    expect(result.body.toString()).toBe('thanks')
  })

  it('lets the caller name the user agent', async () => {
    const port = await serve((request, response) => response.end(request.headers['user-agent']))
    const result = await answered(clientWith(), post(port, { headers: { 'User-Agent': 'Own/1' } }))
    expect(result.body.toString()).toBe('Own/1')
  })

  it('tells the timings of a new connection, and then reuses it', async () => {
    let connections = 0
    const server = createServer((_request, response) => response.end('ok'))
    server.on('connection', () => connections++)
    const port = await listen(server)
    const client = clientWith({
      policy: policyOf('receiver.example'),
      resolver: async () => ['127.0.0.1'],
    })
    const request = { ...post(port), url: `http://receiver.example:${port}/` }
    const first = await answered(client, request)
    await connectionIsFree()
    const second = await answered(client, request)
    expect(first.timings.reusedConnection).toBe(false)
    for (const ms of [first.timings.dnsMs, first.timings.connectMs, first.timings.firstByteMs]) {
      expect(ms).toBeGreaterThanOrEqual(0)
    }
    expect(first.timings.tlsMs).toBeNull()
    expect(second.timings).toMatchObject({ reusedConnection: true, dnsMs: null, connectMs: null })
    expect(second.remoteAddress).toBe('127.0.0.1')
    expect(connections).toBe(1)
  })

  it('opens no more connections per origin than allowed', async () => {
    const held: ServerResponse[] = []
    let most = 0
    const port = await serve((_request, response) => {
      most = Math.max(most, held.push(response))
      if (held.length === 3) setTimeout(() => held.splice(0).forEach((each) => each.end()), 10)
    })
    const client = clientWith({ limits: { connectionsPerOriginMax: 3 } })
    const results = await Promise.all(Array.from({ length: 12 }, () => client.request(post(port))))
    expect(results.every((result) => result.kind === 'response')).toBe(true)
    expect(most).toBe(3)
  })

  it('uses a connection that is older than allowed once more at most', async () => {
    const port = await serve((_request, response) => response.end())
    const client = clientWith({ limits: { connectionAgeMaxMs: 0 } })
    for (let count = 0; count < 2; count++) {
      await answered(client, post(port))
      await connectionIsFree()
    }
    expect((await answered(client, post(port))).timings.reusedConnection).toBe(false)
  })

  it('closes the least recently used idle connections beyond the bound on origins', async () => {
    let closed = 0
    const ports: number[] = []
    for (let count = 0; count < 3; count++) {
      const server = createServer((_request, response) => response.end())
      server.on('connection', (socket) => socket.on('close', () => closed++))
      ports.push(await listen(server))
    }
    const client = clientWith({ limits: { originsMax: 2 } })
    for (const port of ports) await answered(client, post(port))
    await expect.poll(() => closed).toBe(1)
    expect((await answered(client, post(ports[1]!))).timings.reusedConnection).toBe(true)
    expect((await answered(client, post(ports[0]!))).timings.reusedConnection).toBe(false)
  })

  it('ssf-T125 answers a redirect as it is, and does not follow it', async () => {
    let requests = 0
    const port = await serve((_request, response) => {
      requests++
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end()
    })
    const result = await answered(clientWith(), post(port))
    expect(result.status).toBe(302)
    expect(requests).toBe(1)
  })

  it('ignores interim answers before the final one', async () => {
    const port = await serveRaw((socket) => {
      socket.once('data', () =>
        socket.end('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
      )
    })
    expect((await answered(clientWith(), post(port))).status).toBe(204)
  })

  it('keeps the first bytes of a longer body, and the connection', async () => {
    const port = await serve((_request, response) => response.end('x'.repeat(40_000)))
    const client = clientWith()
    const result = await answered(client, post(port))
    expect(result.body.length).toBe(16_384)
    expect(result.bodyTruncated).toBe(true)
    await connectionIsFree()
    expect((await answered(client, post(port))).timings.reusedConnection).toBe(true)
  })

  it('stops reading an endless body', async () => {
    let sentBytes = 0
    let isClosed = false
    const port = await serve((_request, response) => {
      response.writeHead(200)
      const chunk = 'x'.repeat(16_384)
      const write = (): void => {
        while (!isClosed && response.write(chunk)) sentBytes += chunk.length
      }
      response.on('drain', write).on('close', () => (isClosed = true))
      write()
    })
    const result = await answered(clientWith(), post(port))
    expect(result).toMatchObject({ status: 200, bodyTruncated: true })
    expect(result.body.length).toBe(16_384)
    await expect.poll(() => isClosed).toBe(true)
    expect(sentBytes).toBeLessThan(16_777_216)
  })
})

describe('the address check', () => {
  it('connects to exactly the address that was checked, and sends the name as host', async () => {
    let host: string | undefined
    const port = await serve((request, response) => {
      host = request.headers.host
      response.end()
    })
    const { connector, endpoints } = spyConnector(port)
    const client = clientWith({
      policy: policyOf('receiver.example'),
      resolver: async () => [PUBLIC_ADDRESS],
      connector,
    })
    const result = await answered(client, get('http://receiver.example:8080/'))
    expect(endpoints).toEqual([`${PUBLIC_ADDRESS} 8080 4`])
    expect(host).toBe('receiver.example:8080')
    expect(result.remoteAddress).toBe(PUBLIC_ADDRESS)
  })

  it.each([
    '10.0.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '::1',
    '::ffff:10.0.0.1',
    'fe80::1%eth0',
    'x',
  ])('refuses a name that resolves to %s, and connects to nothing', async (address) => {
    const client = clientWith({
      policy: publicTargetsOnly,
      resolver: async () => [address],
      connector: forbiddenConnector,
    })
    const result = await failed(client, get('https://receiver.example/'))
    expect(result).toMatchObject({ stage: 'refused', code: 'address_not_public', retryable: true })
    expect(result.message).toContain(`The address ${address} of receiver.example is`)
  })

  it('ssf-T125 refuses a name when any of its addresses is not public', async () => {
    const client = clientWith({
      policy: publicTargetsOnly,
      resolver: async () => [PUBLIC_ADDRESS, '2606:4700::1', '192.168.0.7'],
      connector: forbiddenConnector,
    })
    const result = await failed(client, get('https://receiver.example/'))
    expect(result.message).toBe(
      'The address 192.168.0.7 of receiver.example is private and not allow-listed',
    )
  })

  it('looks a name up once per connection, so that a name that changes its address gains nothing', async () => {
    const answers = [[PUBLIC_ADDRESS], ['127.0.0.1']]
    let lookUps = 0
    const resolver: Resolver = async () => answers[lookUps++ % 2]!
    const port = await serve((_request, response) =>
      response.setHeader('connection', 'close').end(),
    )
    const { connector, endpoints } = spyConnector(port)
    // Only the name's port is on the list, for plain HTTP; its addresses are judged like any other.
    const policy: TargetPolicy = {
      isHostAllowed: (host, at) => at === 8080 && lookUps === 0 && host === 'flip.example',
      isAddressAllowed: () => false,
    }
    const client = clientWith({ policy, resolver, connector })
    const first = await client.request(get('http://flip.example:8080/'))
    const second = await client.request(get('http://flip.example:8080/'))
    expect(first.kind).toBe('response')
    expect(second).toMatchObject({ kind: 'failed', code: 'address_not_public' })
    expect(lookUps).toBe(2)
    expect(endpoints).toEqual([`${PUBLIC_ADDRESS} 8080 4`])
  })

  it('lets a name through whose private address is in an allowed range', async () => {
    const port = await serve((_request, response) => response.end())
    const { connector, endpoints } = spyConnector(port)
    const client = clientWith({
      policy: policyOf('hooks.example,10.0.0.0/8'),
      resolver: async () => ['10.1.2.3'],
      connector,
    })
    await answered(client, get('http://hooks.example:9000/'))
    expect(endpoints).toEqual(['10.1.2.3 9000 4'])
  })

  it('tries the next address when one does not answer, families alternating', async () => {
    const port = await serve((_request, response) => response.end())
    const endpoints: string[] = []
    const deadPort = await unusedPort()
    const client = clientWith({
      policy: policyOf('receiver.example'),
      resolver: async () => ['2606:4700::1', '2606:4700::2', PUBLIC_ADDRESS],
      connector: (endpoint) => {
        endpoints.push(endpoint.host)
        return connect({ host: '127.0.0.1', port: endpoints.length < 3 ? deadPort : port })
      },
    })
    const result = await answered(client, get('http://receiver.example/'))
    expect(endpoints).toEqual(['2606:4700::1', PUBLIC_ADDRESS, '2606:4700::2'])
    expect(result.remoteAddress).toBe('2606:4700::2')
  })
})

describe('a refused request', () => {
  it.each(['https://127.0.0.1/', 'http://example.com/', 'https://localhost/', 'nonsense'])(
    'fails for %s before anything is looked up or connected to',
    async (url) => {
      const client = clientWith({ policy: publicTargetsOnly, connector: forbiddenConnector })
      expect(await failed(client, get(url))).toMatchObject({
        stage: 'refused',
        code: 'target_refused',
        retryable: false,
      })
    },
  )

  it.each([
    { 'x-a': 'b\r\nx-injected: 1' },
    { 'x-a\r\nx-injected': '1' },
    { 'x-a': 'b\0' },
    { host: 'other' },
  ])('fails for the headers %j', async (headers) => {
    const client = clientWith({ connector: forbiddenConnector })
    expect(await failed(client, post(1, { headers }))).toMatchObject({
      stage: 'refused',
      code: 'request_invalid',
      retryable: false,
    })
  })
})

import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { OLD_AGENT } from './node-options.ts'
import { createTransport } from './transport.ts'
import { createSelfSignedCertificate } from '../test/self-signed-certificate.ts'
import { createHarness } from '../test/node-harness.ts'
import type { Harness } from '../test/node-harness.ts'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.close()
  harness = undefined
})

describe('transport', () => {
  test('posts JSON with the headers of osquery', async () => {
    harness = await createHarness({ flags: { agentVersion: '5.22.1' } })
    harness.node.start()
    await harness.seconds(0)
    for (const request of harness.server.requests) {
      expect(request.method).toBe('POST')
      expect(request.headers).toMatchObject({
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': 'osquery/5.22.1',
      })
    }
  })

  test('sends every request where the endpoint flags say', async () => {
    const paths = {
      enroll: '/a/e',
      config: '/a/c',
      log: '/a/l',
      distributedRead: '/a/r',
      distributedWrite: '/a/w',
    }
    harness = await createHarness({ flags: { paths } })
    harness.server.respond('config', { json: { node_key: 'k', queries: { q: 'SELECT 1' } } })
    harness.node.start()
    harness.node.logStatus(0, 'hello')
    await harness.seconds(5)
    expect([...new Set(harness.server.requests.map(({ path }) => path))].sort()).toEqual(
      Object.values(paths).sort(),
    )
  })

  test('carries Authorization: NodeKey on every request after enrollment, and the key in the body', async () => {
    harness = await createHarness()
    harness.node.start()
    await harness.seconds(0)
    expect(harness.server.to('enroll')[0]?.headers.authorization).toBeUndefined()
    for (const request of harness.server.requests.slice(1)) {
      expect(request.headers.authorization).toBe('NodeKey key-1')
      expect(request.body['node_key']).toBe('key-1')
    }
  })

  test('an older agent carries the key in the body only', async () => {
    harness = await createHarness({ flags: { quirks: OLD_AGENT } })
    harness.node.start()
    await harness.seconds(0)
    expect(harness.server.to('config')[0]?.headers.authorization).toBeUndefined()
    expect(harness.server.to('config')[0]?.body['node_key']).toBe('key-1')
  })

  test('refuses plain HTTP to anything but the loopback interface', () => {
    expect(() => createTransport({ baseUrl: 'http://fleet.example.com' })).toThrow('plain HTTP')
  })

  test('follows ten redirects with the same request, not eleven', async () => {
    harness = await createHarness()
    const { baseUrl } = harness.server
    let redirects = 10
    harness.server.respond('config', () =>
      redirects-- > 0
        ? { status: 307, headers: { location: `${baseUrl}/osquery/config` } }
        : { json: { schedule: {} } },
    )
    expect(
      await harness.transport.post({ path: '/osquery/config', body: '{"a":1}', headers: {} }),
    ).toMatchObject({
      status: 200,
    })
    expect(harness.server.to('config').map(({ body }) => body['a'])).toEqual(Array(11).fill(1))
    redirects = 11
    expect(
      await harness.transport.post({ path: '/osquery/config', body: '{}', headers: {} }),
    ).toMatchObject({
      kind: 'unreachable',
    })
  })

  test('gives a request up when the server does not answer in time', async () => {
    harness = await createHarness({ transportOptions: { requestTimeoutMs: 50 } })
    harness.server.respond('config', { hangs: true })
    expect(
      (await harness.transport.post({ path: '/osquery/config', body: '{}', headers: {} })).kind,
    ).toBe('unreachable')
  })

  test('keeps its sockets alive between requests', async () => {
    harness = await createHarness()
    harness.node.start()
    await harness.seconds(600)
    expect(harness.server.requests.length).toBeGreaterThan(10)
    expect(harness.server.sockets.size).toBeLessThanOrEqual(3)
  })

  test('trusts the given authority only, over TLS 1.2 or later', async () => {
    const { certificate, privateKey } = createSelfSignedCertificate()
    const server = createServer({ key: privateKey, cert: certificate }, (_request, response) =>
      response.end('{"ok":true}'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const trusting = createTransport({ baseUrl, ca: certificate })
    const distrusting = createTransport({ baseUrl })
    try {
      expect(await trusting.post({ path: '/', body: '{}', headers: {} })).toMatchObject({
        text: '{"ok":true}',
      })
      expect((await distrusting.post({ path: '/', body: '{}', headers: {} })).kind).toBe(
        'unreachable',
      )
    } finally {
      await Promise.all([trusting.close(), distrusting.close()])
      server.closeAllConnections()
      server.close()
    }
  })
})

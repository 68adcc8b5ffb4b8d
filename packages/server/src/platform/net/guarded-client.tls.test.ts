import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerOptions } from 'node:https'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { issueAuthorityCertificate, issueServerCertificate } from '../tls/issue-certificate.ts'
import type { GuardedClient } from './guarded-client.ts'
import { createTrustContext } from './trust.ts'
import {
  PUBLIC_ADDRESS,
  answered,
  cleanUp,
  clientWith,
  connectionIsFree,
  failed,
  get,
  listen,
  policyOf,
  serveRaw,
} from './test/loopback.ts'

afterEach(cleanUp)

const NAME = 'receiver.example'
const VALID = {
  notBefore: new Date('2020-01-01T00:00:00Z'),
  notAfter: new Date('2070-01-01T00:00:00Z'),
}
const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const authorityKey = newKey()
const authority = {
  key: authorityKey,
  certificate: await issueAuthorityCertificate('Test', authorityKey, VALID),
}
const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string

async function issue(
  names: readonly string[],
  validity = VALID,
): Promise<{ key: string; cert: string }> {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    key: toPem(pair.privateKey),
    cert: await issueServerCertificate(authority, pair.publicKey, names, validity),
  }
}

async function issueSelfSigned(): Promise<{ key: string; cert: string }> {
  const key = newKey()
  const itself = { key, certificate: await issueAuthorityCertificate(NAME, key, VALID) }
  return {
    key: toPem(key),
    cert: await issueServerCertificate(itself, createPublicKey(key), [NAME], VALID),
  }
}

async function serveTls(
  options: ServerOptions,
): Promise<{ port: number; requests: string[]; names: string[] }> {
  const requests: string[] = []
  const names: string[] = []
  const server = createServer(options, (request, response) => {
    requests.push(`${request.headers.host} ${request.url}`)
    response.end('ok')
  })
  server.on('secureConnection', (socket: { servername?: string | false }) => {
    names.push(String(socket.servername))
  })
  return { port: await listen(server), requests, names }
}

/** A client to which every address is the given loopback port. */
function clientTo(
  port: number,
  extraCa: string | undefined = authority.certificate,
): GuardedClient {
  return clientWith({
    policy: policyOf('127.0.0.1'),
    resolver: async () => [PUBLIC_ADDRESS],
    connector: () => connect({ host: '127.0.0.1', port }),
    extraCa,
  })
}

describe('HTTPS', () => {
  it('reaches a receiver whose certificate comes from an extra authority, by its name', async () => {
    const { port, requests, names } = await serveTls(await issue([NAME]))
    const client = clientTo(port)
    const first = await answered(client, get(`https://${NAME}/set?a=1`))
    await connectionIsFree()
    const second = await answered(client, get(`https://${NAME}/set?a=1`))
    expect(first.remoteAddress).toBe(PUBLIC_ADDRESS)
    expect(first.timings.tlsMs).toBeGreaterThan(0)
    expect(second.timings).toMatchObject({ reusedConnection: true, tlsMs: null })
    expect(requests).toEqual([`${NAME} /set?a=1`, `${NAME} /set?a=1`])
    expect(names).toEqual([NAME])
  })

  it('reaches an IP address whose certificate names the address', async () => {
    const { port } = await serveTls(await issue(['127.0.0.1']))
    const client = clientWith({ extraCa: authority.certificate })
    await answered(client, get(`https://127.0.0.1:${port}/`))
  })

  it.each([
    ['from an unknown authority', issue([NAME]), undefined, 'certificate_untrusted', /not trusted/],
    [
      'signed by itself',
      issueSelfSigned(),
      undefined,
      'certificate_self_signed',
      /signed by itself/,
    ],
    [
      'for another name',
      issue(['other.example']),
      authority.certificate,
      'certificate_name_mismatch',
      /^The certificate is not for receiver.example$/,
    ],
    [
      'that has expired',
      issue([NAME], { ...VALID, notAfter: new Date('2021-02-03T04:05:06Z') }),
      authority.certificate,
      'certificate_expired',
      /^The certificate expired on Feb {2}3 04:05:06 2021 GMT$/,
    ],
    [
      'that is not valid yet',
      issue([NAME], { ...VALID, notBefore: new Date('2069-02-03T04:05:06Z') }),
      authority.certificate,
      'certificate_not_yet_valid',
      /^The certificate becomes valid only on Feb {2}3 04:05:06 2069 GMT$/,
    ],
  ])(
    'ssf-T124 refuses a certificate %s, and sends nothing',
    async (_what, served, extraCa, code, message) => {
      const { port, requests } = await serveTls(await served)
      const client = clientWith({
        resolver: async () => [PUBLIC_ADDRESS],
        connector: () => connect({ host: '127.0.0.1', port }),
        extraCa,
      })
      const result = await failed(client, get(`https://${NAME}/`))
      expect(result).toMatchObject({
        stage: 'tls',
        code,
        retryable: true,
        remoteAddress: PUBLIC_ADDRESS,
      })
      expect(result.message).toMatch(message)
      expect(requests).toEqual([])
    },
  )

  it('refuses a certificate whose address is another one', async () => {
    const { port } = await serveTls(await issue(['127.0.0.2', NAME]))
    const client = clientWith({ extraCa: authority.certificate })
    expect(await failed(client, get(`https://127.0.0.1:${port}/`))).toMatchObject({
      code: 'certificate_name_mismatch',
    })
  })

  it('verifies the certificate although the host is allow-listed', async () => {
    const { port } = await serveTls(await issue(['127.0.0.1']))
    const client = clientWith({ policy: policyOf('127.0.0.0/8') })
    expect(await failed(client, get(`https://127.0.0.1:${port}/`))).toMatchObject({ stage: 'tls' })
  })

  it('refuses TLS older than 1.2', async () => {
    const { port } = await serveTls({
      ...(await issue([NAME])),
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    expect(await failed(clientTo(port), get(`https://${NAME}/`))).toMatchObject({
      stage: 'tls',
      code: 'tls_failed',
    })
  })

  it('tells a receiver that does not speak TLS, or hangs up in the handshake', async () => {
    const plain = await serveRaw((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad\r\n\r\n')),
    )
    expect(await failed(clientTo(plain), get(`https://${NAME}/`))).toMatchObject({
      code: 'tls_failed',
    })
    const closing = await serveRaw((socket) => socket.once('data', () => socket.end()))
    expect(await failed(clientTo(closing), get(`https://${NAME}/`))).toMatchObject({
      code: 'tls_failed',
      message: `${NAME} closed the connection during the TLS handshake`,
    })
  })

  it('gives up on a handshake that does not end', async () => {
    const port = await serveRaw(() => undefined)
    // Connected already: all of the time is the handshake's.
    const socket = connect({ host: '127.0.0.1', port })
    await once(socket, 'connect')
    const client = clientWith({
      resolver: async () => [PUBLIC_ADDRESS],
      connector: () => {
        queueMicrotask(() => socket.emit('connect'))
        return socket
      },
      limits: { connectTimeoutMs: 50 },
    })
    expect(await failed(client, get(`https://${NAME}/`))).toMatchObject({
      stage: 'tls',
      code: 'connect_timeout',
    })
  })
})

describe('createTrustContext', () => {
  it('refuses a bundle without a certificate or with a broken one', () => {
    expect(() => createTrustContext('nothing')).toThrow(/holds no PEM certificate/)
    const broken = `${authority.certificate}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`
    expect(() => createTrustContext(broken)).toThrow(/Certificate 2 .* cannot be read/)
  })
})

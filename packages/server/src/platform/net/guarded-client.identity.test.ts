import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { createServer } from 'node:https'
import { connect } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { issueAuthorityCertificate, issueServerCertificate } from '../tls/issue-certificate.ts'
import type { GuardedClient, OutboundRequest } from './guarded-client.ts'
import {
  answered,
  cleanUp,
  clientWith,
  connectionIsFree,
  failed,
  listen,
  policyOf,
  PUBLIC_ADDRESS,
} from './test/loopback.ts'

afterEach(cleanUp)

const NAME = 'receiver.example'
const VALID = {
  notBefore: new Date('2020-01-01T00:00:00Z'),
  notAfter: new Date('2070-01-01T00:00:00Z'),
}
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const authority = { key, certificate: await issueAuthorityCertificate('Test', key, VALID) }

async function issue(name: string): Promise<{ certificate: string; privateKey: string }> {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    certificate: await issueServerCertificate(authority, pair.publicKey, [name], VALID),
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

const server = await issue(NAME)
const one = await issue('one.example')
const two = await issue('two.example')
const fingerprintOf = ({ certificate }: { certificate: string }) =>
  new X509Certificate(certificate).fingerprint256

/** A receiver that notes the client certificate of each request, and of each connection. */
async function serveAsking(): Promise<{
  client: GuardedClient
  shown: string[]
  opened: string[]
}> {
  const shown: string[] = []
  const opened: string[] = []
  const receiver = createServer(
    {
      key: server.privateKey,
      cert: server.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      shown.push(nameOf(request.socket as TLSSocket))
      response.end('ok')
    },
  )
  receiver.on('secureConnection', (socket: TLSSocket) => opened.push(nameOf(socket)))
  const port = await listen(receiver)
  const client = clientWith({
    policy: policyOf('127.0.0.1'),
    resolver: async () => [PUBLIC_ADDRESS],
    connector: () => connect({ host: '127.0.0.1', port }),
    extraCa: authority.certificate,
  })
  return { client, shown, opened }
}

function nameOf(socket: TLSSocket): string {
  // Without a certificate of the peer the object is empty, whatever its type says.
  const certificate = socket.getPeerCertificate()
  if (Object.keys(certificate).length === 0) return 'nobody'
  return certificate.fingerprint256 === fingerprintOf(one) ? 'one' : 'two'
}

const request = (tls?: OutboundRequest['tls']): OutboundRequest => ({
  url: `https://${NAME}/`,
  method: 'POST',
  body: 'x',
  tls,
})

describe('a TLS identity', () => {
  it('is shown to receivers that ask for it, and never on the connection of another', async () => {
    const { client, shown, opened } = await serveAsking()
    for (const tls of [{ key: '1', ...one }, { key: '2', ...two }, undefined]) {
      for (let count = 0; count < 2; count += 1) {
        await answered(client, request(tls))
        await connectionIsFree()
      }
    }
    expect(shown).toEqual(['one', 'one', 'two', 'two', 'nobody', 'nobody'])
    expect(opened).toEqual(['one', 'two', 'nobody'])
  })

  it('that was renewed is shown at once', async () => {
    const { client, shown } = await serveAsking()
    await answered(client, request({ key: 'stream 1 version 1', ...one }))
    await connectionIsFree()
    await answered(client, request({ key: 'stream 1 version 2', ...two }))
    expect(shown).toEqual(['one', 'two'])
  })

  it('may trust an authority of its own, which others do not', async () => {
    const port = await listen(
      createServer({ key: server.privateKey, cert: server.certificate }, (_request, response) =>
        response.end('ok'),
      ),
    )
    const client = clientWith({
      policy: policyOf('127.0.0.1'),
      resolver: async () => [PUBLIC_ADDRESS],
      connector: () => connect({ host: '127.0.0.1', port }),
    })
    await answered(client, request({ key: 'a', extraCa: authority.certificate }))
    expect(await failed(client, request())).toMatchObject({ code: 'certificate_untrusted' })
  })

  it.each([
    ['whose key is another', { ...one, privateKey: two.privateKey }],
    ['that is no PEM', { certificate: 'x', privateKey: 'y' }],
    ['with an authority that is none', { extraCa: 'x' }],
  ])('%s is refused in words, and nothing is sent', async (_what, identity) => {
    const { client, opened } = await serveAsking()
    const result = await failed(client, request({ key: 'broken', ...identity }))
    expect(result).toMatchObject({ stage: 'refused', code: 'request_invalid', retryable: false })
    expect(result.message).toMatch(/certificate/)
    expect(opened).toEqual([])
  })
})

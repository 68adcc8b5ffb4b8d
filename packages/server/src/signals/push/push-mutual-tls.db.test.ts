import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { LoopbackReceiver } from '../../../test/support/loopback-receiver.ts'
import { startAuthenticatingEngine } from '../../../test/support/push-authentication.ts'
import { createPushStreams, type PushStreams } from '../../../test/support/push-streams.ts'
import { queueEvents } from '../../../test/support/queue-events.ts'
import type { StreamIds, StreamsApi } from '../../../test/support/streams-api.ts'
import {
  issueAuthorityCertificate,
  issueServerCertificate,
} from '../../platform/tls/issue-certificate.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

interface StreamJson extends StreamIds {
  delivery: { oauth: object | null; mtls: object | null; extra_ca_set: boolean }
}

let push: PushStreams
let streams: StreamsApi

beforeAll(async () => {
  push = await createPushStreams()
  streams = push.streams
  streams.clock.set(new Date())
})
afterAll(() => push.close())
afterEach(() => push.reset())

const createStream = (receiver: Pick<LoopbackReceiver, 'url'>, delivery: object) =>
  push.createStream<StreamJson>(receiver, { delivery })

const patch = (id: string, payload: object) =>
  streams.call<StreamJson>(`/ssf_streams/${id}`, { method: 'PATCH', payload })

const queue = (destinationId: DestinationId, count = 1) =>
  queueEvents(streams, destinationId, Array<null>(count).fill(null))

describe('mutual TLS', () => {
  const VALID = {
    notBefore: new Date('2020-01-01T00:00:00Z'),
    notAfter: new Date('2070-01-01T00:00:00Z'),
  }
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

  async function createAuthority() {
    return { key, certificate: await issueAuthorityCertificate('Test', key, VALID) }
  }

  async function issue(name: string, validity = VALID) {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const authority = await createAuthority()
    return {
      certificate: await issueServerCertificate(authority, pair.publicKey, [name], validity),
      private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    }
  }

  async function serveAsking(): Promise<{ url: string; shown: (string | undefined)[] }> {
    const shown: (string | undefined)[] = []
    const { certificate: cert, private_key: serverKey } = await issue('127.0.0.1')
    const options = { key: serverKey, cert, requestCert: true, rejectUnauthorized: false }
    const server = createServer(options, (request, response) => {
      const certificate: { fingerprint256?: string } = (
        request.socket as TLSSocket
      ).getPeerCertificate()
      shown.push(certificate.fingerprint256)
      request.resume().on('end', () => response.writeHead(202).end())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    push.closeLater(
      () =>
        new Promise((resolve) => {
          server.close(resolve)
          server.closeAllConnections()
        }),
    )
    return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, shown }
  }

  it('shows the certificate of the stream, a renewed one from the next push on', async () => {
    const receiver = await serveAsking()
    const first = await issue('first.example')
    const second = await issue('second.example')
    const { certificate: extraCa } = await createAuthority()
    const { id, destinationId, delivery } = await createStream(receiver, {
      mtls: first,
      extra_ca: extraCa,
    })
    const fingerprintOf = (pem: string) => new X509Certificate(pem).fingerprint256
    expect(delivery).toMatchObject({
      mtls: {
        subject: 'CN=first.example',
        fingerprint_sha256: fingerprintOf(first.certificate),
        not_after: '2070-01-01T00:00:00.000Z',
        private_key_set: true,
      },
      extra_ca_set: true,
    })
    await startAuthenticatingEngine(push)
    await queue(destinationId)
    await push.waitForDelivered(1)
    await patch(id, { delivery: { mtls: second } })
    await queue(destinationId)
    await push.waitForDelivered(2)
    expect(receiver.shown).toEqual([
      fingerprintOf(first.certificate),
      fingerprintOf(second.certificate),
    ])
  })

  it('is refused member by member when it could not work', async () => {
    const one = await issue('one.example')
    const two = await issue('two.example')
    const expired = await issue('old.example', {
      ...VALID,
      notAfter: new Date('2021-01-01T00:00:00Z'),
    })
    const receiver = await push.startReceiver()
    const { id } = await createStream(receiver, {})
    const refusals: (readonly [object, string, RegExp])[] = [
      [{ ...one, certificate: 'x' }, 'certificate', /not a PEM certificate/],
      [{ ...one, private_key: 'x' }, 'private_key', /not a PEM private key/],
      [{ ...one, private_key: two.private_key }, 'private_key', /belong to the certificate/],
      [expired, 'certificate', /Expired on 2021-01-01/],
    ]
    for (const [mtls, member, words] of refusals) {
      expect(await patch(id, { delivery: { mtls } })).toMatchObject({
        status: 422,
        body: {
          details: [
            {
              path: `delivery.mtls.${member}`,
              message: expect.stringMatching(words) as string,
            },
          ],
        },
      })
    }
    expect(await patch(id, { delivery: { extra_ca: 'x' } })).toMatchObject({ status: 422 })
  })
})

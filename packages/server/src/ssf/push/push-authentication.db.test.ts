import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  answerWith,
  startLoopbackReceiver,
  type LoopbackReceiver,
  type Respond,
} from '../../../test/support/loopback-receiver.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { SYSTEM_ACTOR } from '../../audit/audit-entry.ts'
import { createDeliveryEngine, type DeliveryEngine } from '../../delivery/delivery-engine.ts'
import { enqueueDeliveries } from '../../delivery/enqueue-deliveries.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import {
  issueAuthorityCertificate,
  issueServerCertificate,
} from '../../platform/tls/issue-certificate.ts'
import { createPushChannel } from './push-channel.ts'
import { createPushConnections } from './push-connection.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000

interface StreamJson {
  id: string
  delivery: { oauth: object | null; mtls: object | null; extra_ca_set: boolean }
}

let streams: StreamsApi
const cleanups: (() => Promise<unknown>)[] = []
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }

beforeAll(async () => {
  streams = await createStreamsApi()
  streams.clock.set(new Date())
})
afterAll(() => streams.close())
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp()
  await streams.db.deleteFrom('ssf_stream').execute()
  await streams.db.deleteFrom('delivery_destination').execute()
})

async function startReceiver(respond?: Respond): Promise<LoopbackReceiver> {
  const receiver = await startLoopbackReceiver(respond)
  cleanups.push(() => receiver.close())
  return receiver
}

/** A token endpoint that gives the tokens `token-1`, `token-2` and so on. */
async function startTokenEndpoint(expiresIn?: number): Promise<LoopbackReceiver> {
  let count = 0
  return startReceiver((_request, response) => {
    count += 1
    const body = { access_token: `token-${count}`, token_type: 'Bearer', expires_in: expiresIn }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
}

function refuseWith(status: number, body: object): Respond {
  return (_request, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(body))
}

/** Knows only one client secret. */
function knowing(secret: string): Respond {
  return ({ headers }, response) => {
    const isKnown = headers.authorization === basic('client', secret)
    const body = isKnown
      ? { access_token: 'token', token_type: 'bearer' }
      : { error: 'invalid_client' }
    response
      .writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
      .end(JSON.stringify(body))
  }
}

const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

async function createStream(receiverUrl: string, delivery: object) {
  const answer = await streams.call<StreamJson>('/ssf_streams', {
    method: 'POST',
    payload: {
      name: 'push',
      delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: `${receiverUrl}/events`, ...delivery },
    },
  })
  expect(answer).toMatchObject({ status: 201 })
  const row = await streams.db
    .selectFrom('ssf_stream')
    .select('destination_id')
    .where('id', '=', answer.body.id)
    .executeTakeFirstOrThrow()
  return { ...answer.body, destinationId: row.destination_id }
}

const patch = (id: string, payload: object) =>
  streams.call<StreamJson>(`/ssf_streams/${id}`, { method: 'PATCH', payload })

function oauth(tokenEndpoint: LoopbackReceiver, more: object = {}) {
  const base = { token_endpoint: `${tokenEndpoint.url}/token`, client_id: 'client' }
  return { oauth: { ...base, client_secret: 'first secret', ...more } }
}

function startEngine(retryDelaysMs: readonly number[] = [30, 30, 30]): DeliveryEngine {
  const { db, clock, sealer, keyRing, client } = streams
  const openConnection = createPushConnections({ db, clock, sealer, keyRing, client })
  const channel = createPushChannel({ db, sealer, keyRing, openConnection })
  const engine = createDeliveryEngine({
    db,
    clock,
    log,
    client,
    channels: [{ ...channel, retryDelaysMs }],
    settings: { sweepIntervalMs: 100 },
  })
  cleanups.push(() => engine.close(0))
  return engine
}

async function queue(destinationId: string, count = 1): Promise<void> {
  await streams.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    enqueueDeliveries(
      change,
      Array.from({ length: count }, () => ({
        destinationId,
        eventId: newUuid(),
        eventType: 'test',
        subjectKey: null,
        body: '{}',
      })),
      () => undefined,
    ),
  )
}

async function waitForDelivered(count: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const rows = await streams.db
        .selectFrom('delivery')
        .select('id')
        .where('state', '=', 'delivered')
        .execute()
      expect(rows).toHaveLength(count)
    },
    { timeout: 10_000, interval: 20 },
  )
}

describe('OAuth client credentials', () => {
  it('are exchanged once for a token that goes along with every push', async () => {
    const receiver = await startReceiver()
    const tokens = await startTokenEndpoint(3_600)
    const { destinationId } = await createStream(
      receiver.url,
      oauth(tokens, { scope: 'events:write', client_secret: 'a+b c/d' }),
    )
    await queue(destinationId, 40)
    await startEngine().start()
    await waitForDelivered(40)
    expect(tokens.requests).toHaveLength(1)
    expect(tokens.requests[0]).toMatchObject({
      path: '/token',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: basic('client', 'a%2Bb+c%2Fd'),
      },
    })
    expect(Object.fromEntries(new URLSearchParams(tokens.requests[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'events:write',
    })
    const sent = receiver.requests.map(({ headers }) => headers.authorization)
    expect(new Set(sent)).toEqual(new Set(['Bearer token-1']))
  })

  it('go into the body when that is chosen', async () => {
    const receiver = await startReceiver()
    const tokens = await startTokenEndpoint()
    const method = { auth_method: 'client_secret_post' }
    const { destinationId } = await createStream(receiver.url, oauth(tokens, method))
    await queue(destinationId)
    await startEngine().start()
    await waitForDelivered(1)
    expect(tokens.requests[0]?.headers.authorization).toBeUndefined()
    expect(Object.fromEntries(new URLSearchParams(tokens.requests[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'client',
      client_secret: 'first secret',
    })
  })

  it('may be an assertion that verifies with the published keys, and is no event', async () => {
    const receiver = await startReceiver()
    const tokens = await startTokenEndpoint()
    const method = { auth_method: 'private_key_jwt', client_secret: undefined }
    const { destinationId } = await createStream(receiver.url, oauth(tokens, method))
    await queue(destinationId)
    await startEngine().start()
    await waitForDelivered(1)
    const form = new URLSearchParams(tokens.requests[0]?.body)
    expect(form.get('client_assertion_type')).toBe(
      'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    )
    const { body: jwks } = await streams.api.request<{ keys: [] }>('/ssf/jwks.json', { key: null })
    const assertion = form.get('client_assertion') ?? ''
    const { payload, protectedHeader } = await jwtVerify(assertion, createLocalJWKSet(jwks), {
      audience: `${tokens.url}/token`,
      issuer: 'client',
      subject: 'client',
      currentDate: streams.clock.now(),
    })
    expect(protectedHeader.typ).toBe('JWT')
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60)
  })

  it('give a new token shortly before the old one expires', async () => {
    const receiver = await startReceiver()
    const tokens = await startTokenEndpoint(600)
    const { destinationId } = await createStream(receiver.url, oauth(tokens))
    const engine = startEngine()
    await engine.start()
    await queue(destinationId)
    await waitForDelivered(1)
    streams.clock.advance(560 * SECOND_MS)
    await queue(destinationId)
    await waitForDelivered(2)
    expect(tokens.requests).toHaveLength(1)
    streams.clock.advance(11 * SECOND_MS)
    await queue(destinationId)
    await waitForDelivered(3)
    expect(receiver.requests.at(-1)?.headers.authorization).toBe('Bearer token-2')
  })

  it('give a new token, once, when the receiver refuses the one that is kept', async () => {
    const receiver = await startReceiver()
    const tokens = await startTokenEndpoint(3_600)
    const { destinationId } = await createStream(receiver.url, oauth(tokens))
    const engine = startEngine([60_000])
    await engine.start()
    await queue(destinationId)
    await waitForDelivered(1)
    streams.clock.advance(HOUR_MS / 2)
    receiver.respond(({ headers }, response) => {
      response.writeHead(headers.authorization === 'Bearer token-1' ? 401 : 202).end()
    })
    await queue(destinationId, 10)
    await waitForDelivered(11)
    expect(tokens.requests).toHaveLength(2)
    // A receiver that refuses every token is tried again later, not asked for tokens without end.
    receiver.respond(answerWith(401))
    await queue(destinationId, 3)
    await vi.waitFor(async () => {
      const rows = await streams.db.selectFrom('delivery').select('last_error').execute()
      expect(rows.filter((row) => row.last_error === 'The receiver answered 401')).toHaveLength(3)
    }, WAIT_MS)
    expect(tokens.requests.length).toBeLessThan(4)
  })

  it.each([
    [
      refuseWith(400, { error: 'invalid_client', error_description: 'who are you' }),
      'The token endpoint answered 400 (invalid_client: who are you)',
    ],
    [answerWith(503), 'The token endpoint answered 503'],
    [answerWith(302, { location: '/x' }), 'The token endpoint answered 302'],
    [refuseWith(200, { token: 'x' }), 'The token endpoint answered without a bearer token'],
    [
      refuseWith(200, { access_token: 'a\nb', token_type: 'bearer' }),
      'The token endpoint answered without a bearer token',
    ],
  ] as const)('that do not work are tried again, in words (%#)', async (respond, words) => {
    const receiver = await startReceiver()
    const tokens = await startReceiver(respond)
    const { id, destinationId } = await createStream(receiver.url, oauth(tokens))
    await queue(destinationId)
    await startEngine([60_000]).start()
    await vi.waitFor(async () => {
      const row = await streams.db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
      expect(row).toMatchObject({ state: 'queued', attempt_count: 1, last_error: words })
    }, WAIT_MS)
    const attempt = await streams.db
      .selectFrom('delivery_attempt')
      .selectAll()
      .executeTakeFirstOrThrow()
    expect(attempt).toMatchObject({ outcome: 'retry', error_code: 'authorization_failed' })
    expect(receiver.requests).toEqual([])
    const test = await streams.call(`/ssf_streams/${id}/test`, {
      method: 'POST',
      payload: { email: 'ada@example.com' },
    })
    expect(test.body).toMatchObject({ success: false, response_code: '0', reason: words })
  })

  it('overlap for a day when the secret is changed before the receiver knows it', async () => {
    const receiver = await startReceiver()
    const tokens = await startReceiver(knowing('first+secret'))
    const { id, destinationId } = await createStream(receiver.url, oauth(tokens))
    await patch(id, { delivery: oauth(tokens, { client_secret: 'second' }) })
    await queue(destinationId)
    await startEngine([60_000]).start()
    await waitForDelivered(1)
    expect(tokens.requests.map(({ headers }) => headers.authorization)).toEqual([
      basic('client', 'second'),
      basic('client', 'first+secret'),
    ])
    streams.clock.advance(DAY_MS + SECOND_MS)
    await queue(destinationId)
    await vi.waitFor(async () => {
      const rows = await streams.db
        .selectFrom('delivery')
        .select('last_error')
        .orderBy('id')
        .execute()
      expect(rows.at(-1)?.last_error).toMatch(/invalid_client/)
    }, WAIT_MS)
  })
})

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
    cleanups.push(
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
    const { id, destinationId, delivery } = await createStream(receiver.url, {
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
    const engine = startEngine()
    await engine.start()
    await queue(destinationId)
    await waitForDelivered(1)
    await patch(id, { delivery: { mtls: second } })
    await queue(destinationId)
    await waitForDelivered(2)
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
    const receiver = await startReceiver()
    const { id } = await createStream(receiver.url, {})
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

describe('the authentication of a stream', () => {
  it('is never answered, audited or stored in plain', async () => {
    const receiver = await startReceiver()
    const tokens = await startTokenEndpoint()
    const stream = await createStream(receiver.url, oauth(tokens, { scope: 'events' }))
    expect(stream.delivery).toMatchObject({
      oauth: {
        token_endpoint: `${tokens.url}/token`,
        client_id: 'client',
        scope: 'events',
        auth_method: 'client_secret_basic',
        client_secret_set: true,
      },
      mtls: null,
      extra_ca_set: false,
    })
    const audits = await streams.db
      .selectFrom('audit_entry')
      .selectAll()
      .orderBy('sequence')
      .execute()
    const stored = await streams.db.selectFrom('ssf_push_credential').selectAll().execute()
    const row = await streams.db.selectFrom('ssf_stream').selectAll().execute()
    for (const shown of [stream, audits, row]) {
      expect(JSON.stringify(shown)).not.toContain('first secret')
    }
    expect(stored[0]?.oauth_client_secret_sealed?.toString('latin1')).not.toContain('first secret')
    expect(audits.at(-1)?.after).toMatchObject({ authentication: { oauth: { scope: 'events' } } })
  })

  it('keeps its secret when other members change, and asks for it for another endpoint', async () => {
    const receiver = await startReceiver()
    const tokens = await startTokenEndpoint()
    const { id } = await createStream(receiver.url, oauth(tokens))
    const withoutSecret = { ...oauth(tokens).oauth, client_secret: undefined, scope: 'more' }
    expect(await patch(id, { delivery: { oauth: withoutSecret } })).toMatchObject({
      status: 200,
      body: { delivery: { oauth: { scope: 'more', client_secret_set: true } } },
    })
    const elsewhere = { ...withoutSecret, token_endpoint: `${receiver.url}/token` }
    expect(await patch(id, { delivery: { oauth: elsewhere } })).toMatchObject({
      status: 422,
      body: { details: [{ path: 'delivery.oauth.client_secret' }] },
    })
  })

  it('is removed by null, and forgotten when the stream polls', async () => {
    const receiver = await startReceiver()
    const tokens = await startTokenEndpoint()
    const { id } = await createStream(receiver.url, oauth(tokens))
    const removed = await patch(id, { delivery: { oauth: null } })
    expect(removed.body.delivery).not.toHaveProperty('oauth')
    expect(await streams.db.selectFrom('ssf_push_credential').selectAll().execute()).toEqual([])
    await patch(id, { delivery: oauth(tokens) })
    await patch(id, { delivery: { method: 'urn:ietf:rfc:8936' } })
    expect(await streams.db.selectFrom('ssf_push_credential').selectAll().execute()).toEqual([])
  })

  it.each([
    [{ token_endpoint: 'http://10.0.0.1/token', client_id: 'c', client_secret: 's' }, 'target'],
    [{ token_endpoint: 'nonsense', client_id: 'c', client_secret: 's' }, 'target'],
    [{ token_endpoint: 'https://as.example.com/token', client_id: 'c' }, 'invalid_body'],
    [{ token_endpoint: 'https://as.example.com/', client_id: '', client_secret: 's' }, 'invalid'],
    [
      { token_endpoint: 'https://as.example.com/', client_id: 'c', client_secret: 'é' },
      'invalid_body',
    ],
    [
      {
        token_endpoint: 'https://as.example.com/',
        client_id: 'c',
        client_secret: 's',
        auth_method: 'private_key_jwt',
      },
      'invalid_body',
    ],
    [
      {
        token_endpoint: 'https://as.example.com/',
        client_id: 'c',
        client_secret: 's',
        auth_method: 'none',
      },
      'invalid_body',
    ],
  ])('is refused when it could not work (%#)', async (value, code) => {
    const receiver = await startReceiver()
    const { id } = await createStream(receiver.url, {})
    expect(await patch(id, { delivery: { oauth: value } })).toMatchObject({
      status: 422,
      body: { code: expect.stringMatching(code) as string },
    })
    expect(await streams.db.selectFrom('ssf_push_credential').selectAll().execute()).toEqual([])
  })

  it('is refused beside an authorization header, and for streams that poll', async () => {
    const receiver = await startReceiver()
    const tokens = await startTokenEndpoint()
    const { id } = await createStream(receiver.url, oauth(tokens))
    expect(await patch(id, { authorization_header: 'Bearer x' })).toMatchObject({ status: 422 })
    const poll = await streams.call('/ssf_streams', {
      method: 'POST',
      payload: { name: 'poll', delivery: { ...oauth(tokens) } },
    })
    expect(poll).toMatchObject({ status: 422, body: { details: [{ path: 'delivery.oauth' }] } })
  })
})

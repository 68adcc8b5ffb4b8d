import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { EVERY_ATTEMPT } from '../dispatch/attempt-read.ts'
import {
  answerWith,
  type LoopbackReceiver,
  type Respond,
} from '../../../test/support/loopback-receiver.ts'
import {
  oauthBy,
  startAuthenticatingEngine,
  startTokenEndpoint,
} from '../../../test/support/push-authentication.ts'
import { createPushStreams, type PushStreams } from '../../../test/support/push-streams.ts'
import { queueEvents } from '../../../test/support/queue-events.ts'
import type { StreamIds, StreamsApi } from '../../../test/support/streams-api.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../platform/clock.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000

let push: PushStreams
let streams: StreamsApi

beforeAll(async () => {
  push = await createPushStreams()
  streams = push.streams
  streams.clock.set(new Date())
})
afterAll(() => push.close())
afterEach(() => push.reset())

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

const createStream = (receiver: Pick<LoopbackReceiver, 'url'>, delivery: object) =>
  push.createStream<StreamIds>(receiver, { delivery })

const queue = (destinationId: DestinationId, count = 1) =>
  queueEvents(streams, destinationId, Array<null>(count).fill(null))

describe('OAuth client credentials', () => {
  it('are exchanged once for a token that goes along with every push', async () => {
    const receiver = await push.startReceiver()
    const tokens = await startTokenEndpoint(push, 3_600)
    const { destinationId } = await createStream(
      receiver,
      oauthBy(tokens, { scope: 'events:write', client_secret: 'a+b c/d' }),
    )
    await queue(destinationId, 40)
    await startAuthenticatingEngine(push)
    await push.waitForDelivered(40)
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

  it('hold up no end: what waits for a token then is given back untried', async () => {
    const receiver = await push.startReceiver()
    const tokens = await push.startReceiver(() => undefined)
    const { destinationId } = await createStream(receiver, oauthBy(tokens))
    await queue(destinationId)
    const engine = await startAuthenticatingEngine(push)
    await expect.poll(() => tokens.requests.length, { timeout: WAIT_MS }).toBe(1)
    await engine.close(50)
    const [row] = await streams.db.selectFrom('delivery').selectAll().execute()
    expect(row).toMatchObject({ state: 'queued', claimed_by: null, attempt_count: 0 })
  })

  it('go into the body when that is chosen', async () => {
    const receiver = await push.startReceiver()
    const tokens = await startTokenEndpoint(push)
    const method = { auth_method: 'client_secret_post' }
    const { destinationId } = await createStream(receiver, oauthBy(tokens, method))
    await queue(destinationId)
    await startAuthenticatingEngine(push)
    await push.waitForDelivered(1)
    expect(tokens.requests[0]?.headers.authorization).toBeUndefined()
    expect(Object.fromEntries(new URLSearchParams(tokens.requests[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'client',
      client_secret: 'first secret',
    })
  })

  it('may be an assertion that verifies with the published keys, and is no event', async () => {
    const receiver = await push.startReceiver()
    const tokens = await startTokenEndpoint(push)
    const method = { auth_method: 'private_key_jwt', client_secret: undefined }
    const { destinationId } = await createStream(receiver, oauthBy(tokens, method))
    await queue(destinationId)
    await startAuthenticatingEngine(push)
    await push.waitForDelivered(1)
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
    const receiver = await push.startReceiver()
    const tokens = await startTokenEndpoint(push, 600)
    const { destinationId } = await createStream(receiver, oauthBy(tokens))
    await startAuthenticatingEngine(push)
    await queue(destinationId)
    await push.waitForDelivered(1)
    streams.clock.advance(560 * SECOND_MS)
    await queue(destinationId)
    await push.waitForDelivered(2)
    expect(tokens.requests).toHaveLength(1)
    streams.clock.advance(11 * SECOND_MS)
    await queue(destinationId)
    await push.waitForDelivered(3)
    expect(receiver.requests.at(-1)?.headers.authorization).toBe('Bearer token-2')
  })

  it('give a new token, once, when the receiver refuses the one that is kept', async () => {
    const receiver = await push.startReceiver()
    const tokens = await startTokenEndpoint(push, 3_600)
    const { destinationId } = await createStream(receiver, oauthBy(tokens))
    await startAuthenticatingEngine(push, [60_000])
    await queue(destinationId)
    await push.waitForDelivered(1)
    streams.clock.advance(HOUR_MS / 2)
    receiver.respond(({ headers }, response) => {
      response.writeHead(headers.authorization === 'Bearer token-1' ? 401 : 202).end()
    })
    await queue(destinationId, 10)
    await push.waitForDelivered(11)
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
    const receiver = await push.startReceiver()
    const tokens = await push.startReceiver(respond)
    const { id, destinationId } = await createStream(receiver, oauthBy(tokens))
    await queue(destinationId)
    await startAuthenticatingEngine(push, [60_000])
    await vi.waitFor(async () => {
      const row = await streams.db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
      expect(row).toMatchObject({ state: 'queued', attempt_count: 1, last_error: words })
    }, WAIT_MS)
    const attempt = await streams.db
      .selectFrom(EVERY_ATTEMPT.as('attempt'))
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

  it.each(['client_secret_basic', 'client_secret_post', 'private_key_jwt'])(
    'are shown to nobody when the token endpoint repeats them (%s)',
    async (method) => {
      const receiver = await push.startReceiver()
      const tokens = await push.startReceiver(({ headers, body }, response) => {
        const description = `${headers.authorization} ${body}`
        response
          .writeHead(400, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error: 'invalid_request', error_description: description }))
      })
      const secret = method === 'private_key_jwt' ? undefined : 'first secret'
      const oauth = oauthBy(tokens, { auth_method: method, client_secret: secret })
      const { destinationId } = await createStream(receiver, oauth)
      await queue(destinationId)
      await startAuthenticatingEngine(push, [60_000])
      await vi.waitFor(async () => {
        const row = await streams.db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
        expect(row.last_error).toMatch(/^The token endpoint answered 400 .*\[masked\]/)
        expect(row.last_error).not.toMatch(/first.secret|eyJ/)
        const encoded = basic('client', 'first+secret').slice('Basic '.length)
        expect(row.last_error).not.toContain(encoded.slice(0, 8))
      }, WAIT_MS)
    },
  )

  it('leave nothing of a token in what a receiver that repeats it is recorded with', async () => {
    const receiver = await push.startReceiver(({ headers }, response) => {
      response
        .writeHead(400, { 'content-type': 'application/json', 'x-echo': headers.authorization })
        .end(JSON.stringify({ err: 'invalid_request', description: headers.authorization }))
    })
    const tokens = await startTokenEndpoint(push, 3_600)
    const { destinationId } = await createStream(receiver, oauthBy(tokens))
    await queue(destinationId)
    await startAuthenticatingEngine(push, [60_000])
    await vi.waitFor(async () => {
      const attempts = await streams.db
        .selectFrom(EVERY_ATTEMPT.as('attempt'))
        .selectAll()
        .execute()
      expect(attempts).toHaveLength(1)
      expect(JSON.stringify(attempts)).toContain('[masked]')
      const rows = await streams.db.selectFrom('delivery').selectAll().execute()
      expect(JSON.stringify([attempts, rows])).not.toContain('token-1')
    }, WAIT_MS)
  })

  it('give a new token where they are removed and given anew meanwhile', async () => {
    const receiver = await push.startReceiver()
    const tokens = await startTokenEndpoint(push, 3_600)
    const { id, destinationId } = await createStream(receiver, oauthBy(tokens))
    await startAuthenticatingEngine(push)
    await queue(destinationId)
    await push.waitForDelivered(1)
    for (const delivery of [{ oauth: null }, oauthBy(tokens, { client_secret: 'second' })]) {
      await streams.call(`/ssf_streams/${id}`, { method: 'PATCH', payload: { delivery } })
    }
    await queue(destinationId)
    await push.waitForDelivered(2)
    expect(receiver.requests.at(-1)?.headers.authorization).toBe('Bearer token-2')
  })

  it('overlap for a day when the secret is changed before the receiver knows it', async () => {
    const receiver = await push.startReceiver()
    const tokens = await push.startReceiver(knowing('first+secret'))
    const { id, destinationId } = await createStream(receiver, oauthBy(tokens))
    const payload = { delivery: oauthBy(tokens, { client_secret: 'second' }) }
    await streams.call(`/ssf_streams/${id}`, { method: 'PATCH', payload })
    await queue(destinationId)
    await startAuthenticatingEngine(push, [60_000])
    await push.waitForDelivered(1)
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

  it.each([
    ['changed together with the host', [{ client_secret: 'made up', isElsewhere: true }]],
    [
      'changed within the day before the host',
      [{ client_secret: 'second' }, { client_secret: 'made up', isElsewhere: true }],
    ],
    [
      'changed again after the host',
      [{ client_secret: 'made up', isElsewhere: true }, { client_secret: 'another' }],
    ],
  ])('overlap no longer where the secret is %s', async (_what, changes) => {
    const receiver = await push.startReceiver()
    const tokens = await push.startReceiver(knowing('first+secret'))
    const { id, destinationId } = await createStream(receiver, oauthBy(tokens))
    for (const { isElsewhere, client_secret } of changes) {
      const moved = isElsewhere ? { endpoint_url: 'https://elsewhere.example.com/' } : {}
      const payload = { delivery: { ...moved, ...oauthBy(tokens, { client_secret }) } }
      const { status } = await streams.call(`/ssf_streams/${id}`, { method: 'PATCH', payload })
      expect(status).toBe(200)
    }
    await queue(destinationId)
    await startAuthenticatingEngine(push, [60_000])
    await vi.waitFor(async () => {
      const row = await streams.db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
      expect(row.last_error).toMatch(/invalid_client/)
    }, WAIT_MS)
    const sent = tokens.requests.map(({ headers }) => headers.authorization)
    expect(sent).not.toContain(basic('client', 'first+secret'))
    expect(receiver.requests).toEqual([])
  })
})

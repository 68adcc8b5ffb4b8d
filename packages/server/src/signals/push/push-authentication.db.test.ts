import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { LoopbackReceiver } from '../../../test/support/loopback-receiver.ts'
import { createPushStreams, type PushStreams } from '../../../test/support/push-streams.ts'
import type { StreamIds, StreamsApi } from '../../../test/support/streams-api.ts'
import { oauthBy, startTokenEndpoint } from '../../../test/support/push-authentication.ts'

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

describe('the authentication of a stream', () => {
  it('is never answered, audited or stored in plain', async () => {
    const receiver = await push.startReceiver()
    const tokens = await startTokenEndpoint(push)
    const stream = await createStream(receiver, oauthBy(tokens, { scope: 'events' }))
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
    const receiver = await push.startReceiver()
    const tokens = await startTokenEndpoint(push)
    const { id } = await createStream(receiver, oauthBy(tokens))
    const withoutSecret = { ...oauthBy(tokens).oauth, client_secret: undefined, scope: 'more' }
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
    const receiver = await push.startReceiver()
    const tokens = await startTokenEndpoint(push)
    const { id } = await createStream(receiver, oauthBy(tokens))
    const removed = await patch(id, { delivery: { oauth: null } })
    expect(removed.body.delivery).not.toHaveProperty('oauth')
    expect(await streams.db.selectFrom('ssf_push_credential').selectAll().execute()).toEqual([])
    await patch(id, { delivery: oauthBy(tokens) })
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
    const receiver = await push.startReceiver()
    const { id } = await createStream(receiver, {})
    expect(await patch(id, { delivery: { oauth: value } })).toMatchObject({
      status: 422,
      body: { code: expect.stringMatching(code) as string },
    })
    expect(await streams.db.selectFrom('ssf_push_credential').selectAll().execute()).toEqual([])
  })

  it('is refused beside an authorization header, and for streams that poll', async () => {
    const receiver = await push.startReceiver()
    const tokens = await startTokenEndpoint(push)
    const { id } = await createStream(receiver, oauthBy(tokens))
    expect(await patch(id, { authorization_header: 'Bearer x' })).toMatchObject({ status: 422 })
    const poll = await streams.call('/ssf_streams', {
      method: 'POST',
      payload: { name: 'poll', delivery: { method: 'urn:ietf:rfc:8936', ...oauthBy(tokens) } },
    })
    expect(poll).toMatchObject({ status: 422, body: { details: [{ path: 'delivery.oauth' }] } })
  })
})

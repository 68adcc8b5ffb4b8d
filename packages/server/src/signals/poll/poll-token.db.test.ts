import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { TestRefusal } from '../../../test/support/api-app.ts'
import { refuseWrites } from '../../../test/support/full-disk.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { describeWriteContract } from '../../../test/support/write-contract.ts'
import { generatePollToken, isWellFormedPollToken } from './poll-token-secret.ts'

const PERMISSION = 'Manage Shared Signals Framework Streams'

interface Rotated {
  readonly stream_id: string
  readonly mode: string
  readonly poll_bearer_token: string | null
  readonly created_at: string | null
  readonly previous_valid_until: string | null
}

let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())
afterEach(() => streams.clear())

const createStream = (extra: object = {}) => streams.createStream({ name: 'poll', ...extra })

async function rotate(id: string, payload: object = { mode: 'overlap' }, path = 'poll_token') {
  return streams.call<Rotated>(`/ssf_streams/${id}/${path}`, { method: 'POST', payload })
}

async function issue(id: string, payload?: object): Promise<string> {
  const { status, body } = await rotate(id, payload)
  expect(status).toBe(200)
  return body.poll_bearer_token ?? ''
}

const poll = (id: string, token: string, method: 'GET' | 'POST' = 'GET') =>
  streams.api.request<TestRefusal>(`/ssf_streams/${id}/events`, {
    method,
    key: token,
    ...(method === 'POST' ? { payload: {} } : {}),
  })

describe('a poll token', () => {
  it('ssf-T137 is answered once, kept as a hash, and fetches the events of its stream', async () => {
    const stream = await createStream()
    const { body } = await rotate(stream.id, { mode: 'immediate' })
    const token = body.poll_bearer_token ?? ''
    expect(body).toEqual({
      stream_id: stream.stream_id,
      mode: 'immediate',
      poll_bearer_token: expect.stringMatching(/^hgpt_v1_[0-9A-Za-z]{46}$/) as string,
      created_at: '2026-01-02T03:04:05.678Z',
      previous_valid_until: null,
    })
    for (const identifier of [stream.id, stream.stream_id, stream.stream_id.toUpperCase()]) {
      expect(await poll(identifier, token)).toMatchObject({ status: 200, body: { sets: {} } })
      expect(await poll(identifier, token, 'POST')).toMatchObject({ status: 200 })
    }
    const everything = JSON.stringify([
      await streams.db.selectFrom('ssf_poll_token').selectAll().execute(),
      await streams.db.selectFrom('audit_entry').selectAll().execute(),
      (await streams.call(`/ssf_streams/${stream.id}/poll_token`)).body,
    ])
    expect(everything).not.toContain(token)
    expect(everything).toContain(token.slice(-4))
  })

  it.each(['x-service-poll-bearer-token', 'x-kolide-poll-bearer-token'])(
    'is taken from %s too, beside an API key or alone, and counts when it is there',
    async (name) => {
      const stream = await createStream()
      const token = await issue(stream.id)
      const url = `/ssf_streams/${stream.id}/events`
      const alone = { key: null, headers: { [name]: token } }
      expect(await streams.api.request(url, alone)).toMatchObject({ status: 200 })
      expect(await streams.call(url, { headers: { [name]: token } })).toMatchObject({ status: 200 })
      const wrong = { headers: { [name]: generatePollToken() } }
      expect(await streams.call(url, wrong)).toMatchObject({ status: 401 })
      expect(await streams.call(url, { headers: { [name]: '' } })).toMatchObject({ status: 200 })
    },
  )

  it('opens no other stream and nothing but events', async () => {
    const mine = await createStream()
    const other = await createStream()
    const token = await issue(mine.id)
    const refused = await poll(other.id, token)
    expect(refused).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    expect(refused.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
    for (const path of ['/ssf_streams', `/ssf_streams/${mine.id}`, '/ssf_streams/status']) {
      expect(await streams.api.request(path, { key: token })).toMatchObject({ status: 401 })
    }
    expect(await poll('999999', token)).toMatchObject({ status: 401 })
  })

  it('is refused when it is mistyped, made up or no token at all', async () => {
    const stream = await createStream()
    const token = await issue(stream.id)
    const mistyped = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
    for (const wrong of [mistyped, generatePollToken(), 'hgpt_v1_', 'hgpt_v1_x']) {
      expect(await poll(stream.id, wrong)).toMatchObject({ status: 401 })
    }
    expect(isWellFormedPollToken(token)).toBe(true)
    expect(isWellFormedPollToken(mistyped)).toBe(false)
  })

  it('fetches events also while it cannot be stored that it was used', async () => {
    const stream = await createStream()
    const token = await issue(stream.id)
    await refuseWrites(streams.db, 'ssf_poll_token')
    try {
      expect(await poll(stream.id, token)).toMatchObject({ status: 200 })
    } finally {
      await sql`drop trigger full_disk on ssf_poll_token`.execute(streams.db)
    }
  })

  it('remembers to the minute when it was used', async () => {
    const stream = await createStream()
    const token = await issue(stream.id)
    const lastUsed = async () => {
      const url = `/ssf_streams/${stream.id}/poll_token`
      const { body } = await streams.call<{ tokens: { last_used_at: string | null }[] }>(url)
      return body.tokens[0]?.last_used_at
    }
    expect(await lastUsed()).toBeNull()
    await poll(stream.id, token)
    const first = await lastUsed()
    expect(first).toBe(streams.clock.now().toISOString())
    streams.clock.advance(59_000)
    await poll(stream.id, token)
    expect(await lastUsed()).toBe(first)
    streams.clock.advance(2_000)
    await poll(stream.id, token)
    expect(await lastUsed()).toBe(streams.clock.now().toISOString())
  })

  it('of a stream that is deleted ends with it', async () => {
    const stream = await createStream()
    const token = await issue(stream.id)
    await streams.call(`/ssf_streams/${stream.id}`, { method: 'DELETE' })
    expect(await poll(stream.id, token)).toMatchObject({ status: 401 })
    expect(await streams.db.selectFrom('ssf_poll_token').selectAll().execute()).toEqual([])
  })

  it('of a stream that is deleted does not keep an API key beside it from learning that the stream is gone', async () => {
    const stream = await createStream()
    const sent = { headers: { 'x-kolide-poll-bearer-token': await issue(stream.id) } }
    await streams.call(`/ssf_streams/${stream.id}`, { method: 'DELETE' })
    for (const identifier of [stream.id, stream.stream_id]) {
      const url = `/ssf_streams/${identifier}/events`
      expect(await streams.call(url, sent)).toMatchObject({ status: 404 })
    }
  })

  it('that is refused does not tell which streams there are', async () => {
    const stream = await createStream()
    const headers = { 'x-kolide-poll-bearer-token': 'pollbearer_of_nobody' }
    for (const key of [null, 'of nobody']) {
      const [there, elsewhere] = await Promise.all(
        [stream.id, '999999'].map((id) =>
          streams.api.request<TestRefusal>(`/ssf_streams/${id}/events`, { headers, key }),
        ),
      )
      expect(there).toMatchObject({ status: 401, body: { message: elsewhere?.body.message } })
    }
  })

  it('comes with the creation of a poll stream, and with no other answer', async () => {
    const poller = await streams.call<{ id: string; poll_bearer_token?: string }>('/ssf_streams', {
      method: 'POST',
      payload: { name: 'poll' },
    })
    const token = poller.body.poll_bearer_token ?? ''
    expect(await poll(poller.body.id, token)).toMatchObject({ status: 200 })
    const shown = await streams.call(`/ssf_streams/${poller.body.id}`)
    expect(shown.body).not.toHaveProperty('poll_bearer_token')
    const pusher = await streams.call('/ssf_streams', {
      method: 'POST',
      payload: {
        name: 'push',
        delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: 'https://receiver.example.com/' },
      },
    })
    expect(pusher.body).not.toHaveProperty('poll_bearer_token')
  })
})

describe('rotating poll tokens', () => {
  it.each(['poll_token', 'rotate_poll_token'])(
    'with overlap accepts the old one for as long as was asked, by /%s',
    async (path) => {
      const stream = await createStream()
      const old = await issue(stream.id)
      const { body } = await rotate(stream.id, { mode: 'overlap', overlap_seconds: 60 }, path)
      const until = new Date(streams.clock.now().getTime() + 60_000).toISOString()
      expect(body.previous_valid_until).toBe(until)
      expect(await poll(stream.id, old)).toMatchObject({ status: 200 })
      streams.clock.advance(60_000)
      expect(await poll(stream.id, old)).toMatchObject({ status: 401 })
      expect(await poll(stream.id, body.poll_bearer_token ?? '')).toMatchObject({ status: 200 })
    },
  )

  it('with overlap lasts a day when nothing else is said, and never prolongs an older one', async () => {
    const stream = await createStream()
    await rotate(stream.id, { mode: 'disable' })
    const oldest = await issue(stream.id, {})
    await rotate(stream.id, { overlap_seconds: 60 })
    const { body } = await rotate(stream.id, {})
    const day = new Date(streams.clock.now().getTime() + 86_400_000).toISOString()
    expect(body.previous_valid_until).toBe(day)
    streams.clock.advance(61_000)
    expect(await poll(stream.id, oldest)).toMatchObject({ status: 401 })
  })

  it('at once refuses the old ones on the next request', async () => {
    const stream = await createStream()
    const old = await issue(stream.id)
    const fresh = await issue(stream.id, { mode: 'immediate' })
    expect(await poll(stream.id, old)).toMatchObject({ status: 401 })
    expect(await poll(stream.id, fresh)).toMatchObject({ status: 200 })
  })

  it('with disable leaves none, and an API key still polls', async () => {
    const stream = await createStream()
    const old = await issue(stream.id)
    const { body } = await rotate(stream.id, { mode: 'disable' })
    expect(body).toMatchObject({ mode: 'disable', poll_bearer_token: null, created_at: null })
    expect(await poll(stream.id, old)).toMatchObject({ status: 401 })
    expect(await streams.call(`/ssf_streams/${stream.id}/events`)).toMatchObject({ status: 200 })
    const url = `/ssf_streams/${stream.id}/poll_token`
    expect((await streams.call<{ tokens: [] }>(url)).body.tokens).toEqual([])
  })

  it('keeps ten tokens at most', async () => {
    const stream = await createStream()
    const first = await issue(stream.id, { mode: 'immediate' })
    for (let index = 0; index < 10; index += 1) await issue(stream.id)
    const url = `/ssf_streams/${stream.id}/poll_token`
    expect((await streams.call<{ tokens: [] }>(url)).body.tokens).toHaveLength(10)
    expect(await poll(stream.id, first)).toMatchObject({ status: 401 })
  })

  it('leaves an audit entry with the mode, and without the token', async () => {
    const stream = await createStream()
    const token = await issue(stream.id)
    await rotate(stream.id, { mode: 'disable' })
    const entries = await streams.db
      .selectFrom('audit_entry')
      .select(['action', 'after'])
      .where('target_id', '=', stream.id)
      .where('action', 'like', '%poll_token%')
      .orderBy('sequence')
      .execute()
    expect(entries.slice(-2)).toEqual([
      {
        action: 'ssf_stream.poll_token_issued',
        after: expect.objectContaining({ mode: 'overlap', last_four: token.slice(-4) }) as object,
      },
      {
        action: 'ssf_stream.poll_tokens_revoked',
        after: { mode: 'disable', last_four: null, previous_valid_until: null },
      },
    ])
  })

  it('is refused for a stream that pushes, but its tokens can be taken away', async () => {
    const stream = await createStream({
      delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: 'https://receiver.example.com/' },
    })
    expect(await rotate(stream.id)).toMatchObject({ status: 409 })
    expect(await rotate(stream.id, { mode: 'disable' })).toMatchObject({ status: 200 })
  })

  it.each([
    { mode: 'soon' },
    { mode: 'overlap', overlap_seconds: 0 },
    { mode: 'overlap', overlap_seconds: 604_801 },
    { mode: 'overlap', overlap_seconds: 1.5 },
    { colour: 'red' },
  ])('refuses %j with 422, and issues nothing', async (payload) => {
    const stream = await createStream()
    const count = () => streams.db.selectFrom('ssf_poll_token').selectAll().execute()
    const before = await count()
    expect(await rotate(stream.id, payload)).toMatchObject({ status: 422 })
    expect(await count()).toEqual(before)
  })
})

describeWriteContract({
  api: () => streams.api,
  method: 'POST',
  path: () => '/ssf_streams/1/poll_token',
  payload: () => ({ mode: 'overlap' }),
  permission: PERMISSION,
  missingPaths: () => ['/ssf_streams/999999/poll_token'],
})

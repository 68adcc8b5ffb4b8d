import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { TestRefusal } from '../../../test/support/api-app.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'

const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'
const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification'
const PUSH = 'urn:ietf:rfc:8935'
const POLL = 'urn:ietf:rfc:8936'
const URL_A = 'https://receiver.example.com/events'

interface Stream {
  readonly id: string
  readonly stream_id: string
  readonly name: string
  readonly aud: string
  readonly enabled: boolean
  readonly status: string
  readonly delivery_type: string
  readonly delivery: { readonly method: string; readonly endpoint_url: string }
  readonly authorization_header_set: boolean
  readonly updated_at: string
}
let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi({ streamsMax: 5 })
})
afterAll(() => streams.close())
afterEach(() => streams.clear())

const standardPush = {
  name: 'Okta',
  delivery: { method: PUSH, endpoint_url: URL_A },
  events_requested: [COMPLIANCE],
}

const create = (payload: object = standardPush) => streams.createStream<Stream>(payload)

/** How many verification events a poll gives: a stream that stopped also tells of that. */
async function verificationsOf({ id }: Stream): Promise<number> {
  const { body } = await streams.call<{ sets: Record<string, string> }>(`/ssf_streams/${id}/events`)
  const claims = Object.values(body.sets).map((token) =>
    Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(),
  )
  return claims.filter((text) => text.includes(VERIFICATION)).length
}

async function refused(payload: object, url = '/ssf_streams', method: 'POST' | 'PATCH' = 'POST') {
  const { status, body } = await streams.call<TestRefusal>(url, { method, payload })
  return { status, code: body.code, paths: body.details?.map(({ path }) => path), body }
}

describe('creating a stream', () => {
  it('answers the standard body with the whole stream', async () => {
    expect(await create()).toEqual({
      id: expect.stringMatching(/^\d+$/) as string,
      iss: 'https://trust.example.com',
      stream_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      name: 'Okta',
      description: null,
      aud: URL_A,
      delivery_type: 'push',
      enabled: true,
      status: 'enabled',
      status_reason: null,
      events_supported: [COMPLIANCE],
      events_requested: [COMPLIANCE, VERIFICATION],
      events_delivered: [COMPLIANCE],
      delivery: { method: PUSH, endpoint_url: URL_A },
      authorization_header_set: false,
      profile: 'interface',
      spec_version: '1.0',
      subject_form: 'complex',
      reason_fields: ['reason_admin', 'reason_user'],
      reason_details: ['issue_titles', 'device_name'],
      opaque_identifiers: false,
      pairwise_identifiers: false,
      omit_more_available: false,
      legacy_status_codes: false,
      heliograph_sequence: false,
      damping_seconds: 0,
      default_subjects: 'ALL',
      fallback_to_poll: false,
      fallback: null,
      heartbeat_minutes: null,
      created_at: '2026-01-02T03:04:05.678Z',
      updated_at: '2026-01-02T03:04:05.678Z',
    })
  })

  it('creates the same stream from the wrapped body', async () => {
    const wrapped = await create({
      ssf_stream: {
        name: 'Okta',
        aud: URL_A,
        delivery_type: 'push',
        event_subscriptions: [COMPLIANCE],
      },
    })
    const standard = await create()
    const own = { id: '', stream_id: '' }
    expect({ ...wrapped, ...own }).toEqual({ ...standard, ...own })
  })

  it('polls by default, at its own address, which is its audience', async () => {
    const stream = await create({ name: '  Poller  ' })
    const own = `https://trust.example.com/ssf_streams/${stream.stream_id}/events`
    expect(stream).toMatchObject({
      name: 'Poller',
      delivery_type: 'poll',
      aud: own,
      delivery: { method: POLL, endpoint_url: own },
    })
  })

  it('keeps the informational URL of a poll stream, blank ones aside', async () => {
    const told = await create({ name: 'a', delivery: { method: POLL, endpoint_url: URL_A } })
    expect(told).toMatchObject({ aud: URL_A, delivery: { method: POLL, endpoint_url: URL_A } })
    const blank = await create({ name: 'b', delivery: { method: POLL, endpoint_url: '' } })
    expect(blank.aud).toContain(blank.stream_id)
  })

  it.each([
    { authorization_header: 'Bearer one' },
    { delivery: { ...standardPush.delivery, authorization_header: 'Bearer one' } },
    {
      authorization_header: 'Bearer one',
      delivery: { ...standardPush.delivery, authorization_header: 'Bearer one' },
    },
  ])('takes an authorization header in either place, and never answers it: %j', async (extra) => {
    const stream = await create({ ...standardPush, ...extra })
    expect(stream.authorization_header_set).toBe(true)
    expect(JSON.stringify(stream)).not.toContain('Bearer one')
    const row = await streams.db.selectFrom('ssf_stream').selectAll().executeTakeFirstOrThrow()
    expect(row.authorization_header_sealed?.toString('latin1')).not.toContain('Bearer one')
    const audit = await streams.db
      .selectFrom('audit_entry')
      .selectAll()
      .where('target_id', '=', stream.id)
      .execute()
    expect(audit.map(({ action }) => action)).toEqual(['ssf_stream.created'])
    expect(JSON.stringify(audit)).not.toContain('Bearer one')
  })

  it('takes a header without a scheme word as it is, and warns of it without telling it', async () => {
    streams.warned.mockClear()
    const bare = { ...standardPush, authorization_header: 'a-bare-token' }
    const stream = await create(bare)
    expect(streams.warned).toHaveBeenCalledOnce()
    expect(streams.warned.mock.calls[0]?.[0]).toMatchObject({ stream_id: stream.stream_id })
    expect(JSON.stringify(streams.warned.mock.calls)).not.toContain('bare-token')
    await create({ ...standardPush, authorization_header: 'Bearer two' })
    const url = `/ssf_streams/${stream.id}`
    const payload = { authorization_header: 'Basic three' }
    await streams.call(url, { method: 'PATCH', payload })
    expect(streams.warned).toHaveBeenCalledOnce()
    await streams.call(url, { method: 'PATCH', payload: { authorization_header: 'four' } })
    expect(streams.warned).toHaveBeenCalledTimes(2)
  })

  it.each([
    ['no name', { delivery: standardPush.delivery }, ['name']],
    ['a blank name', { ...standardPush, name: '   ' }, ['name']],
    ['a long name', { ...standardPush, name: 'x'.repeat(256) }, ['name']],
    ['control characters in the name', { ...standardPush, name: 'a\u0000b' }, ['name']],
    ['a name that is no text', { ...standardPush, name: 7 }, ['name']],
    ['an audience in the standard body', { ...standardPush, aud: URL_A }, ['aud']],
    [
      'an unknown delivery method',
      { ...standardPush, delivery: { method: 'urn:ietf:rfc:1', endpoint_url: URL_A } },
      ['delivery.method'],
    ],
    ['push without a URL', { name: 'a', delivery: { method: PUSH } }, ['delivery.endpoint_url']],
    [
      'a delivery that says where and not how',
      { name: 'a', delivery: { endpoint_url: URL_A } },
      ['delivery.method'],
    ],
    [
      'a URL that is none',
      { name: 'a', delivery: { method: PUSH, endpoint_url: 'not a url' } },
      ['delivery.endpoint_url'],
    ],
    [
      'a URL with a character that cannot be stored',
      { name: 'a', delivery: { method: POLL, endpoint_url: `${URL_A}\u0000` } },
      ['delivery.endpoint_url'],
    ],
    [
      'a URL that readers of URLs disagree about',
      { ssf_stream: { name: 'a', aud: 'https://receiver.example.com\\@127.0.0.1/' } },
      ['ssf_stream.aud'],
    ],
    [
      'an unsupported event type',
      { ...standardPush, events_requested: [COMPLIANCE, 'https://example.com/other'] },
      ['events_requested.1'],
    ],
    ['no event type', { ...standardPush, events_requested: [] }, ['events_requested']],
    ['events as a text', { ...standardPush, events_requested: COMPLIANCE }, ['events_requested']],
    ['an unknown member', { ...standardPush, colour: 'red' }, ['colour']],
    [
      'an unknown member of the delivery',
      { ...standardPush, delivery: { ...standardPush.delivery, speed: 1 } },
      ['delivery.speed'],
    ],
    [
      'a header that would add headers',
      { ...standardPush, authorization_header: 'Bearer x\r\nX-Evil: 1' },
      ['authorization_header'],
    ],
    [
      'two different authorization headers',
      {
        ...standardPush,
        authorization_header: 'Bearer one',
        delivery: { ...standardPush.delivery, authorization_header: 'Bearer two' },
      },
      ['delivery.authorization_header'],
    ],
    [
      'an authorization header for a poll stream',
      { name: 'a', authorization_header: 'Bearer one' },
      ['authorization_header'],
    ],
    ['a wrapper without a name', { ssf_stream: { delivery_type: 'poll' } }, ['ssf_stream.name']],
    [
      'a wrapper that pushes nowhere',
      { ssf_stream: { name: 'a', delivery_type: 'push' } },
      ['ssf_stream.aud'],
    ],
    [
      'a wrapper with an unknown delivery type',
      { ssf_stream: { name: 'a', aud: URL_A, delivery_type: 'carrier pigeon' } },
      ['ssf_stream.delivery_type'],
    ],
    [
      'both forms at once',
      { name: 'a', ssf_stream: { name: 'b', delivery_type: 'poll' } },
      ['name'],
    ],
  ])('refuses %s with 422 and the place', async (_what, payload, paths) => {
    const refusal = await refused(payload)
    expect(refusal).toMatchObject({ status: 422, code: 'invalid_body', paths })
    expect(JSON.stringify(refusal.body)).not.toContain('Bearer')
    expect(await streams.db.selectFrom('ssf_stream').selectAll().execute()).toEqual([])
  })

  it.each([
    ['http://receiver.example.com/events', /https/],
    ['https://127.0.0.2/events', /loopback|not allow-listed/],
    ['https://10.1.2.3/events', /private/],
    ['https://[::1]/events', /loopback/],
    ['https://printer.local/events', /internal/],
    ['https://user:pass@receiver.example.com/', /user name/],
  ])('refuses to push to %s and says why', async (url, reason) => {
    const refusal = await refused({ name: 'a', delivery: { method: PUSH, endpoint_url: url } })
    expect(refusal).toMatchObject({
      status: 422,
      code: 'target_refused',
      paths: ['delivery.endpoint_url'],
    })
    expect(refusal.body.message).toMatch(reason)
    const wrapped = { name: 'a', aud: url, delivery_type: 'push' }
    expect(await refused({ ssf_stream: wrapped })).toMatchObject({ paths: ['ssf_stream.aud'] })
  })

  it('refuses one stream more than the limit allows', async () => {
    for (const name of ['1', '2', '3', '4', '5']) await create({ name })
    expect(await refused({ name: '6' })).toMatchObject({ status: 409, code: 'limit_reached' })
  })
})

describe('access', () => {
  const requests = [
    ['GET', '/ssf_streams'],
    ['POST', '/ssf_streams'],
    ['GET', '/ssf_streams/1'],
    ['PATCH', '/ssf_streams/1'],
    ['PUT', '/ssf_streams/1'],
    ['DELETE', '/ssf_streams/1'],
    ['GET', '/ssf_streams?stream_id=1'],
    ['PATCH', '/ssf_streams'],
    ['PUT', '/ssf_streams'],
    ['DELETE', '/ssf_streams?stream_id=1'],
    ['POST', '/ssf_streams/verify'],
    ['GET', '/ssf_streams/1/poll_token'],
    ['POST', '/ssf_streams/1/poll_token'],
    ['POST', '/ssf_streams/1/rotate_poll_token'],
    ['POST', '/ssf_streams/1/test'],
    ['GET', '/ssf_streams/1/events'],
    ['POST', '/ssf_streams/1/events'],
    ['GET', '/ssf_streams/status?stream_id=1'],
    ['POST', '/ssf_streams/status'],
  ] as const

  it.each(requests)('%s %s wants a credential and the permission', async (method, url) => {
    const anonymous = await streams.api.request<TestRefusal>(url, { method, key: null })
    expect(anonymous.status).toBe(401)
    expect(anonymous.headers['www-authenticate']).toBe('Bearer')
    const reader = await streams.api.request<TestRefusal>(url, { method })
    expect(reader).toMatchObject({ status: 403, body: { error: 'Forbidden' } })
    expect(reader.body.message).toContain('Manage Shared Signals Framework Streams')
  })

  it.each([
    ['GET', '/ssf_streams/999999'],
    ['GET', '/ssf_streams/0b2b6f0e-0000-4000-8000-000000000000'],
    ['GET', '/ssf_streams/nonsense'],
    ['PATCH', '/ssf_streams/999999'],
    ['DELETE', '/ssf_streams/999999'],
    ['POST', '/ssf_streams/999999/test'],
    ['GET', '/ssf_streams/999999/events'],
    ['POST', '/ssf_streams/999999/events'],
  ] as const)('%s %s answers 404', async (method, url) => {
    const payload = url.endsWith('test') ? { payload: { email: 'a@example.com' } } : {}
    expect(await streams.call(url, { method, ...payload })).toMatchObject({ status: 404 })
  })
})

describe('reading streams', () => {
  it('shows a stream by id and by stream_id', async () => {
    const stream = await create()
    for (const identifier of [stream.id, stream.stream_id, stream.stream_id.toUpperCase()]) {
      const { status, body } = await streams.call(`/ssf_streams/${identifier}`)
      expect({ status, body }).toEqual({ status: 200, body: stream })
    }
  })

  it('lists streams in the envelope, oldest first, page by page', async () => {
    const names = ['a', 'b', 'c']
    for (const name of names) await create({ name })
    interface List {
      data: Stream[]
      pagination: { next_cursor: string; count: number }
    }
    const first = await streams.call<List>('/ssf_streams?per_page=2')
    expect(first.body.data.map(({ name }) => name)).toEqual(['a', 'b'])
    const cursor = first.body.pagination.next_cursor
    const second = await streams.call<List>(`/ssf_streams?cursor=${cursor}`)
    expect(second.body.data.map(({ name }) => name)).toEqual(['c'])
    expect(second.body.pagination).toMatchObject({ next_cursor: '', count: 1 })
  })
})

describe('changing a stream', () => {
  it('changes what is given, in either form, and moves updated_at', async () => {
    const stream = await create()
    streams.clock.advance(1_000)
    const url = `/ssf_streams/${stream.id}`
    const renamed = await streams.call<Stream>(url, {
      method: 'PATCH',
      payload: { ssf_stream: { name: 'Renamed' } },
    })
    expect(renamed.body).toMatchObject({
      ...stream,
      name: 'Renamed',
      updated_at: expect.any(String) as string,
    })
    expect(renamed.body.updated_at).not.toBe(stream.updated_at)
    const moved = await streams.call<Stream>(`/ssf_streams/${stream.stream_id}`, {
      method: 'PUT',
      payload: { delivery: { endpoint_url: 'https://other.example.com/' } },
    })
    expect(moved.body).toMatchObject({
      name: 'Renamed',
      aud: 'https://other.example.com/',
      delivery: { method: PUSH, endpoint_url: 'https://other.example.com/' },
    })
    const wrapped = await streams.call<Stream>(url, {
      method: 'PATCH',
      payload: { ssf_stream: { aud: URL_A } },
    })
    expect(wrapped.body).toMatchObject({ aud: URL_A, delivery: { endpoint_url: URL_A } })
  })

  it('moves updated_at alone when nothing changes', async () => {
    const stream = await create()
    streams.clock.advance(1_000)
    const same = await streams.call<Stream>(`/ssf_streams/${stream.id}`, {
      method: 'PATCH',
      payload: standardPush,
    })
    expect(same.body).toEqual({ ...stream, updated_at: expect.any(String) as string })
    expect(same.body.updated_at > stream.updated_at).toBe(true)
    expect((await streams.call(`/ssf_streams/${stream.id}`)).body).toEqual(same.body)
  })

  it('switches from push to poll and back, forgetting the authorization header', async () => {
    const stream = await create({ ...standardPush, authorization_header: 'Bearer one' })
    const url = `/ssf_streams/${stream.id}`
    const polled = await streams.call<Stream>(url, {
      method: 'PATCH',
      payload: { delivery: { method: POLL } },
    })
    expect(polled.body).toMatchObject({ delivery_type: 'poll', authorization_header_set: false })
    const pushed = await streams.call<Stream>(url, {
      method: 'PATCH',
      payload: { ssf_stream: { delivery_type: 'push' } },
    })
    expect(pushed.body).toMatchObject({ delivery_type: 'push', delivery: { endpoint_url: URL_A } })
    const kinds = await streams.db.selectFrom('delivery_destination').select('kind').execute()
    expect(kinds).toEqual([{ kind: 'ssf_push' }])
  })

  it('does not switch to push without an address that events may be pushed to', async () => {
    const stream = await create({ name: 'poll' })
    const url = `/ssf_streams/${stream.id}`
    expect(await refused({ delivery: { method: PUSH } }, url, 'PATCH')).toMatchObject({
      status: 422,
      paths: ['delivery.endpoint_url'],
    })
    const local = await create({
      name: 'informational',
      delivery: { method: POLL, endpoint_url: 'http://10.0.0.1/' },
    })
    expect(
      await refused({ delivery: { method: PUSH } }, `/ssf_streams/${local.id}`, 'PATCH'),
    ).toMatchObject({ status: 422, code: 'target_refused' })
  })

  it('sends the tokens of a client secret to no other host than the one that it was given for', async () => {
    const stream = await create({ ...standardPush, authorization_header: 'Bearer one' })
    const path = `/ssf_streams/${stream.id}`
    const elsewhere = { endpoint_url: 'https://elsewhere.example.com/events' }
    const change = async (payload: object) =>
      (await streams.call<Stream>(path, { method: 'PATCH', payload })).body
    // A header goes with the address.
    const moved = await change({ ssf_stream: { aud: elsewhere.endpoint_url } })
    expect(moved).toMatchObject({ delivery: elsewhere, authorization_header_set: true })
    const oauth = { token_endpoint: 'https://id.example.com/token', client_id: 'a' }
    const delivery = { endpoint_url: URL_A, oauth: { ...oauth, client_secret: 'b' } }
    await change({ delivery, authorization_header: null })
    for (const kept of [{}, { oauth }]) {
      const again = { delivery: { ...elsewhere, ...kept } }
      const paths = ['delivery.oauth.client_secret']
      expect(await refused(again, path, 'PATCH')).toMatchObject({ status: 422, paths })
    }
    for (const url of ['/other', 'https://receiver.example.com:8443/events']) {
      const sameHost = { endpoint_url: new URL(url, URL_A).href }
      expect(await change({ delivery: sameHost })).toMatchObject({ delivery: sameHost })
    }
    const signed = { ...oauth, auth_method: 'private_key_jwt' }
    expect(await change({ delivery: { ...elsewhere, oauth: signed } })).toMatchObject({
      delivery: { ...elsewhere, oauth: { ...signed, client_secret_set: false } },
    })
    await change({ delivery })
    const back = { delivery: { ...elsewhere, oauth: null } }
    expect(await change(back)).toMatchObject({ delivery: elsewhere })
  })

  it('removes the authorization header with null', async () => {
    const stream = await create({ ...standardPush, authorization_header: 'Bearer one' })
    const { body } = await streams.call<Stream>(`/ssf_streams/${stream.id}`, {
      method: 'PATCH',
      payload: { authorization_header: null },
    })
    expect(body.authorization_header_set).toBe(false)
  })

  it.each([
    [{ name: '' }, ['name']],
    [{ aud: URL_A }, ['aud']],
    [{ enabled: 'yes' }, ['enabled']],
    [{ ssf_stream: { event_subscriptions: ['x'] } }, ['ssf_stream.event_subscriptions.0']],
    [{ stream_id: 'mine' }, ['stream_id']],
  ])('refuses %j with 422', async (payload, paths) => {
    const stream = await create()
    const refusal = await refused(payload, `/ssf_streams/${stream.id}`, 'PATCH')
    expect(refusal).toMatchObject({ status: 422, code: 'invalid_body', paths })
  })

  it('switches a stream off, giving up what is queued, and on again', async () => {
    const stream = await create({ name: 'poll' })
    const url = `/ssf_streams/${stream.id}`
    await streams.call(`${url}/test`, { method: 'POST', payload: { email: 'a@example.com' } })
    const off = await streams.call<Stream>(url, { method: 'PATCH', payload: { enabled: false } })
    expect(off.body).toMatchObject({ enabled: false, status: 'disabled' })
    const tests = streams.db.selectFrom('delivery').where('event_type', '=', VERIFICATION)
    expect(await tests.select('state').execute()).toEqual([{ state: 'discarded' }])
    expect((await streams.call(`${url}/events`)).body).toEqual({ sets: {} })
    const on = await streams.call<Stream>(url, {
      method: 'PATCH',
      payload: { ssf_stream: { enabled: true } },
    })
    expect(on.body).toMatchObject({ enabled: true, status: 'enabled' })
    expect(await verificationsOf(stream)).toBe(0)
  })
})

describe('the status endpoint', () => {
  it('pauses and shows, holding what is queued', async () => {
    const stream = await create({ name: 'poll' })
    await streams.call(`/ssf_streams/${stream.id}/test`, {
      method: 'POST',
      payload: { email: 'a@example.com' },
    })
    const set = await streams.call('/ssf_streams/status', {
      method: 'POST',
      payload: { stream_id: stream.stream_id, status: 'paused', reason: 'maintenance' },
    })
    const expected = { stream_id: stream.stream_id, status: 'paused', reason: 'maintenance' }
    expect(set).toMatchObject({ status: 200, body: expected })
    const url = `/ssf_streams/status?stream_id=${stream.stream_id}`
    expect((await streams.call(url)).body).toEqual(expected)
    const events = `/ssf_streams/${stream.id}/events`
    expect((await streams.call(events)).body).toEqual({ sets: {} })
    await streams.call(`/ssf_streams/${stream.id}`, { method: 'PATCH', payload: { enabled: true } })
    expect(await verificationsOf(stream)).toBe(1)
  })

  it('refuses other words and a missing stream', async () => {
    const payload = { stream_id: '1', status: 'asleep' }
    expect(await refused(payload, '/ssf_streams/status')).toMatchObject({ status: 422 })
    expect(
      await refused({ stream_id: '999', status: 'paused' }, '/ssf_streams/status'),
    ).toMatchObject({ status: 404 })
    expect(await streams.call('/ssf_streams/status')).toMatchObject({ status: 400 })
  })
})

describe('deleting a stream', () => {
  it('answers 204 without a body, and the stream is gone with its queue', async () => {
    const stream = await create()
    const url = `/ssf_streams/${stream.stream_id}`
    const { status, body } = await streams.call(url, { method: 'DELETE' })
    expect({ status, body }).toMatchObject({ status: 204 })
    expect(await streams.call(url)).toMatchObject({ status: 404 })
    const [destination] = await streams.db.selectFrom('delivery_destination').selectAll().execute()
    expect(destination?.state).toBe('deleted')
  })
})

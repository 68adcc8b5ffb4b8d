import { parseStreamConfiguration } from '@heliograph/ssf'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { TestRefusal, TestRequest } from '../../../test/support/api-app.ts'
import { queueEvents } from '../../../test/support/queue-events.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'

const SESSION = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'
const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification'
const PUSH = 'urn:ietf:rfc:8935'
const POLL = 'urn:ietf:rfc:8936'
const URL_A = 'https://receiver.example.com/events'
const UNKNOWN = '0b2b6f0e-0000-4000-8000-000000000000'

interface Stream {
  readonly id: string
  readonly stream_id: string
  readonly aud: string
  readonly description: string | null
  readonly delivery: { readonly method: string; readonly endpoint_url: string }
}
type Refusal = TestRefusal & { details?: { path: string }[] }

let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())
afterEach(() => streams.clear())

async function create(extra: object = {}): Promise<Stream> {
  const { id } = await streams.createStream({ name: 'poll', ...extra })
  return (await streams.call<Stream>(`/ssf_streams/${id}`)).body
}

const push = { delivery: { method: PUSH, endpoint_url: URL_A } }
const send = <Body = Stream>(method: NonNullable<TestRequest['method']>, payload: object) =>
  streams.call<Body>('/ssf_streams', { method, payload })

const lastAuditEntry = () =>
  streams.db
    .selectFrom('audit_entry')
    .select(['sequence', 'action'])
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()

describe('reading one stream of the collection', () => {
  it('ssf-T067 answers one object for stream_id, by either identifier', async () => {
    const stream = await create(push)
    await create()
    for (const identifier of [stream.stream_id, stream.id]) {
      const { status, body } = await streams.call(`/ssf_streams?stream_id=${identifier}`)
      expect([status, body]).toEqual([200, stream])
      expect(parseStreamConfiguration(body)).toMatchObject({ ok: true })
    }
  })

  it('ssf-T069 answers 404 for a stream that does not exist, and 400 for parameters of lists beside', async () => {
    const { stream_id: streamId } = await create()
    expect(await streams.call(`/ssf_streams?stream_id=${UNKNOWN}`)).toMatchObject({ status: 404 })
    const url = `/ssf_streams?stream_id=${streamId}&per_page=2`
    expect(await streams.call(url)).toMatchObject({ status: 400 })
    expect(await streams.call('/ssf_streams?stream_id=')).toMatchObject({ status: 400 })
  })

  it('is among what is said to be allowed where something else is asked for', async () => {
    const { body } = await streams.call<Refusal>('/ssf_streams?limit=5')
    expect(body.message).toContain('Allowed: cursor, per_page, stream_id.')
  })
})

describe('updating a stream of the collection', () => {
  it('ssf-T071 changes what is there and leaves the rest, in one audit entry', async () => {
    const before = await create({ ...push, description: 'old' })
    const { status, body } = await send('PATCH', {
      stream_id: before.stream_id,
      description: 'new',
      name: 'Gateway',
    })
    expect([status, body]).toEqual([
      200,
      { ...before, description: 'new', name: 'Gateway', updated_at: expect.any(String) as string },
    ])
    expect(await lastAuditEntry()).toMatchObject({ action: 'ssf_stream.updated' })
  })

  it('removes a description that is null', async () => {
    const before = await create({ ...push, description: 'old' })
    const payload = { stream_id: before.stream_id, description: null }
    expect(await send('PATCH', payload)).toMatchObject({ status: 200, body: { description: null } })
    expect(await lastAuditEntry()).toMatchObject({ action: 'ssf_stream.updated' })
  })

  it('ssf-T073 takes its own answer back as it is, and leaves no trace of it', async () => {
    const before = await create({ description: 'same' })
    const last = await lastAuditEntry()
    for (const method of ['PATCH', 'PUT'] as const) {
      expect(await send(method, before)).toMatchObject({ status: 200, body: { aud: before.aud } })
    }
    expect(await lastAuditEntry()).toEqual(last)
    const row = await streams.db.selectFrom('ssf_stream').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ endpoint_url: null, status: 'enabled' })
  })

  it.each([
    ['aud', { aud: 'https://other.example.com/' }],
    ['iss', { iss: 'https://other.example.com' }],
    ['events_supported', { events_supported: [] }],
    ['events_delivered', { events_delivered: [VERIFICATION] }],
  ])('ssf-T073 refuses to change %s with 400, and changes nothing', async (path, member) => {
    const before = await create(push)
    const payload = { stream_id: before.stream_id, description: 'new', ...member }
    const { status, body } = await send<Refusal>('PATCH', payload)
    expect(status).toBe(400)
    expect(body.details?.map((detail) => detail.path)).toEqual([path])
    expect((await streams.call(`/ssf_streams/${before.id}`)).body).toEqual(before)
  })

  it.each([
    ['enabled', { enabled: false }],
    ['status', { status: 'paused' }],
    ['delivery_type', { delivery_type: 'poll' }],
    ['fallback_to_poll', { fallback_to_poll: true }],
    ['heartbeat_minutes', { heartbeat_minutes: 5 }],
    ['authorization_header', { authorization_header: 'Bearer one' }],
    ['ssf_stream', { ssf_stream: { name: 'other' } }],
  ])('refuses %s, which is changed elsewhere, instead of passing over it', async (path, member) => {
    const before = await create(push)
    for (const method of ['PATCH', 'PUT'] as const) {
      const payload = { ...push, stream_id: before.stream_id, description: 'new', ...member }
      const { status, body } = await send<Refusal>(method, payload)
      expect([status, body.details?.map((detail) => detail.path)]).toEqual([400, [path]])
      expect(JSON.stringify(body)).not.toContain('Bearer')
    }
    expect((await streams.call(`/ssf_streams/${before.id}`)).body).toEqual(before)
  })

  it('passes over members that it does not know', async () => {
    const { stream_id: streamId } = await create()
    const { status } = await send('PATCH', { stream_id: streamId, format: 'x', colour: 'red' })
    expect(status).toBe(200)
  })

  it('ssf-T051 keeps the audience when the address changes', async () => {
    const before = await create(push)
    const { body } = await send('PATCH', {
      stream_id: before.stream_id,
      delivery: { method: PUSH, endpoint_url: 'https://moved.example.com/' },
    })
    expect(body).toMatchObject({
      aud: before.aud,
      delivery: { endpoint_url: 'https://moved.example.com/' },
    })
  })

  it('ssf-T053 ignores event types that it does not know, and remembers what was asked for', async () => {
    const { stream_id: streamId } = await create()
    const other = 'https://schemas.openid.net/secevent/caep/event-type/credential-change'
    const asked = await send('PATCH', {
      stream_id: streamId,
      events_requested: [other, COMPLIANCE],
    })
    expect(asked.body).toMatchObject({
      events_requested: [other, COMPLIANCE, VERIFICATION],
      events_delivered: [COMPLIANCE],
    })
    const none = await send('PATCH', { stream_id: streamId, events_requested: [] })
    expect(none.body).toMatchObject({ events_delivered: [] })
  })

  it('offers revoked sessions to whoever asks for them, and to nobody else', async () => {
    const { stream_id: streamId } = await create()
    const asked = await send('PATCH', {
      stream_id: streamId,
      events_requested: [SESSION, COMPLIANCE],
    })
    expect(asked.body).toMatchObject({
      events_supported: [COMPLIANCE, SESSION],
      events_delivered: [COMPLIANCE, SESSION],
    })
    const back = await send('PATCH', { stream_id: streamId, events_requested: [COMPLIANCE] })
    expect(back.body).toMatchObject({
      events_supported: [COMPLIANCE],
      events_delivered: [COMPLIANCE],
    })
  })

  it.each([
    ['standard', { events_requested: [COMPLIANCE] }],
    ['wrapped', { ssf_stream: { event_subscriptions: [COMPLIANCE] } }],
  ])(
    'keeps what a %s change of the record cannot name, and what waits of that',
    async (_, payload) => {
      const { id, stream_id: streamId } = await create()
      await send('PATCH', { stream_id: streamId, events_requested: [SESSION] })
      await queueEvents(streams, await streams.getDestinationId(id), [null], SESSION)
      const changed = await streams.call(`/ssf_streams/${id}`, { method: 'PATCH', payload })
      expect(changed).toMatchObject({
        status: 200,
        body: { events_delivered: [COMPLIANCE, SESSION] },
      })
      const waiting = await streams.db.selectFrom('delivery').select('state').execute()
      expect(waiting).toEqual([{ state: 'queued' }])
    },
  )

  it('ssf-T072 replaces: what is left out of a PUT is gone', async () => {
    const before = await create({ ...push, description: 'old', subject_form: 'iss_sub' })
    const { body } = await send('PUT', { stream_id: before.stream_id, ...push })
    expect(body).toMatchObject({ description: null, delivery: push.delivery, name: 'poll' })
    expect(body).toMatchObject({ subject_form: 'iss_sub', events_delivered: [COMPLIANCE] })
    const polled = await send('PUT', { stream_id: before.stream_id })
    expect(polled.body).toMatchObject({ delivery: { method: POLL } })
  })

  it('forgets the header of a push whose delivery is replaced without one', async () => {
    const delivery = { ...push.delivery, authorization_header: 'Bearer one' }
    const { stream_id: streamId } = await create({ delivery })
    const kept = await send('PATCH', { stream_id: streamId, description: 'x' })
    expect(kept.body).toMatchObject({ authorization_header_set: true })
    const gone = await send('PATCH', { stream_id: streamId, ...push })
    expect(gone.body).toMatchObject({ authorization_header_set: false })
  })

  it.each([
    ['no stream_id', { description: 'x' }],
    ['a delivery of no kind', { delivery: { method: 'urn:ietf:rfc:1' } }],
    ['a push to nowhere', { delivery: { method: PUSH } }],
    [
      'a push to an address inside',
      { delivery: { method: PUSH, endpoint_url: 'https://10.0.0.1/' } },
    ],
    ['a list that is none', { events_requested: 'all' }],
    ['a choice that does not exist', { profile: 'best' }],
    ['a description that is no text', { description: 7 }],
  ])('ssf-T075 refuses %s with 400', async (what, extra) => {
    const before = await create()
    const named = what === 'no stream_id' ? {} : { stream_id: before.stream_id }
    for (const method of ['PATCH', 'PUT'] as const) {
      const { status, body } = await send<Refusal>(method, { ...named, ...extra })
      expect([status, body.details?.length]).toEqual([400, 1])
    }
    expect((await streams.call(`/ssf_streams/${before.id}`)).body).toEqual(before)
  })

  it('ssf-T075 answers 404 for a stream that does not exist', async () => {
    expect(await send('PATCH', { stream_id: UNKNOWN })).toMatchObject({ status: 404 })
    expect(await send('PUT', { stream_id: UNKNOWN })).toMatchObject({ status: 404 })
  })
})

describe('deleting a stream of the collection', () => {
  it('ssf-T078 answers 204 without a body; the stream is gone', async () => {
    const stream = await create()
    const other = await create()
    const url = `/ssf_streams?stream_id=${stream.stream_id}`
    const { status, body } = await streams.call(url, { method: 'DELETE' })
    expect([status, body]).toEqual([204, undefined])
    expect(await streams.call(url)).toMatchObject({ status: 404 })
    expect(await streams.call(url, { method: 'DELETE' })).toMatchObject({ status: 404 })
    expect(await streams.call(`/ssf_streams/${other.id}`)).toMatchObject({ status: 200 })
    expect(await lastAuditEntry()).toMatchObject({ action: 'ssf_stream.deleted' })
  })

  it('ssf-T079 answers 400 without stream_id, and deletes nothing', async () => {
    await create()
    expect(await streams.call('/ssf_streams', { method: 'DELETE' })).toMatchObject({ status: 400 })
    expect(await streams.db.selectFrom('ssf_stream').selectAll().execute()).toHaveLength(1)
  })
})

describe('verification', () => {
  const events = async (id: string) => {
    const { body } = await streams.call<{ sets: Record<string, string> }>(
      `/ssf_streams/${id}/events`,
    )
    return Object.values(body.sets).map(
      (token) =>
        JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
          sub_id: object
          events: Record<string, object>
        },
    )
  }

  const forms = [
    ['/ssf_streams/verify', (id: string) => ({ stream_id: id, state: 'abc' }), ''],
    ['/ssf_streams/verify', () => ({ state: 'abc' }), 'query'],
    ['/ssf_streams/{stream_id}/test', (id: string) => ({ stream_id: id, state: 'abc' }), ''],
    ['/ssf_streams/%7Bstream_id%7D/test', (id: string) => ({ stream_id: id, state: 'abc' }), ''],
    ['/ssf_streams/%7bstream_id%7d/test', () => ({ state: 'abc' }), 'query'],
    ['/ssf_streams/ID/test', (id: string) => ({ stream_id: id, state: 'abc' }), ''],
  ] as const

  it.each(forms)(
    'ssf-T100 by %s (%#) answers 204 and sends the state back',
    async (path, toBody, place) => {
      const { id, stream_id: streamId } = await create()
      const query = place === 'query' ? `?stream_id=${streamId}` : ''
      const url = path.replace('ID', id) + query
      const payload = toBody(streamId)
      const { status, body } = await streams.call(url, { method: 'POST', payload })
      expect([status, body]).toEqual([204, undefined])
      expect(await events(id)).toMatchObject([
        {
          sub_id: { format: 'opaque', id: streamId },
          events: { [VERIFICATION]: { state: 'abc' } },
        },
      ])
    },
  )

  it('ssf-T103 has no state where none was given, null included', async () => {
    const { id, stream_id: streamId } = await create()
    for (const payload of [{ stream_id: streamId }, { stream_id: streamId, state: null }]) {
      await streams.call('/ssf_streams/verify', { method: 'POST', payload })
    }
    const sent = await events(id)
    expect(sent.map((claims) => claims.events[VERIFICATION])).toEqual([{}, {}])
  })

  it('answers 200 to streams with legacy status codes', async () => {
    const { id, stream_id: streamId } = await create({ legacy_status_codes: true })
    const payload = { stream_id: streamId }
    for (const url of ['/ssf_streams/verify', `/ssf_streams/${id}/test`]) {
      const { status, body } = await streams.call(url, { method: 'POST', payload })
      expect([status, body]).toEqual([200, {}])
    }
  })

  it('still tests with an email, also where the path names no stream', async () => {
    const { stream_id: streamId } = await create()
    const payload = { email: 'grace@example.com', stream_id: streamId }
    const url = '/ssf_streams/{stream_id}/test'
    expect(await streams.call(url, { method: 'POST', payload })).toMatchObject({
      status: 200,
      body: { success: true, response_code: '202' },
    })
  })

  it.each([
    ['/ssf_streams/verify', {}, 400],
    ['/ssf_streams/verify', { stream_id: 7 }, 400],
    ['/ssf_streams/verify', { stream_id: 'x', state: 7 }, 400],
    ['/ssf_streams/verify', { stream_id: UNKNOWN }, 404],
    ['/ssf_streams/{stream_id}/test', { email: 'grace@example.com' }, 422],
    ['/ssf_streams/ID/test', { state: 'abc' }, 422],
    ['/ssf_streams/ID/test', { stream_id: UNKNOWN }, 422],
  ])('ssf-T105 by %s with %j answers %i, and sends nothing', async (path, payload, status) => {
    const { id } = await create()
    const url = path.replace('ID', id)
    expect(await streams.call(url, { method: 'POST', payload })).toMatchObject({ status })
    expect(await events(id)).toEqual([])
  })
})

describe('the status endpoint', () => {
  it('takes the stream from the query when the body does not name it', async () => {
    const { stream_id: streamId } = await create()
    const url = `/ssf_streams/status?stream_id=${streamId}`
    const payload = { status: 'paused' }
    expect(await streams.call(url, { method: 'POST', payload })).toMatchObject({
      status: 200,
      body: { stream_id: streamId, status: 'paused' },
    })
    const unnamed = await streams.call('/ssf_streams/status', { method: 'POST', payload })
    expect(unnamed).toMatchObject({ status: 422 })
  })
})

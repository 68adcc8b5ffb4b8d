import type { StreamId } from '../../schema/branded-ids.ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { changeSsfClient } from '../../signals/clients/change-client.ts'
import type { TestRefusal } from '../../../test/support/api-app.ts'
import { createStandardApi, type StandardApi } from '../../../test/support/standard-api.ts'

const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'
const SESSION = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
const ISSUER = 'https://trust.example.com/ssf'
const PUSH = 'urn:ietf:rfc:8935'
const POLL = 'urn:ietf:rfc:8936'
const URL_A = 'https://receiver.example.com/events'
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

interface Stream {
  readonly stream_id: string
  readonly aud: string
  readonly description?: string
  readonly delivery: { readonly method: string; readonly endpoint_url: string }
  readonly events_requested: readonly string[]
  readonly events_supported: readonly string[]
  readonly events_delivered: readonly string[]
  readonly min_verification_interval?: number
}

let api: StandardApi

beforeAll(async () => {
  api = await createStandardApi({
    streamsMax: 5,
    minVerificationIntervalSeconds: 3,
    inactivityTimeoutSeconds: 600,
  })
})
afterAll(() => api.close())
afterEach(async () => {
  await api.db.deleteFrom('ssf_stream').execute()
  await api.db.deleteFrom('delivery_destination').execute()
})

async function create(payload: object = {}): Promise<Stream> {
  const { status, body } = await api.call<Stream>('/ssf/streams', { method: 'POST', payload })
  expect([status, body]).toEqual([201, body])
  return body
}

const read = (id: string, token?: string) =>
  api.call<Stream>(`/ssf/streams?stream_id=${id}`, token === undefined ? {} : { token })
const change = (method: 'PATCH' | 'PUT', payload: unknown) =>
  api.call<Stream & TestRefusal>('/ssf/streams', { method, payload })

describe('creating a stream', () => {
  it('ssf-T059 ssf-T061 ssf-T065 answers the whole configuration; without a delivery it polls', async () => {
    const { status, headers, body } = await api.call<Stream>('/ssf/streams', {
      method: 'POST',
      payload: {},
    })
    expect(status).toBe(201)
    expect(headers['cache-control']).toBe('no-store')
    expect(body).toEqual({
      stream_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      iss: ISSUER,
      aud: api.client.clientId,
      events_supported: [COMPLIANCE],
      events_requested: [],
      events_delivered: [],
      delivery: { method: POLL, endpoint_url: `${ISSUER}/poll/${body.stream_id}` },
      min_verification_interval: 3,
      inactivity_timeout: 600,
    })
  })

  it('ssf-T053 ssf-T054 echoes what is requested and delivers what is supported of it', async () => {
    const asked = [SESSION, COMPLIANCE, 'https://example.com/unknown']
    const body = await create({ events_requested: asked, description: 'Gateway' })
    expect(body.events_requested).toEqual(asked)
    expect(body.events_supported).toEqual([COMPLIANCE, SESSION])
    expect(body.events_delivered).toEqual([COMPLIANCE, SESSION])
    expect(body.description).toBe('Gateway')
  })

  it('ssf-T055 ssf-T062 takes push, and never answers the authorization header', async () => {
    const body = await create({
      delivery: { method: PUSH, endpoint_url: URL_A, authorization_header: 'Bearer one' },
    })
    expect(body.delivery).toEqual({ method: PUSH, endpoint_url: URL_A })
    const row = await api.db.selectFrom('ssf_stream').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ face: 'strict', subject_form: 'iss_sub', issuer: ISSUER })
    expect(row.authorization_header_sealed).not.toBeNull()
  })

  it.each(['', null, 'https://elsewhere.example.com'])(
    'gives the poll address whatever endpoint is sent: %s',
    async (endpoint) => {
      const body = await create({ delivery: { method: POLL, endpoint_url: endpoint } })
      expect(body.delivery.endpoint_url).toBe(`${ISSUER}/poll/${body.stream_id}`)
    },
  )

  it('ssf-T066 takes members of other dialects without doing anything about them', async () => {
    const body = await create({
      format: 'iss_sub',
      aud: ['https://other.example.com'],
      iss: 'https://other.example.com',
      name: 'Named',
    })
    expect(body.aud).toBe(api.client.clientId)
    const row = await api.db.selectFrom('ssf_stream').select('name').executeTakeFirstOrThrow()
    expect(row.name).toBe('Named')
  })

  it('has the audience that its client was given', async () => {
    const client = await api.newClient({ audience: 'https://receiver.example.com' })
    const token = await api.newToken(client)
    const { body } = await api.call<Stream>('/ssf/streams', { method: 'POST', token, payload: {} })
    expect(body.aud).toBe('https://receiver.example.com')
  })

  it.each([
    ['no JSON', ';{ broken'],
    ['no object', []],
    ['an unknown method', { delivery: { method: 'urn:example:carrier-pigeon' } }],
    ['push without an endpoint', { delivery: { method: PUSH } }],
    [
      'push to a private address',
      { delivery: { method: PUSH, endpoint_url: 'https://10.0.0.1/' } },
    ],
    ['push by plain HTTP', { delivery: { method: PUSH, endpoint_url: 'http://example.com/' } }],
    [
      'a header with a line break',
      { delivery: { method: PUSH, endpoint_url: URL_A, authorization_header: 'a\r\nb' } },
    ],
    ['events that are no list', { events_requested: COMPLIANCE }],
    ['text that cannot be stored', { description: 'a\0b' }],
    ['text that is not well-formed', '{"description":"\\ud800"}'],
  ])('ssf-T064 refuses %s with 400 and leaves nothing behind', async (_name, payload) => {
    const { status } = await api.call('/ssf/streams', { method: 'POST', payload })
    expect(status).toBe(400)
    expect(await api.db.selectFrom('ssf_stream').selectAll().execute()).toEqual([])
    expect(await api.db.selectFrom('delivery_destination').selectAll().execute()).toEqual([])
  })

  it('ssf-T063 gives each stream an id and an address of its own, up to the limit', async () => {
    const streams = [await create(), await create(), await create(), await create(), await create()]
    expect(new Set(streams.map(({ delivery }) => delivery.endpoint_url)).size).toBe(5)
    const { status, body } = await api.call<TestRefusal>('/ssf/streams', {
      method: 'POST',
      payload: {},
    })
    expect([status, body.code]).toEqual([409, 'limit_reached'])
  })
})

describe('reading streams', () => {
  it('ssf-T067 ssf-T068 answers one as an object and all as an array', async () => {
    expect((await api.call('/ssf/streams')).body).toEqual([])
    const stream = await create({ events_requested: [COMPLIANCE] })
    expect((await read(stream.stream_id)).body).toEqual(stream)
    expect((await api.call('/ssf/streams')).body).toEqual([stream])
  })

  it.each([UNKNOWN_ID, 'nonsense', '1', '%00'])('ssf-T069 answers 404 for %s', async (id) => {
    await create()
    expect((await read(id)).status).toBe(404)
  })

  it('ssf-T044 ssf-T045 tells nobody of the streams of another', async () => {
    const stream = await create()
    const token = await api.newToken(await api.newClient())
    const id = stream.stream_id
    expect((await api.call('/ssf/streams', { token })).body).toEqual([])
    const foreign = await read(id, token)
    const unknown = await read(UNKNOWN_ID, token)
    const withoutId = (refusal: TestRefusal) => ({ ...refusal, request_id: '' })
    expect(foreign.status).toBe(404)
    expect(withoutId(foreign.body as unknown as TestRefusal)).toEqual(
      withoutId(unknown.body as unknown as TestRefusal),
    )
    const subject = { format: 'email', email: 'ada@example.com' }
    const attempts = [
      ['PATCH', '/ssf/streams', { stream_id: id }],
      ['PUT', '/ssf/streams', { stream_id: id }],
      ['DELETE', `/ssf/streams?stream_id=${id}`, undefined],
      ['GET', `/ssf/status?stream_id=${id}`, undefined],
      ['POST', '/ssf/status', { stream_id: id, status: 'disabled' }],
      ['POST', '/ssf/subjects:add', { stream_id: id, subject }],
      ['POST', '/ssf/subjects:remove', { stream_id: id, subject }],
      ['POST', '/ssf/verify', { stream_id: id }],
      ['POST', `/ssf/poll/${id}`, { returnImmediately: true }],
    ] as const
    for (const [method, url, payload] of attempts) {
      const options = { method, token, ...(payload === undefined ? {} : { payload }) }
      expect([method, url, (await api.call(url, options)).status]).toEqual([method, url, 404])
    }
    expect((await read(id)).body).toEqual(stream)
  })
})

describe('changing a stream', () => {
  it('ssf-T070 ssf-T071 ssf-T074 PATCH changes what is sent and leaves the rest', async () => {
    const stream = await create({ events_requested: [COMPLIANCE], description: 'one' })
    const { status, body } = await change('PATCH', { ...stream, description: 'two' })
    expect(status).toBe(200)
    expect(body).toEqual({ ...stream, description: 'two' })
    expect((await read(stream.stream_id)).body).toEqual(body)
  })

  it('PATCH removes a description that is null', async () => {
    const { description, ...stream } = await create({ description: 'one' })
    expect(description).toBe('one')
    const { status, body } = await change('PATCH', { ...stream, description: null })
    expect([status, body]).toEqual([200, stream])
    expect((await read(stream.stream_id)).body).toEqual(stream)
  })

  it('ssf-T051 keeps the audience when the delivery changes', async () => {
    const stream = await create({ events_requested: [COMPLIANCE] })
    const push = { method: PUSH, endpoint_url: URL_A }
    const { body } = await change('PATCH', { stream_id: stream.stream_id, delivery: push })
    expect(body).toEqual({ ...stream, delivery: push })
    const back = await change('PATCH', { stream_id: stream.stream_id, delivery: { method: POLL } })
    expect(back.body).toEqual(stream)
  })

  it('ssf-T072 PUT deletes what is not sent', async () => {
    const stream = await create({
      events_requested: [COMPLIANCE],
      description: 'one',
      delivery: { method: PUSH, endpoint_url: URL_A, authorization_header: 'Bearer one' },
    })
    const { status, body } = await change('PUT', {
      stream_id: stream.stream_id,
      delivery: { method: PUSH, endpoint_url: URL_A },
    })
    expect(status).toBe(200)
    expect(body.description).toBeUndefined()
    expect([body.events_requested, body.events_delivered]).toEqual([[], []])
    const row = await api.db.selectFrom('ssf_stream').selectAll().executeTakeFirstOrThrow()
    expect(row.authorization_header_sealed).toBeNull()
  })

  it('ssf-T077 PUT without a delivery lets the stream poll', async () => {
    const stream = await create({ delivery: { method: PUSH, endpoint_url: URL_A } })
    const { body } = await change('PUT', { stream_id: stream.stream_id })
    expect(body.delivery).toEqual({
      method: POLL,
      endpoint_url: `${ISSUER}/poll/${stream.stream_id}`,
    })
  })

  it.each([
    { iss: 'https://other.example.com' },
    { aud: 'https://other.example.com' },
    { events_supported: [] },
    { events_delivered: [SESSION] },
    { min_verification_interval: 99 },
    { inactivity_timeout: 99 },
  ])('ssf-T073 refuses %j, which only the transmitter sets', async (members) => {
    const stream = await create({ events_requested: [COMPLIANCE] })
    for (const method of ['PATCH', 'PUT'] as const) {
      const { status } = await change(method, { stream_id: stream.stream_id, ...members })
      expect([method, status]).toEqual([method, 400])
    }
    expect((await read(stream.stream_id)).body).toEqual(stream)
  })

  it('ssf-T073 refuses another address of polls, and takes its own back', async () => {
    const stream = await create({ events_requested: [COMPLIANCE] })
    const { stream_id } = stream
    for (const method of ['PATCH', 'PUT'] as const) {
      const foreign = { method: POLL, endpoint_url: URL_A }
      const refused = await change(method, { ...stream, stream_id, delivery: foreign })
      expect([method, refused.status]).toEqual([method, 400])
      const own = await change(method, { ...stream, stream_id, delivery: stream.delivery })
      expect([method, own.status, own.body.delivery]).toEqual([method, 200, stream.delivery])
    }
  })

  it('ssf-T073 compares events_delivered with what was delivered before', async () => {
    const stream = await create({ events_requested: [COMPLIANCE] })
    const { status, body } = await change('PUT', { ...stream, events_requested: [] })
    expect([status, body.events_delivered]).toEqual([200, []])
  })

  it('ssf-T070 ssf-T075 refuses bodies without an id, broken ones, and unknown streams', async () => {
    for (const method of ['PATCH', 'PUT'] as const) {
      expect((await change(method, { description: 'a' })).status).toBe(400)
      expect((await change(method, ';{ broken')).status).toBe(400)
      expect((await change(method, { stream_id: UNKNOWN_ID })).status).toBe(404)
    }
  })

  it('takes the id from the query where the body has none', async () => {
    const { stream_id: id } = await create()
    const url = `/ssf/streams?stream_id=${id}`
    const { status } = await api.call(url, { method: 'PATCH', payload: { description: 'a' } })
    expect(status).toBe(200)
  })
})

describe('the number of events', () => {
  const numbered = { heliograph_sequence: true } as const

  it('is there when the receiver asks for it, and shown only then', async () => {
    expect(await create()).not.toHaveProperty('heliograph_sequence')
    expect(await create({ heliograph_sequence: false })).not.toHaveProperty('heliograph_sequence')
    const stream = await create(numbered)
    expect(stream).toMatchObject(numbered)
    expect((await read(stream.stream_id)).body).toMatchObject(numbered)
    const row = await api.db
      .selectFrom('ssf_stream')
      .select('is_numbered')
      .where('stream_id', '=', stream.stream_id as StreamId)
      .executeTakeFirstOrThrow()
    expect(row.is_numbered).toBe(true)
  })

  it('stays with a PATCH that does not name it, and goes with a PUT that does not', async () => {
    const { stream_id } = await create(numbered)
    expect((await change('PATCH', { stream_id, description: 'a' })).body).toMatchObject(numbered)
    const off = await change('PATCH', { stream_id, heliograph_sequence: false })
    expect(off.body).not.toHaveProperty('heliograph_sequence')
    expect((await change('PATCH', { stream_id, ...numbered })).body).toMatchObject(numbered)
    expect((await change('PUT', { stream_id, ...numbered })).body).toMatchObject(numbered)
    expect((await change('PUT', { stream_id })).body).not.toHaveProperty('heliograph_sequence')
  })

  it('is refused when it is neither on nor off', async () => {
    const { stream_id } = await create()
    for (const heliograph_sequence of ['yes', 1, null]) {
      const payload = { stream_id, heliograph_sequence }
      const refused = { status: 400, body: { details: [{ path: 'heliograph_sequence' }] } }
      expect(await api.call('/ssf/streams', { method: 'POST', payload })).toMatchObject(refused)
      expect(await change('PATCH', payload)).toMatchObject(refused)
      expect(await change('PUT', payload)).toMatchObject(refused)
    }
  })
})

describe('the profile of a client', () => {
  it('is what its streams begin with; streams that are there keep theirs', async () => {
    const profileOf = async (clientId: string) => {
      const rows = await api.db
        .selectFrom('ssf_stream')
        .select(['profile', 'subject_form', 'uses_legacy_status_codes', 'omits_more_available'])
        .where('ssf_client_id', '=', clientId)
        .orderBy('id')
        .execute()
      return rows.map((row) => Object.values(row))
    }
    const client = await api.newClient({ profile: 'sgnl' })
    const token = await api.newToken(client)
    const post = { method: 'POST', token, payload: {} } as const
    expect((await api.call('/ssf/streams', post)).status).toBe(201)
    await api.runChange({ actor: SYSTEM_ACTOR }, (open) =>
      changeSsfClient(open, client.id, { profile: 'okta' }),
    )
    expect((await api.call('/ssf/streams', post)).status).toBe(201)
    expect(await profileOf(client.id)).toEqual([
      ['sgnl', 'complex', true, true],
      ['okta', 'complex', false, false],
    ])
    await create()
    expect(await profileOf(api.client.id)).toEqual([['strict', 'iss_sub', false, false]])
  })
})

describe('deleting a stream', () => {
  it('ssf-T078 ssf-T079 answers 204 with nothing, and 404 from then on', async () => {
    const { stream_id: id } = await create()
    const url = `/ssf/streams?stream_id=${id}`
    const { status, body } = await api.call(url, { method: 'DELETE' })
    expect([status, body]).toEqual([204, undefined])
    expect((await api.call(url, { method: 'DELETE' })).status).toBe(404)
    expect((await read(id)).status).toBe(404)
  })

  it('ssf-T079 never deletes without an id', async () => {
    await create()
    expect((await api.call('/ssf/streams', { method: 'DELETE' })).status).toBe(400)
    expect((await api.call<Stream[]>('/ssf/streams')).body).toHaveLength(1)
  })
})

describe('what else is asked of its paths', () => {
  it.each([
    ['POST', '/ssf/status?x=1', 400],
    ['GET', '/ssf/verify', 405],
    ['GET', '/ssf/subjects:add', 405],
    ['GET', '/ssf/subjects%3Aadd', 405],
    ['POST', '/ssf/subjects%3Aadd', 400],
    ['POST', '/ssf/subjects%3aremove?x=%3A', 400],
    ['POST', '/ssf/subjects%253Aadd', 404],
    ['DELETE', '/ssf/status', 405],
    ['GET', `/ssf/poll/${UNKNOWN_ID}`, 405],
    ['GET', '/ssf/nothing', 404],
  ] as const)('%s %s is answered %d', async (method, url, expected) => {
    const { status } = await api.call(url, { method })
    expect(status).toBe(expected)
  })

  it.each([
    ['/ssf/status', 'GET, HEAD, POST'],
    ['/ssf/subjects:add', 'POST'],
    ['/ssf/verify', 'POST'],
  ])('the methods of %s are those that are answered there', async (url, expected) => {
    const { status, headers } = await api.call(url, { method: 'OPTIONS' })
    expect([status, headers['allow']]).toEqual([405, expected])
  })

  it.each([
    ['GET', '/ssf/status'],
    ['DELETE', '/ssf/streams'],
  ] as const)('%s %s without a stream names the parameter that is missing', async (method, url) => {
    const { status, body } = await api.call<TestRefusal>(url, { method })
    expect(status).toBe(400)
    expect(body.message).toContain('stream_id: This is required')
  })

  it('HEAD is answered like GET', async () => {
    const { stream_id: id } = await create()
    const { status, headers } = await api.call(`/ssf/streams?stream_id=${id}`, { method: 'HEAD' })
    expect([status, Number(headers['content-length']) > 0]).toEqual([200, true])
  })

  it('leaves audit entries that name the client', async () => {
    const { stream_id: id } = await create()
    await api.call(`/ssf/streams?stream_id=${id}`, { method: 'DELETE' })
    const entries = await api.db
      .selectFrom('audit_entry')
      .select(['action', 'actor_id'])
      .orderBy('sequence', 'desc')
      .limit(2)
      .execute()
    expect(entries).toEqual([
      { action: 'ssf_stream.deleted', actor_id: api.client.clientId },
      { action: 'ssf_stream.created', actor_id: api.client.clientId },
    ])
  })
})

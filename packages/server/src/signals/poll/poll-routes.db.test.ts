import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from 'jose'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { recordStatements } from '../../../test/support/record-statements.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { DeviceStatusChange } from '../../changes/domain-event.ts'

const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'

type Events = Record<string, { current_status: string }>

interface PollAnswer {
  sets: Record<string, string>
  moreAvailable?: boolean
}

let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())
afterEach(() => streams.clear())

const createStream = (extra: object = {}) => streams.createStream({ name: 'poll', ...extra })

function statusChange(overrides: Partial<DeviceStatusChange> = {}): DeviceStatusChange {
  return {
    device: {
      id: '17',
      name: 'ada-laptop',
      platform: 'darwin',
      owner: { personId: '3', email: 'ada@example.com' },
    },
    previous: { authState: 'Good', compliance: 'compliant' },
    current: { authState: 'Blocked', compliance: 'not-compliant' },
    occurredAt: new Date('2026-01-02T03:00:00.900Z'),
    initiatingEntity: 'policy',
    reasons: [
      {
        issueId: '5',
        issueTitle: 'Disk encryption is off',
        checkId: '2',
        checkSlug: 'disk-encryption',
        checkName: 'Disk encryption',
        blocksDeviceAt: new Date('2026-01-02T03:00:00Z'),
      },
    ],
    ...overrides,
  }
}

async function emit(count = 1, change = statusChange()): Promise<void> {
  await streams.runChange({ actor: SYSTEM_ACTOR }, async (open) => {
    for (let index = 0; index < count; index += 1) {
      open.recordEvent({ type: 'device.status_changed', ...change })
    }
  })
}

async function poll(id: string, payload?: object) {
  const method = payload === undefined ? 'GET' : 'POST'
  const answer = await streams.call<PollAnswer>(`/ssf_streams/${id}/events`, {
    method,
    ...(payload === undefined ? {} : { payload }),
  })
  expect(answer.status).toBe(200)
  return answer.body
}

async function lastSuccessOf(id: string): Promise<string | null> {
  const path = `/ssf_streams/${id}/health`
  const { body } = await streams.call<{ last_success_at: string | null }>(path)
  return body.last_success_at
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
    string,
    unknown
  >
}

describe('the statements of polls', () => {
  it('are planned once for a connection, not for each poll', async () => {
    const { id } = await createStream()
    await emit()
    const acknowledgeNothing = () => poll(id, { ack: ['unknown'] })
    for (let index = 0; index < 3; index += 1) await acknowledgeNothing()
    const asked = await recordStatements(acknowledgeNothing)
    const ofDeliveries = asked.filter(({ text }) => text.includes('"delivery"'))
    expect(ofDeliveries).toHaveLength(2)
    for (const { name } of ofDeliveries) expect(name).toMatch(/^heliograph_/)
  })
})

describe('events', () => {
  it('ssf-T151 ssf-T152 are signed SETs about the device, its owner and the organisation', async () => {
    const { id, stream_id: streamId } = await createStream()
    await emit()
    const { sets } = await poll(id)
    const [[jti, token] = ['', '']] = Object.entries(sets)
    const { body: jwks } = await streams.api.request<{ keys: [] }>('/ssf/jwks.json', { key: null })
    await compactVerify(token, createLocalJWKSet(jwks))
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256', typ: 'secevent+jwt' })
    const [row] = await streams.db.selectFrom('delivery').selectAll().execute()
    expect(claimsOf(token)).toEqual({
      iss: 'https://trust.example.com',
      aud: `https://trust.example.com/ssf_streams/${streamId}/events`,
      jti,
      iat: 1767323045,
      txn: row?.txn,
      sub_id: {
        format: 'complex',
        device: { format: 'iss_sub', iss: 'https://trust.example.com', sub: '17' },
        user: { format: 'email', email: 'ada@example.com' },
        tenant: { format: 'opaque', id: 'trust.example.com' },
      },
      events: {
        [COMPLIANCE]: {
          previous_status: 'compliant',
          current_status: 'not-compliant',
          event_timestamp: 1767322800,
          initiating_entity: 'policy',
          reason_admin: {
            en: 'The device ada-laptop is not-compliant (Blocked): Disk encryption is off',
          },
          reason_user: {
            en: 'Your device does not meet the requirements: Disk encryption is off',
          },
        },
      },
    })
  })

  it('leave the user out when nobody owns the device', async () => {
    const { id } = await createStream()
    await emit(1, statusChange({ device: { ...statusChange().device, owner: null } }))
    const [token = ''] = Object.values((await poll(id)).sets)
    expect(claimsOf(token)['sub_id']).not.toHaveProperty('user')
  })

  it.each([
    ['1.0', true, false],
    ['draft', false, true],
    ['both', true, true],
  ])('of spec version %s carry their subject where it wants it', async (version, top, inner) => {
    const { id } = await createStream({ spec_version: version, subject_form: 'iss_sub' })
    await emit()
    const [token = ''] = Object.values((await poll(id)).sets)
    const claims = claimsOf(token) as { sub_id?: object; events: Record<string, object> }
    const subject = { format: 'iss_sub', iss: 'https://trust.example.com', sub: '17' }
    expect(claims.sub_id).toEqual(top ? subject : undefined)
    expect(claims.events[COMPLIANCE]).toEqual(
      inner
        ? (expect.objectContaining({ subject }) as object)
        : (expect.not.objectContaining({ subject }) as object),
    )
  })

  it('are queued for enabled and paused streams, and only when the word changes', async () => {
    const enabled = await createStream()
    const paused = await createStream()
    const disabled = await createStream()
    for (const [stream, status] of [
      [paused, 'paused'],
      [disabled, 'disabled'],
    ] as const) {
      const payload = { stream_id: stream.stream_id, status }
      await streams.call('/ssf_streams/status', { method: 'POST', payload })
    }
    await emit(1, statusChange({ current: { authState: 'Notified', compliance: 'compliant' } }))
    const compliance = streams.db.selectFrom('delivery').where('event_type', '=', COMPLIANCE)
    expect(await compliance.selectAll().execute()).toEqual([])
    await emit()
    const queued = await compliance
      .innerJoin('ssf_stream', 'ssf_stream.destination_id', 'delivery.destination_id')
      .select(['ssf_stream.id', 'subject_key', 'delivery.txn'])
      .orderBy('ssf_stream.id')
      .execute()
    expect(queued.map(({ id }) => id)).toEqual([enabled.id, paused.id])
    expect(new Set(queued.map(({ txn }) => txn)).size).toBe(1)
    expect(queued[0]?.subject_key).toBe('device:17')
    await vi.waitFor(() => expect(streams.wake).toHaveBeenCalled(), { timeout: 10_000 })
  })

  it('are never issued before what they tell has happened, however long a change waited for a lock', async () => {
    const { id } = await createStream()
    await streams.runChange({ actor: SYSTEM_ACTOR }, async (open) => {
      streams.clock.advance(1_500)
      const occurredAt = open.now()
      open.recordEvent({ type: 'device.status_changed', ...statusChange({ occurredAt }) })
    })
    const [token = ''] = Object.values((await poll(id)).sets)
    const now = Math.floor(streams.clock.now().getTime() / 1_000)
    expect(claimsOf(token)).toMatchObject({
      iat: now,
      events: { [COMPLIANCE]: { event_timestamp: now } },
    })
  })

  it('roll back with the change that caused them', async () => {
    const { id } = await createStream()
    const failing = streams.runChange({ actor: SYSTEM_ACTOR }, async (open) => {
      open.recordEvent({ type: 'device.status_changed', ...statusChange() })
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await poll(id)).toEqual({ sets: {} })
  })
})

describe('polling', () => {
  it('ssf-T130 ssf-T138 gives the same tokens until they are acknowledged, and never again afterwards', async () => {
    const { id } = await createStream()
    await emit(3)
    const first = await poll(id)
    expect(Object.keys(first.sets)).toHaveLength(3)
    expect(await poll(id)).toEqual(first)
    const [one = '', two = ''] = Object.keys(first.sets)
    const rest = await poll(id, { ack: [one, two, one, 'unknown'] })
    expect(Object.keys(rest.sets)).toEqual(Object.keys(first.sets).slice(2))
    expect(await poll(id)).toEqual(rest)
  })

  it('tells when the receiver last took an event', async () => {
    const { id } = await createStream()
    await emit()
    const [jti = ''] = Object.keys((await poll(id)).sets)
    await poll(id, { ack: ['unknown'] })
    expect(await lastSuccessOf(id)).toBeNull()
    const at = streams.clock.now().toISOString()
    await poll(id, { ack: [jti, 'unknown'] })
    expect(await lastSuccessOf(id)).toBe(at)
    streams.clock.advance(1_000)
    await poll(id, { ack: [jti] })
    expect(await lastSuccessOf(id)).toBe(at)
  })

  it('gives the events of a device in the order of its changes, whichever transaction began first', async () => {
    const stream = await createStream()
    const hasBegun = Promise.withResolvers<undefined>()
    const mayGoOn = Promise.withResolvers<undefined>()
    const later = streams.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      await sql`select`.execute(change.tx)
      hasBegun.resolve(undefined)
      await mayGoOn.promise
      const { previous: current, current: previous } = statusChange()
      change.recordEvent({ type: 'device.status_changed', ...statusChange({ previous, current }) })
    })
    await hasBegun.promise
    await emit()
    mayGoOn.resolve(undefined)
    await later
    const told = Object.values((await poll(stream.stream_id)).sets).map(claimsOf)
    expect(told.map(({ events }) => (events as Events)[COMPLIANCE]?.current_status)).toEqual([
      'not-compliant',
      'compliant',
    ])
  })

  it('gives at most a hundred, oldest first, and says when there are more', async () => {
    const { id } = await createStream()
    await emit(103)
    const first = await poll(id)
    expect(Object.keys(first.sets)).toHaveLength(100)
    expect(first.moreAvailable).toBe(true)
    const oldest = await streams.db
      .selectFrom('delivery')
      .select('event_id')
      .orderBy('id')
      .limit(100)
      .execute()
    expect(Object.keys(first.sets)).toEqual(oldest.map(({ event_id }) => event_id))
    const second = await poll(id, { ack: Object.keys(first.sets) })
    expect(Object.keys(second.sets)).toHaveLength(3)
    expect(second).not.toHaveProperty('moreAvailable')
  })

  it('answers an empty map when nothing waits', async () => {
    const { id } = await createStream()
    expect(await poll(id)).toEqual({ sets: {} })
    expect(await poll(id, { ack: [] })).toEqual({ sets: {} })
  })

  it('keeps to maxEvents, and acknowledges only when it is 0', async () => {
    const { id } = await createStream()
    await emit(2)
    const one = await poll(id, { maxEvents: 1 })
    expect(Object.keys(one.sets)).toHaveLength(1)
    expect(one.moreAvailable).toBe(true)
    expect(await poll(id, { ack: Object.keys(one.sets), maxEvents: 0 })).toEqual({ sets: {} })
    expect(Object.keys((await poll(id)).sets)).toHaveLength(1)
  })

  it('ends what the receiver refuses, and hands out again what failed it for the moment', async () => {
    const { id } = await createStream()
    await emit(2)
    const [bad = '', slow = ''] = Object.keys((await poll(id)).sets)
    const rest = await poll(id, {
      setErrs: {
        [bad]: { err: 'invalid_audience', description: 'not mine' },
        [slow]: { err: 'delivery_failed' },
      },
    })
    expect(Object.keys(rest.sets)).toEqual([slow])
    const rows = await streams.db
      .selectFrom('delivery')
      .select(['state', 'last_error'])
      .orderBy('id')
      .execute()
    expect(rows).toEqual([
      { state: 'dead', last_error: 'invalid_audience: not mine' },
      { state: 'queued', last_error: 'delivery_failed' },
    ])
  })

  it('passes over ids that cannot be those of an event', async () => {
    const { id } = await createStream()
    await emit()
    const setErrs = {
      'a\u0000b': { err: 'invalid_key' },
      '\ud800': { err: '\u0000', description: '\ud83d' },
    }
    const { sets } = await poll(id, { ack: ['\u0000', 'unknown'], setErrs })
    expect(Object.keys(sets)).toHaveLength(1)
  })

  it("does not let one stream acknowledge another's events", async () => {
    const mine = await createStream()
    const other = await createStream()
    await emit()
    const [jti = ''] = Object.keys((await poll(other.id)).sets)
    await poll(mine.id, { ack: [jti] })
    expect(Object.keys((await poll(other.id)).sets)).toEqual([jti])
  })

  it('waits for an event when it is told to, and answers as soon as there is one', async () => {
    const { id } = await createStream()
    const started = performance.now()
    const pending = poll(id, { returnImmediately: false })
    setTimeout(() => void emit(), 150)
    const { sets } = await pending
    expect(Object.keys(sets)).toHaveLength(1)
    expect(performance.now() - started).toBeGreaterThan(140)
  })

  it('gives up waiting after the time that the client asks for', async () => {
    const { id } = await createStream()
    expect(await poll(id, { returnImmediately: false, timeoutSecs: 0.2 })).toEqual({ sets: {} })
  })

  it.each([
    { ack: 'one' },
    { ack: [7] },
    { ack: Array.from({ length: 1001 }, (_, index) => `jti-${index}`) },
    { maxEvents: -1 },
    { returnImmediately: 'no' },
    { setErrs: { a: 'b' } },
  ])('refuses an invalid request with 422 (%#)', async (payload) => {
    const { id } = await createStream()
    const url = `/ssf_streams/${id}/events`
    expect(await streams.call(url, { method: 'POST', payload })).toMatchObject({ status: 422 })
  })

  it('is refused with 409 for a stream that pushes', async () => {
    const { id } = await createStream({
      delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: 'https://receiver.example.com/' },
    })
    expect(await streams.call(`/ssf_streams/${id}/events`)).toMatchObject({ status: 409 })
  })
})

import { getStream, parseStreamReference } from '../../signals/streams/stream-store.ts'
import type { StreamId } from '../../schema/branded-ids.ts'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestRefusal } from '../../../test/support/api-app.ts'
import { queueEvents } from '../../../test/support/queue-events.ts'
import { createStandardApi, type StandardApi } from '../../../test/support/standard-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import { revokeSsfClient } from '../../signals/clients/change-client.ts'
import { claimDeliveries } from '../../signals/dispatch/claim-store.ts'
import { setStreamStatus } from '../../signals/streams/set-stream-status.ts'

const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification'
const STREAM_UPDATED = 'https://schemas.openid.net/secevent/ssf/event-type/stream-updated'
/** An event type that nothing but these tests knows. */
const ASKED = 'urn:example:event'
const ISSUER = 'https://trust.example.com/ssf'

interface Claims {
  readonly iss: string
  readonly aud: string
  readonly sub?: string
  readonly exp?: number
  readonly sub_id: object
  readonly events: Record<string, Record<string, unknown>>
}

let api: StandardApi
let id: string

beforeAll(async () => {
  api = await createStandardApi({ minVerificationIntervalSeconds: 2 })
})
afterAll(() => api.close())
beforeEach(async () => {
  api.clock.advance(10 * SECOND_MS)
  id = await createStream()
})

async function createStream(payload: object = {}): Promise<string> {
  const { body } = await api.call<{ stream_id: string }>('/ssf/streams', {
    method: 'POST',
    payload,
  })
  return body.stream_id
}

const post = (url: string, payload: unknown) =>
  api.call<TestRefusal & { status: string; reason?: string }>(url, { method: 'POST', payload })
const setStatus = (status: string, reason?: string) =>
  post('/ssf/status', { stream_id: id, status, ...(reason === undefined ? {} : { reason }) })
const setStatusByAdmin = (
  status: 'enabled' | 'paused' | 'disabled',
  reason: string | null = null,
) =>
  api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    setStreamStatus(change, parseStreamReference(id), { status, reason }),
  )

async function verify(state?: string) {
  api.clock.advance(2 * SECOND_MS)
  return post('/ssf/verify', { stream_id: id, ...(state === undefined ? {} : { state }) })
}

async function poll(payload: object = {}): Promise<[jti: string, claims: Claims][]> {
  const { status, body } = await api.call<{ sets: Record<string, string> }>(`/ssf/poll/${id}`, {
    method: 'POST',
    payload: { returnImmediately: true, ...payload },
  })
  expect(status).toBe(200)
  return Object.entries(body.sets).map(([jti, token]) => [jti, decodeJwt<Claims>(token)])
}

async function polledEvents(): Promise<Record<string, unknown>[]> {
  return (await poll()).map(([, claims]) => claims.events)
}

describe('status', () => {
  it('ssf-T080 ssf-T081 is read and written, with its reason', async () => {
    const url = `/ssf/status?stream_id=${id}`
    expect((await api.call(url)).body).toEqual({ stream_id: id, status: 'enabled' })
    const paused = await setStatus('paused', 'Maintenance')
    expect([paused.status, paused.body]).toEqual([
      200,
      { stream_id: id, status: 'paused', reason: 'Maintenance' },
    ])
    expect((await api.call(url)).body).toEqual(paused.body)
    expect((await setStatus('enabled')).body).toEqual({ stream_id: id, status: 'enabled' })
  })

  it('ssf-T089 takes the stream of the query where the body has none, and passes it over otherwise', async () => {
    expect((await post(`/ssf/status?stream_id=${id}`, { status: 'paused' })).status).toBe(200)
    const other = await createStream()
    const answer = await post(`/ssf/status?stream_id=${other}`, {
      stream_id: id,
      status: 'enabled',
    })
    expect(answer.body).toMatchObject({ stream_id: id })
  })

  it.each([
    { status: 'off' },
    { status: 1 },
    {},
    { status: 'paused', reason: 1 },
    { status: 'paused', reason: 'a\0' },
    [],
    ';{ broken',
  ])('ssf-T086 refuses %j with 400', async (payload) => {
    const body =
      typeof payload === 'string' || Array.isArray(payload)
        ? payload
        : { stream_id: id, ...payload }
    expect((await post('/ssf/status', body)).status).toBe(400)
  })

  it('ssf-T086 refuses a read without a stream, and answers 404 for unknown ones', async () => {
    expect((await api.call('/ssf/status')).status).toBe(400)
    expect((await api.call('/ssf/status?stream_id=a&stream_id=b')).status).toBe(400)
    expect((await api.call('/ssf/status?stream_id=a')).status).toBe(404)
    expect((await post('/ssf/status', { stream_id: 'a', status: 'paused' })).status).toBe(404)
  })
})

describe('verification', () => {
  it('ssf-T100 ssf-T101 ssf-T102 ssf-T103 answers 204 and delivers the state exactly', async () => {
    const state = 'ä "quoted" \u2028 %20 \0 </x>'
    const { status, body } = await verify(state)
    expect([status, body]).toEqual([204, undefined])
    const [[jti, claims] = []] = await poll()
    expect(claims).toMatchObject({
      iss: ISSUER,
      aud: api.client.clientId,
      jti,
      sub_id: { format: 'opaque', id },
      events: { [VERIFICATION]: { state } },
    })
    expect(claims?.sub).toBeUndefined()
    expect(claims?.exp).toBeUndefined()
  })

  it('ssf-T103 has no state when none was sent, null included', async () => {
    await verify()
    await api.call('/ssf/verify', { method: 'POST', payload: { stream_id: id, state: null } })
    expect(await polledEvents()).toEqual([{ [VERIFICATION]: {} }])
  })

  it('ssf-T105 is refused below its interval with the time to wait', async () => {
    expect((await verify('one')).status).toBe(204)
    const early = await post('/ssf/verify', { stream_id: id, state: 'two' })
    expect(early.status).toBe(429)
    expect(early.headers['retry-after']).toBe('2')
    expect((await verify('three')).status).toBe(204)
    expect(await polledEvents()).toHaveLength(2)
  })

  it('ssf-T105 says how often it may be asked for', async () => {
    const hasty = await createStandardApi({ minVerificationIntervalSeconds: 1 })
    try {
      const created = await hasty.call<{ stream_id: string }>('/ssf/streams', {
        method: 'POST',
        payload: {},
      })
      const payload = { stream_id: created.body.stream_id }
      const ask = () => hasty.call<TestRefusal>('/ssf/verify', { method: 'POST', payload })
      await ask()
      const { body } = await ask()
      expect(JSON.stringify(body)).toContain('A verification can be asked for once in a second.')
    } finally {
      await hasty.close()
    }
  })

  it.each([{ state: 1 }, { state: 'a'.repeat(1_025) }, { stream_id: 7 }, ';{ broken'])(
    'ssf-T105 refuses the body %j with 400',
    async (payload) => {
      const body = typeof payload === 'string' ? payload : { stream_id: id, ...payload }
      expect((await post('/ssf/verify', body)).status).toBe(400)
      expect(await poll()).toEqual([])
    },
  )

  it('ssf-T105 answers 404 for an unknown stream and 400 for none', async () => {
    expect((await post('/ssf/verify', { stream_id: 'a' })).status).toBe(404)
    expect((await post('/ssf/verify', { state: 'a' })).status).toBe(400)
  })

  it('ssf-T083 ssf-T109 is held while the stream is paused', async () => {
    await setStatus('paused')
    expect((await verify('held')).status).toBe(204)
    expect(await poll()).toEqual([])
    await setStatus('enabled')
    expect(await polledEvents()).toEqual([{ [VERIFICATION]: { state: 'held' } }])
  })

  it('ssf-T084 ssf-T109 is dropped while the stream is disabled', async () => {
    await setStatus('disabled')
    expect((await verify('dropped')).status).toBe(204)
    const held = await api.db
      .selectFrom('delivery')
      .innerJoin('ssf_stream', 'ssf_stream.destination_id', 'delivery.destination_id')
      .select('delivery.id')
      .where('ssf_stream.stream_id', '=', id as StreamId)
      .execute()
    expect(held).toEqual([])
    await setStatus('enabled')
    expect(await poll()).toEqual([])
    await verify('after')
    expect(await polledEvents()).toEqual([{ [VERIFICATION]: { state: 'after' } }])
  })
})

describe('polling', () => {
  it('ssf-T126 ssf-T132 answers an empty object when nothing waits', async () => {
    const { body } = await api.call(`/ssf/poll/${id}`, {
      method: 'POST',
      payload: { returnImmediately: true },
    })
    expect(body).toEqual({ sets: {} })
  })

  it('ssf-T130 ssf-T136 hands a SET out until it is acknowledged', async () => {
    await verify('one')
    const [[jti] = ['']] = await poll()
    expect((await poll()).map(([each]) => each)).toEqual([jti])
    expect(await poll({ ack: [jti, 'unknown'] })).toEqual([])
    expect(await poll()).toEqual([])
  })

  it('ssf-T131 takes a refusal as the end of a SET', async () => {
    await verify('one')
    const [[jti] = ['']] = await poll()
    const setErrs = { [jti]: { err: 'invalid_request', description: 'no' } }
    expect(await poll({ setErrs })).toEqual([])
  })

  it('ssf-T128 waits by default, and is woken by an event', async () => {
    const waiting = api.call<{ sets: object }>(`/ssf/poll/${id}`, { method: 'POST', payload: {} })
    await expect.poll(() => api.waiters.count()).toBe(1)
    await verify('late')
    expect(Object.keys((await waiting).body.sets)).toHaveLength(1)
  })

  it.each([{ ack: 'a' }, { maxEvents: -1 }, { returnImmediately: 'no' }, [], ';{ broken'])(
    'ssf-T135 refuses %j with 400',
    async (payload) => {
      expect((await post(`/ssf/poll/${id}`, payload)).status).toBe(400)
    },
  )

  it('ssf-T054 brings nothing that was held of a type which is no longer asked for, and everything else', async () => {
    id = await createStream({ events_requested: [VERIFICATION, ASKED, 'urn:other'] })
    await setStatus('paused')
    const stream = await getStream(api.db, parseStreamReference(id))
    const { eventIds } = await queueEvents(api, stream.destinationId, ['device:1', null], ASKED)
    await verify('kept')
    const change = (events_requested: string[]) =>
      api.call('/ssf/streams', { method: 'PATCH', payload: { stream_id: id, events_requested } })
    expect((await change([ASKED])).status).toBe(200)
    await setStatus('enabled')
    expect((await poll()).map(([jti]) => jti)).toEqual(expect.arrayContaining(eventIds))
    await setStatus('paused')
    expect((await change([])).status).toBe(200)
    await setStatus('enabled')
    expect(await polledEvents()).toEqual([{ [VERIFICATION]: { state: 'kept' } }])
  })

  it('leaves to whoever is sending it what is on its way when its type is no longer asked for', async () => {
    id = await createStream({ events_requested: [ASKED] })
    const { destinationId } = await getStream(api.db, parseStreamReference(id))
    const { deliveryIds } = await queueEvents(api, destinationId, [null, null], ASKED)
    const claim = { claimId: newUuid(), ownClaimIds: [], leaseMs: 60_000, kid: null }
    const { deliveries } = await claimDeliveries(api.db, { destinationId, ...claim, limit: 1 })
    await api.call('/ssf/streams', {
      method: 'PATCH',
      payload: { stream_id: id, events_requested: [] },
    })
    const rows = await api.db
      .selectFrom('delivery')
      .select(['id', 'state'])
      .where('id', 'in', deliveryIds)
      .execute()
    const stateOf = new Map(rows.map((row) => [row.id, row.state]))
    expect(deliveryIds.map((each) => stateOf.get(each))).toEqual(
      deliveryIds.map((each) => (each === deliveries[0]?.id ? 'queued' : 'discarded')),
    )
    expect(deliveries).toHaveLength(1)
  })

  it('is refused where events are pushed', async () => {
    const delivery = {
      method: 'urn:ietf:rfc:8935',
      endpoint_url: 'https://receiver.example.com/events',
    }
    const pushed = await createStream({ delivery })
    expect((await post(`/ssf/poll/${pushed}`, { returnImmediately: true })).status).toBe(409)
  })
})

describe('what the receiver is told of changes that it did not make', () => {
  const updated = (status: string, reason?: string) => ({
    [STREAM_UPDATED]: { status, ...(reason === undefined ? {} : { reason }) },
  })

  it.each(['paused', 'disabled'] as const)(
    'ssf-T110 ssf-T111 ssf-T112 ssf-T115 is fetched although the stream is %s',
    async (status) => {
      await setStatusByAdmin(status, 'Maintenance')
      const sets = await poll()
      expect(sets.map(([, claims]) => claims)).toMatchObject([
        { iss: ISSUER, sub_id: { format: 'opaque', id }, events: updated(status, 'Maintenance') },
      ])
      await poll({ ack: sets.map(([jti]) => jti) })
      expect(await poll()).toEqual([])
    },
  )

  it('ssf-T083 comes before what is held, which stays held', async () => {
    await verify('waiting')
    await setStatusByAdmin('paused')
    expect(await polledEvents()).toEqual([updated('paused')])
  })

  it('ssf-T113 tells of enabling, and what was held follows', async () => {
    await verify('waiting')
    await setStatusByAdmin('paused')
    await poll({ ack: (await poll()).map(([jti]) => jti) })
    await setStatusByAdmin('enabled')
    expect(await polledEvents()).toEqual([
      { [VERIFICATION]: { state: 'waiting' } },
      updated('enabled'),
    ])
  })

  it('survives the giving up of everything else', async () => {
    await verify('given up')
    await setStatusByAdmin('disabled')
    await setStatusByAdmin('enabled')
    expect(await polledEvents()).toEqual([updated('disabled'), updated('enabled')])
  })

  it('ssf-T088 is nothing when the receiver made the change, or nothing changed', async () => {
    await setStatus('disabled')
    await setStatusByAdmin('disabled', 'Another reason')
    expect(await poll()).toEqual([])
  })

  it('ssf-T088 is that the stream is disabled when its client is revoked', async () => {
    const client = await api.newClient()
    const token = await api.newToken(client)
    await api.call('/ssf/streams', { method: 'POST', token, payload: {} })
    await api.runChange({ actor: SYSTEM_ACTOR }, (change) => revokeSsfClient(change, client.id))
    const stream = await api.db
      .selectFrom('ssf_stream')
      .selectAll()
      .where('ssf_client_id', '=', client.id)
      .executeTakeFirstOrThrow()
    expect(stream.status).toBe('disabled')
    const told = await api.db
      .selectFrom('delivery')
      .select(['event_type', 'outlives_stop'])
      .where('destination_id', '=', stream.destination_id)
      .execute()
    expect(told).toEqual([{ event_type: STREAM_UPDATED, outlives_stop: true }])
  })
})

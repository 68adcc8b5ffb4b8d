import { DEVICE_COMPLIANCE_CHANGE, STREAM_UPDATED } from '@heliograph/ssf'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { queueEvents } from '../../../test/support/queue-events.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { newUuid } from '../../platform/ids.ts'
import type { DestinationId, StreamRowId } from '../../schema/branded-ids.ts'

interface DeliveryJson {
  id: string
  event_id: string
  state: string
  attempts: number
  device_id: string | null
}

interface ListJson {
  data: DeliveryJson[]
}

let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())
afterEach(() => streams.clear())

const PUSH = { method: 'urn:ietf:rfc:8935', endpoint_url: 'http://127.0.0.1:9/events' }

async function createStream(): Promise<{ id: string; destinationId: DestinationId }> {
  const { id } = await streams.createStream({ name: 'push', delivery: PUSH })
  return { id, destinationId: await streams.getDestinationId(id) }
}

/** Has a stream ask for nothing but events about itself, as a receiver does. */
async function askForNothing(id: string): Promise<void> {
  const { stream_id } = await streams.db
    .selectFrom('ssf_stream')
    .select('stream_id')
    .where('id', '=', id as StreamRowId)
    .executeTakeFirstOrThrow()
  const payload = { stream_id, events_requested: [] }
  const { status } = await streams.call('/ssf_streams', { method: 'PATCH', payload })
  expect(status).toBe(200)
}

async function queue(
  destinationId: DestinationId,
  deviceIds: readonly string[],
): Promise<string[]> {
  const subjects = deviceIds.map((deviceId) => `device:${deviceId}`)
  return (await queueEvents(streams, destinationId, subjects)).eventIds
}

async function setState(eventIds: readonly string[], state: 'dead' | 'delivered' | 'discarded') {
  await streams.db
    .updateTable('delivery')
    .set({ state, attempt_count: 10, finished_at: streams.clock.now(), last_error: 'no' })
    .where('event_id', 'in', eventIds)
    .execute()
}

async function statesOf(destinationId: DestinationId): Promise<string[]> {
  const rows = await streams.db
    .selectFrom('delivery')
    .select('state')
    .where('destination_id', '=', destinationId)
    .orderBy('id')
    .execute()
  return rows.map(({ state }) => state)
}

async function lastAudit() {
  return streams.db
    .selectFrom('audit_entry')
    .selectAll()
    .orderBy('sequence', 'desc')
    .executeTakeFirstOrThrow()
}

const call = <Body>(url: string, payload: object) =>
  streams.call<Body>(url, { method: 'POST', payload })

describe('the log of a stream', () => {
  it('lists the deliveries of this stream alone, oldest first, without what was sent', async () => {
    const mine = await createStream()
    const other = await createStream()
    const events = await queue(mine.destinationId, ['1', '2'])
    await queue(other.destinationId, ['1'])
    const { status, body } = await streams.call<ListJson>(`/ssf_streams/${mine.id}/deliveries`)
    expect(status).toBe(200)
    expect(body.data.map(({ event_id }) => event_id)).toEqual(events)
    expect(body.data[0]).toMatchObject({ state: 'queued', attempts: 0, device_id: '1' })
    expect(JSON.stringify(body)).not.toContain('receiver.example.com')
  })

  it.each([
    ['state:dead', [1]],
    ['state:["queued","dead"]', [0, 1, 2]],
    ['device_id:7', [0, 2]],
    ['device_id:["7","8"] AND state:queued', [0, 2]],
    ['device_id:seven', []],
    ['attempts>9', [1]],
    ['attempts:0', [0, 2]],
    ['created_at>"2026-01-02T00:00:00Z"', [0, 1, 2]],
    ['created_at<"2026-01-02T00:00:00Z"', []],
    [`event_type:"${STREAM_UPDATED}"`, [0, 1, 2]],
    ['event_type:issues.new', []],
    [`event_type:["issues.new","${STREAM_UPDATED}"]`, [0, 1, 2]],
    ['event_type:issues.new OR state:dead', [1]],
    ['txn:nothing', []],
  ])('is searched by %s', async (query, expected) => {
    const { id, destinationId } = await createStream()
    const events = await queue(destinationId, ['7', '8', '7'])
    await setState([events[1] ?? ''], 'dead')
    const url = `/ssf_streams/${id}/deliveries?query=${encodeURIComponent(query)}`
    const { body } = await streams.call<ListJson>(url)
    expect(body.data.map(({ event_id }) => event_id)).toEqual(
      expected.map((index) => events[index]),
    )
  })

  it('is searched by event id under its name and as jti, and by cause', async () => {
    const { id, destinationId } = await createStream()
    const [first = '', second = ''] = await queue(destinationId, ['1', '2'])
    const { txn } = await streams.db
      .selectFrom('delivery')
      .select('txn')
      .where('event_id', '=', first)
      .executeTakeFirstOrThrow()
    const find = async (query: string) => {
      const url = `/ssf_streams/${id}/deliveries?query=${encodeURIComponent(query)}`
      return (await streams.call<ListJson>(url)).body.data.map(({ event_id }) => event_id)
    }
    expect(await find(`event_id:${first}`)).toEqual([first])
    expect(await find(`jti:${second}`)).toEqual([second])
    expect(await find(`txn:${txn}`)).toEqual([first, second])
  })

  it('shows a delivery with its claims, with its token beside them, and every attempt', async () => {
    const { id, destinationId } = await createStream()
    const [eventId = ''] = await queue(destinationId, ['1'])
    const row = await streams.db
      .updateTable('delivery')
      .set({ token: 'aaaa.bbbb.signature', signing_kid: 'key-1', attempt_count: 1 })
      .returning('id')
      .executeTakeFirstOrThrow()
    await streams.db
      .insertInto('delivery_attempt')
      .values({
        delivery_id: row.id,
        number: 1,
        started_at: streams.clock.now(),
        timings: JSON.stringify({ dns: 1.5, connect: 2, first_byte: 3, total: 8.25 }),
        outcome: 'retry',
        status_code: 503,
        error_code: 'http_503',
        error: 'The receiver answered 503',
        request_headers: JSON.stringify({ authorization: 'Bearer [masked]' }),
        response_headers: JSON.stringify({ server: 'x' }),
        response_body: 'busy',
        remote_address: '127.0.0.1',
        next_attempt_at: streams.clock.now(),
      })
      .execute()
    const { status, body } = await streams.call(`/ssf_streams/${id}/deliveries/${eventId}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      event_id: eventId,
      signing_kid: 'key-1',
      content: { jti: eventId, aud: 'https://receiver.example.com' },
      attempt_log: [
        {
          number: 1,
          duration: { dns_ms: 1.5, connect_ms: 2, tls_ms: null, first_byte_ms: 3, total_ms: 8.25 },
          outcome: 'retry',
          status_code: 503,
          error_code: 'http_503',
          error: 'The receiver answered 503',
          request_headers: { authorization: 'Bearer [masked]' },
          response_headers: { server: 'x' },
          response_body: 'busy',
          remote_address: '127.0.0.1',
        },
      ],
    })
    const { content, token } = body as { readonly content: unknown; readonly token: unknown }
    expect(JSON.stringify(content)).not.toContain('signature')
    expect(token).toContain('signature')
  })

  it("does not show another stream's delivery, and tells it from none by nothing", async () => {
    const mine = await createStream()
    const other = await createStream()
    const [foreign = ''] = await queue(other.destinationId, ['1'])
    const answers = await Promise.all(
      [foreign, newUuid(), 'a\u0000b'].map((id) =>
        streams.call(`/ssf_streams/${mine.id}/deliveries/${encodeURIComponent(id)}`),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    expect(await streams.call('/ssf_streams/999/deliveries')).toMatchObject({ status: 404 })
  })
})

describe('sending again', () => {
  it('queues one event anew, whatever became of it, and says so in the audit log', async () => {
    const { id, destinationId } = await createStream()
    const [eventId = ''] = await queue(destinationId, ['1'])
    for (const state of ['dead', 'delivered', 'discarded'] as const) {
      await setState([eventId], state)
      streams.wake.mockClear()
      const url = `/ssf_streams/${id}/deliveries/${eventId}/resend`
      expect(await call(url, {})).toMatchObject({
        status: 200,
        body: { event_id: eventId, state: 'queued', attempts: 0, finished_at: null },
      })
      await vi.waitFor(() => expect(streams.wake).toHaveBeenCalledWith(destinationId))
      expect(await lastAudit()).toMatchObject({
        action: 'delivery.resent',
        target_type: 'ssf_stream',
        target_id: id,
        before: { state },
        after: { state: 'queued' },
      })
    }
  })

  it('leaves what waits for another attempt its last error, which none has followed', async () => {
    const { id, destinationId } = await createStream()
    const [eventId = ''] = await queue(destinationId, ['1'])
    await streams.db.updateTable('delivery').set({ attempt_count: 2, last_error: 'no' }).execute()
    expect(await call(`/ssf_streams/${id}/deliveries/${eventId}/resend`, {})).toMatchObject({
      body: { state: 'queued', attempts: 2, last_error: 'no' },
    })
  })

  it('leaves alone what is on its way', async () => {
    const { id, destinationId } = await createStream()
    const [eventId = ''] = await queue(destinationId, ['1'])
    const claimId = newUuid()
    const claimEnd = new Date(Date.now() + 60_000)
    await streams.db
      .updateTable('delivery')
      .set({ claimed_by: claimId, claim_expires_at: claimEnd })
      .execute()
    const url = `/ssf_streams/${id}/deliveries/${eventId}/resend`
    expect(await call(url, {})).toMatchObject({ status: 200, body: { state: 'queued' } })
    const row = await streams.db.selectFrom('delivery').select('claimed_by').executeTakeFirst()
    expect(row?.claimed_by).toBe(claimId)
  })

  it('is refused once what the event carried has been deleted', async () => {
    const { id, destinationId } = await createStream()
    const [eventId = ''] = await queue(destinationId, ['1'])
    await setState([eventId], 'dead')
    await streams.db.updateTable('delivery').set({ body: '', token: null }).execute()
    const url = `/ssf_streams/${id}/deliveries/${eventId}/resend`
    expect(await call(url, {})).toMatchObject({ status: 409 })
    expect(await call(`/ssf_streams/${id}/redrive`, {})).toMatchObject({ body: { count: 0 } })
    expect(await statesOf(destinationId)).toEqual(['dead'])
  })

  it('redrives the dead ones of a time, in their order, once', async () => {
    const { id, destinationId } = await createStream()
    const old = await queue(destinationId, ['1'])
    streams.clock.advance(60_000)
    const since = streams.clock.now().toISOString()
    const events = await queue(destinationId, ['1', '2', '3'])
    await setState([...old, ...events.slice(0, 2)], 'dead')
    const url = `/ssf_streams/${id}/redrive`
    const answer = await call(url, { since })
    expect(answer).toMatchObject({ status: 200, body: { count: 2, has_more: false } })
    expect(await statesOf(destinationId)).toEqual(['dead', 'queued', 'queued', 'queued'])
    expect(await lastAudit()).toMatchObject({
      action: 'deliveries.redriven',
      after: { count: 2, since },
    })
    expect(await call(url, { since })).toMatchObject({ body: { count: 0 } })
    expect(await call(url, { event_ids: old })).toMatchObject({ body: { count: 1 } })
  })

  it('takes discarded ones along when it is told to', async () => {
    const { id, destinationId } = await createStream()
    const events = await queue(destinationId, ['1'])
    await setState(events, 'discarded')
    const url = `/ssf_streams/${id}/redrive`
    expect(await call(url, {})).toMatchObject({ body: { count: 0 } })
    expect(await call(url, { include_discarded: true })).toMatchObject({ body: { count: 1 } })
  })

  it('leaves on record what was delivered of a type that the stream no longer asks for, and audits nothing of it', async () => {
    const { id, destinationId } = await createStream()
    const queued = await queueEvents(streams, destinationId, ['1'], DEVICE_COMPLIANCE_CHANGE)
    await setState(queued.eventIds, 'delivered')
    const url = `/ssf_streams/${id}`
    await askForNothing(id)
    const before = await lastAudit()
    expect(await call(`${url}/deliveries/${queued.eventIds[0] ?? ''}/resend`, {})).toMatchObject({
      status: 409,
      body: { message: 'The receiver no longer asks for events of this type.' },
    })
    expect(await statesOf(destinationId)).toEqual(['delivered'])
    expect(await lastAudit()).toEqual(before)
  })

  it('redrives nothing of a type that the stream no longer asks for, and counts what it queues alone', async () => {
    const { id, destinationId } = await createStream()
    const queueOf = (eventType: string) => queueEvents(streams, destinationId, ['1'], eventType)
    const dropped = [await queueOf(DEVICE_COMPLIANCE_CHANGE), await queueOf(STREAM_UPDATED)]
    await setState(dropped[0]?.eventIds ?? [], 'dead')
    await setState(dropped[1]?.eventIds ?? [], 'discarded')
    const url = `/ssf_streams/${id}`
    await askForNothing(id)
    expect(await call(`${url}/redrive`, {})).toMatchObject({ body: { count: 0 } })
    expect(await call(`${url}/redrive`, { include_discarded: true })).toMatchObject({
      body: { count: 1, has_more: false },
    })
    expect(await lastAudit()).toMatchObject({ action: 'deliveries.redriven', after: { count: 1 } })
    expect(await statesOf(destinationId)).toEqual(['dead', 'queued'])
  })

  it('waits for a change that drops the type of an event, and leaves on record that it was delivered', async () => {
    const { id, destinationId } = await createStream()
    const queued = await queueEvents(streams, destinationId, ['1'], DEVICE_COMPLIANCE_CHANGE)
    await setState(queued.eventIds, 'delivered')
    const { resend } = await streams.db.transaction().execute(async (tx) => {
      await tx
        .updateTable('ssf_stream')
        .set({ events_requested: [] })
        .where('destination_id', '=', destinationId)
        .execute()
      const path = `/ssf_streams/${id}/deliveries/${queued.eventIds[0] ?? ''}/resend`
      const answer = call(path, {})
      await waitForLock(streams.db)
      return { resend: answer }
    })
    expect(await resend).toMatchObject({ status: 409 })
    expect(await statesOf(destinationId)).toEqual(['delivered'])
  })

  it('is refused for a disabled stream, which gets no events', async () => {
    const { id, destinationId } = await createStream()
    const [eventId = ''] = await queue(destinationId, ['1'])
    await streams.call(`/ssf_streams/${id}`, { method: 'PATCH', payload: { enabled: false } })
    expect(await call(`/ssf_streams/${id}/redrive`, {})).toMatchObject({ status: 409 })
    const url = `/ssf_streams/${id}/deliveries/${eventId}/resend`
    expect(await call(url, {})).toMatchObject({ status: 409 })
    expect((await statesOf(destinationId))[0]).toBe('discarded')
  })
})

describe('giving up', () => {
  it('discards dead and queued ones up to a time, and lets their followers go', async () => {
    const { id, destinationId } = await createStream()
    const [dead = ''] = await queue(destinationId, ['1', '1'])
    await setState([dead], 'dead')
    const until = streams.clock.now().toISOString()
    streams.clock.advance(60_000)
    await queue(destinationId, ['1'])
    await streams.db
      .updateTable('delivery')
      .set({ next_attempt_at: new Date('2030-01-01T00:00:00Z') })
      .execute()
    const answer = await call(`/ssf_streams/${id}/discard`, { until })
    expect(answer).toMatchObject({ status: 200, body: { count: 2, has_more: false } })
    expect(await statesOf(destinationId)).toEqual(['discarded', 'discarded', 'queued'])
    const follower = await streams.db
      .selectFrom('delivery')
      .select(sql<boolean>`next_attempt_at <= now()`.as('isDue'))
      .where('state', '=', 'queued')
      .executeTakeFirstOrThrow()
    expect(follower.isDue).toBe(true)
    expect(await lastAudit()).toMatchObject({
      action: 'deliveries.discarded',
      after: { count: 2, until },
    })
  })

  it('keeps to the states that are asked for', async () => {
    const { id, destinationId } = await createStream()
    const [dead = ''] = await queue(destinationId, ['1', '2'])
    await setState([dead], 'dead')
    const until = streams.clock.now().toISOString()
    const body = { until, states: ['dead'] }
    expect(await call(`/ssf_streams/${id}/discard`, body)).toMatchObject({ body: { count: 1 } })
    expect(await statesOf(destinationId)).toEqual(['discarded', 'queued'])
  })

  it('never gives up everything by mistake', async () => {
    const { id, destinationId } = await createStream()
    await queue(destinationId, ['1'])
    expect(await call(`/ssf_streams/${id}/discard`, {})).toMatchObject({ status: 422 })
    expect(await statesOf(destinationId)).toEqual(['queued'])
  })
})

describe('access', () => {
  const paths = [
    ['GET', 'deliveries'],
    ['GET', `deliveries/${newUuid()}`],
    ['POST', `deliveries/${newUuid()}/resend`],
    ['POST', 'redrive'],
    ['POST', 'discard'],
  ] as const

  it.each(paths)('%s %s needs a key with the permission for streams', async (method, path) => {
    const { id } = await createStream()
    const url = `/ssf_streams/${id}/${path}`
    const payload = method === 'POST' ? { payload: { until: '2026-01-01T00:00:00Z' } } : {}
    const plain = await streams.api.createKey([])
    expect(await streams.api.request(url, { method, key: null, ...payload })).toMatchObject({
      status: 401,
    })
    expect(await streams.api.request(url, { method, key: plain, ...payload })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('Shared Signals') as string },
    })
  })

  it.each([
    ['redrive', { since: 'yesterday' }],
    ['redrive', { event_ids: [] }],
    ['redrive', { event_ids: ['x'.repeat(300)] }],
    ['redrive', { unknown: 1 }],
    ['discard', { until: '2026-01-01T00:00:00Z', states: ['delivered'] }],
    ['discard', { until: '2026-01-01T00:00:00Z', states: [] }],
    ['discard', { until: 5 }],
  ])('%s refuses %j with 422', async (action, payload) => {
    const { id } = await createStream()
    expect(await call(`/ssf_streams/${id}/${action}`, payload)).toMatchObject({ status: 422 })
  })
})

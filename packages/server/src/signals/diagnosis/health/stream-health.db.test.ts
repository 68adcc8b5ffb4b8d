import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { queueEvents } from '../../../../test/support/queue-events.ts'
import { createStreamsApi, type StreamsApi } from '../../../../test/support/streams-api.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../platform/clock.ts'
import { sendDueHeartbeats } from './heartbeat.ts'
import type { DestinationId } from '../../../schema/branded-ids.ts'

let streams: StreamsApi

beforeEach(async () => {
  streams = await createStreamsApi()
})
afterEach(() => streams.close())

interface Stream {
  readonly id: string
  readonly stream_id: string
  readonly heartbeat_minutes: number | null
}

async function createStream(
  payload: object = {},
): Promise<Stream & { destinationId: DestinationId }> {
  const stream = await streams.createStream<Stream>({
    name: 'watched',
    delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: 'http://127.0.0.1:9/events' },
    ...payload,
  })
  return { ...stream, destinationId: await streams.getDestinationId(stream.id) }
}

async function enqueue(destinationId: DestinationId, count: number): Promise<string[]> {
  const subjects = Array<null>(count).fill(null)
  return (await queueEvents(streams, destinationId, subjects)).deliveryIds
}

async function finish(ids: readonly string[], afterMs: (index: number) => number): Promise<void> {
  for (const [index, id] of ids.entries()) {
    await streams.db
      .updateTable('delivery')
      .set({
        state: 'delivered',
        finished_at: new Date(streams.clock.now().getTime() + afterMs(index)),
      })
      .where('id', '=', id)
      .execute()
  }
}

const health = (id: string) => streams.call<Record<string, unknown>>(`/ssf_streams/${id}/health`)

describe('the health of a stream', () => {
  it('ssf-5.4: of a new stream is healthy and says that nothing has happened', async () => {
    const stream = await createStream()
    const { status, body } = await health(stream.stream_id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      stream_id: stream.stream_id,
      status: 'enabled',
      state: 'healthy',
      circuit: 'closed',
      last_success_at: null,
      last_failure: null,
      queue: { count: 0, exact: true, oldest_queued_at: null, oldest_age_seconds: null },
      dead_letters: { count: 0, exact: true },
      events_last_hour: 0,
      last_hour: { count: 0, exact: true, p50_ms: null, p99_ms: null },
      heartbeat_minutes: null,
      signing_keys: [{ state: 'active', in_use: true, first_accepted_at: null }],
    })
  })

  it('tells the times of the last hour and day apart, counts what waits, and says what went wrong', async () => {
    const stream = await createStream()
    const other = await createStream()
    await finish(await enqueue(other.destinationId, 3), () => 9_999)
    await finish(await enqueue(stream.destinationId, 50), () => 400)
    streams.clock.advance(2 * HOUR_MS)
    await finish(await enqueue(stream.destinationId, 100), (index) => (index + 1) * 10)
    const [dead = ''] = await enqueue(stream.destinationId, 1)
    await streams.db.updateTable('delivery').set({ state: 'dead' }).where('id', '=', dead).execute()
    await enqueue(stream.destinationId, 2)
    await streams.db
      .updateTable('delivery_destination')
      .set({
        consecutive_failures: 9,
        failing_since: streams.clock.now(),
        last_failure: 'The receiver answered 503',
        last_failure_at: streams.clock.now(),
        retry_not_before: new Date(streams.clock.now().getTime() + 5 * MINUTE_MS),
      })
      .where('id', '=', stream.destinationId)
      .execute()
    streams.clock.advance(30 * SECOND_MS)
    const { body } = await health(stream.id)
    expect(body).toMatchObject({
      state: 'failing',
      circuit: 'open',
      last_failure: 'The receiver answered 503',
      queue: { count: 2, exact: true, oldest_age_seconds: 30 },
      dead_letters: { count: 1 },
      events_last_hour: 100,
      last_hour: { count: 100, p50_ms: 500, p99_ms: 990 },
      last_day: { count: 150, p50_ms: 400, p99_ms: 990 },
    })
  })

  it('looks at a bounded number of rows by index, however many there are', async () => {
    const stream = await createStream()
    await sql`
      insert into delivery (destination_id, event_id, event_type, body, state, next_attempt_at, txn,
        created_at)
      select ${stream.destinationId}, gen_random_uuid(), 'test', '{}', 'queued',
        ${streams.clock.now()}, 'txn', ${streams.clock.now()}
      from generate_series(1, 10050)`.execute(streams.db)
    const { body } = await health(stream.id)
    expect(body['queue']).toMatchObject({ count: 10_000, exact: false })
  })

  it('is refused without the permission, and for a stream that does not exist', async () => {
    const stream = await createStream()
    const path = `/ssf_streams/${stream.id}/health`
    expect(await streams.api.request(path)).toMatchObject({ status: 403 })
    expect(await streams.api.request(path, { key: null })).toMatchObject({ status: 401 })
    expect(await health('4711')).toMatchObject({ status: 404 })
  })
})

describe('heartbeats', () => {
  const beat = () => sendDueHeartbeats(streams)
  const bodies = async () =>
    (
      await streams.db
        .selectFrom('delivery')
        .select('body')
        .where('subject_key', '=', 'heartbeat')
        .orderBy('id')
        .execute()
    ).map(({ body }) => JSON.parse(body) as { events: Record<string, object>; iat: number })
  const deliverAll = () =>
    streams.db
      .updateTable('delivery')
      .set({ state: 'delivered', finished_at: streams.clock.now() })
      .execute()

  it('ssf-T103: are verification events without state, at the exact beat, also after a time without service', async () => {
    const stream = await createStream({ heartbeat_minutes: 10 })
    expect(stream.heartbeat_minutes).toBe(10)
    const startMs = streams.clock.now().getTime()
    expect(await beat()).toEqual(new Date(startMs + 10 * MINUTE_MS))
    streams.clock.advance(10 * MINUTE_MS - 1)
    await beat()
    expect(await bodies()).toEqual([])
    streams.clock.advance(1)
    expect(await beat()).toEqual(new Date(startMs + 20 * MINUTE_MS))
    const [first] = await bodies()
    expect(first?.events).toEqual({
      'https://schemas.openid.net/secevent/ssf/event-type/verification': {},
    })
    await deliverAll()
    // Down for 35 minutes: one beat, not three, and the rhythm stays.
    streams.clock.advance(35 * MINUTE_MS)
    expect(await beat()).toEqual(new Date(startMs + 50 * MINUTE_MS))
    expect(await bodies()).toHaveLength(2)
  })

  it('are not silent for as long as the clock loses when it is set back', async () => {
    await createStream({ heartbeat_minutes: 10 })
    streams.clock.advance(-HOUR_MS)
    const startMs = streams.clock.now().getTime()
    expect(await beat()).toEqual(new Date(startMs + 10 * MINUTE_MS))
    expect(await bodies()).toHaveLength(1)
    await deliverAll()
    streams.clock.advance(10 * MINUTE_MS)
    await beat()
    expect(await bodies()).toHaveLength(2)
    streams.clock.advance(50 * MINUTE_MS)
  })

  it('do not pile up while a receiver is down, and stop with the stream', async () => {
    const stream = await createStream({ heartbeat_minutes: 1 })
    for (let minute = 0; minute < 5; minute += 1) {
      streams.clock.advance(MINUTE_MS)
      await beat()
    }
    expect(await bodies()).toHaveLength(1)
    await deliverAll()
    await streams.call('/ssf_streams/status', {
      method: 'POST',
      payload: { stream_id: stream.stream_id, status: 'paused' },
    })
    streams.clock.advance(5 * MINUTE_MS)
    await beat()
    expect(await bodies()).toHaveLength(1)
    await streams.call('/ssf_streams/status', {
      method: 'POST',
      payload: { stream_id: stream.stream_id, status: 'enabled' },
    })
    streams.clock.advance(MINUTE_MS)
    await beat()
    expect((await bodies()).length).toBeGreaterThanOrEqual(2)
  })

  it('are sent once when several processes are at it', async () => {
    for (let index = 0; index < 5; index += 1) await createStream({ heartbeat_minutes: 1 })
    streams.clock.advance(MINUTE_MS)
    await Promise.all([beat(), beat(), beat()])
    expect(await bodies()).toHaveLength(5)
  })

  it('are chosen, kept and ended by the stream', async () => {
    const stream = await createStream()
    const patch = (payload: object) =>
      streams.call<Stream>(`/ssf_streams/${stream.id}`, { method: 'PATCH', payload })
    expect(await patch({ heartbeat_minutes: 5 })).toMatchObject({
      status: 200,
      body: { heartbeat_minutes: 5 },
    })
    streams.clock.advance(4 * MINUTE_MS)
    await patch({ heartbeat_minutes: 5, name: 'renamed' })
    streams.clock.advance(MINUTE_MS)
    await beat()
    expect(await bodies()).toHaveLength(1)
    expect((await health(stream.id)).body['next_heartbeat_at']).toBe(
      new Date(streams.clock.now().getTime() + 5 * MINUTE_MS).toISOString(),
    )
    expect(await patch({ heartbeat_minutes: null })).toMatchObject({
      body: { heartbeat_minutes: null },
    })
    expect(await beat()).toBeUndefined()
    for (const heartbeat_minutes of [0, 1.5, 10_081, '5']) {
      expect(await patch({ heartbeat_minutes })).toMatchObject({ status: 422 })
    }
  })
})

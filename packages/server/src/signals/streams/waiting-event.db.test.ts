import { sql } from 'kysely'
import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { queueEvents } from '../../../test/support/queue-events.ts'
import { runRetention } from '../../../test/support/run-retention.ts'
import {
  createStreamsApi,
  type StreamIds,
  type StreamsApi,
} from '../../../test/support/streams-api.ts'
import { DAY_MS, HOUR_MS } from '../../platform/clock.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { waitingEventRetention } from './waiting-event-store.ts'

let streams: StreamsApi
beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())

let stream: StreamIds
let destinationId: DestinationId
beforeEach(async () => {
  stream = await streams.createStream({ name: 'polled' })
  destinationId = await streams.getDestinationId(stream.id)
})
afterEach(() => streams.clear())

const queue = async (...subjects: (string | null)[]) =>
  (await queueEvents(streams, destinationId, subjects)).eventIds

async function giveUp(): Promise<number> {
  const settings = { waitingEventRetentionDays: 30, deliveryRetentionDays: 180 }
  const policy = waitingEventRetention(streams.db, settings)
  await policy.preparePass?.(new Date(streams.clock.now().getTime() - 30 * DAY_MS))
  return (await runRetention(streams.db, policy, streams.clock.now(), { limit: 2 })).count
}

async function waiting(): Promise<string[]> {
  const rows = await streams.db
    .selectFrom('delivery')
    .select('event_id')
    .where('state', '=', 'queued')
    .orderBy('id')
    .execute()
  return rows.map((row) => row.event_id)
}

async function poll(payload: object = {}): Promise<string[]> {
  const answer = await streams.call<{ sets: Record<string, string> }>(
    `/ssf_streams/${stream.stream_id}/events`,
    { method: 'POST', payload },
  )
  return Object.keys(answer.body.sets)
}

describe('the queue of a stream that nobody polls', () => {
  it('keeps everything for 30 days, then the last event of each device, then nothing', async () => {
    const [, b, , d] = await queue('device:1', 'device:2', 'device:1', 'device:1', null)
    streams.clock.advance(30 * DAY_MS - 1)
    expect(await giveUp()).toBe(0)
    streams.clock.advance(1)
    expect(await giveUp()).toBe(3)
    expect(await waiting()).toEqual([b, d])
    expect(await giveUp()).toBe(0)
    streams.clock.advance(149 * DAY_MS)
    expect(await giveUp()).toBe(0)
    streams.clock.advance(DAY_MS)
    expect(await giveUp()).toBe(2)
    expect(await waiting()).toEqual([])
  })

  it('becomes dead letters, which say why and can be sent again', async () => {
    const [a, b] = await queue('device:1', 'device:1')
    streams.clock.advance(31 * DAY_MS)
    await giveUp()
    const row = await streams.db
      .selectFrom('delivery')
      .select(['state', 'last_error', 'finished_at'])
      .where('event_id', '=', a ?? '')
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      state: 'dead',
      last_error: 'The receiver was silent for too long while this waited',
    })
    expect(row.finished_at).not.toBeNull()
    expect(await poll()).toEqual([b])
  })

  it('is left alone once somebody polls again, however old its events are', async () => {
    const events = await queue('device:1', 'device:1')
    streams.clock.advance(60 * DAY_MS)
    expect(await poll()).toEqual(events)
    expect(await giveUp()).toBe(0)
    streams.clock.advance(29 * DAY_MS)
    expect(await giveUp()).toBe(0)
    streams.clock.advance(2 * DAY_MS)
    expect(await giveUp()).toBe(1)
  })

  it('is left alone once it is changed, or replayed to', async () => {
    await queue('device:1', 'device:1')
    streams.clock.advance(60 * DAY_MS)
    await streams.call(`/ssf_streams/${stream.id}`, {
      method: 'PATCH',
      payload: { description: 'x' },
    })
    expect(await giveUp()).toBe(0)
    streams.clock.advance(31 * DAY_MS)
    const replay = { method: 'POST', payload: { from_time: 0 } } as const
    expect((await streams.call(`/ssf_streams/${stream.id}/replay`, replay)).status).toBe(202)
    expect(await giveUp()).toBe(0)
  })

  it('keeps what is on its way, what tells of its stop, and the queues of streams that are heard of', async () => {
    const [claimed] = await queue('device:1', 'device:1')
    await sql`update delivery set claimed_by = gen_random_uuid(),
      claim_expires_at = now() + interval '1 minute' where event_id = ${claimed}`.execute(
      streams.db,
    )
    await streams.call('/ssf_streams/status', {
      method: 'POST',
      payload: { stream_id: stream.stream_id, status: 'paused' },
    })
    const queued = await waiting()
    expect(queued).toHaveLength(3)
    streams.clock.advance(31 * DAY_MS)
    expect(await giveUp()).toBe(0)
    expect(await waiting()).toEqual(queued)
    await sql`update delivery set claim_expires_at = now() - interval '1 second'
      where claim_expires_at is not null`.execute(streams.db)
    expect(await giveUp()).toBe(1)
    await queue('device:1', 'device:1')
    streams.clock.advance(31 * DAY_MS)
    await sql`update delivery_destination set last_success_at = ${streams.clock.now()}`.execute(
      streams.db,
    )
    expect(await giveUp()).toBe(0)
  })

  it('is numbered before it is given up, so that who comes back sees the gap', async () => {
    await streams.clear()
    stream = await streams.createStream({ name: 'numbered', heliograph_sequence: true })
    destinationId = await streams.getDestinationId(stream.id)
    await queue('device:1', 'device:1', 'device:1')
    streams.clock.advance(31 * DAY_MS)
    expect(await giveUp()).toBe(2)
    const answer = await streams.call<{ sets: Record<string, string> }>(
      `/ssf_streams/${stream.stream_id}/events`,
      { method: 'POST', payload: {} },
    )
    const claims = Object.values(answer.body.sets).map((token) => decodeJwt(token))
    expect(claims.map((each) => each['heliograph_sequence'])).toEqual([3])
  })
})

it('a poll is noted as a sign of life once an hour at the most', async () => {
  const lastActivity = async () => {
    const row = await streams.db
      .selectFrom('ssf_stream')
      .select('last_activity_at')
      .executeTakeFirstOrThrow()
    return row.last_activity_at
  }
  await poll()
  const first = streams.clock.now()
  expect(await lastActivity()).toEqual(first)
  streams.clock.advance(HOUR_MS - 1)
  await poll()
  expect(await lastActivity()).toEqual(first)
  streams.clock.advance(1)
  await poll()
  expect(await lastActivity()).toEqual(streams.clock.now())
})

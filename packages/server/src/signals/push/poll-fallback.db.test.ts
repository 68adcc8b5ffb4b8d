import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import { answerWith, type LoopbackReceiver } from '../../../test/support/loopback-receiver.ts'
import { createPushStreams, jtiOf, type PushStreams } from '../../../test/support/push-streams.ts'
import { recordStatements } from '../../../test/support/record-statements.ts'
import { queueEvents } from '../../../test/support/queue-events.ts'
import type { StreamsApi } from '../../../test/support/streams-api.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { deadLetterUnreachable } from '../dispatch/delivery-retention-store.ts'
import { DAY_MS, HOUR_MS } from '../../platform/clock.ts'
import { reviewFallbacks } from './review-fallbacks.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 10_000

interface StreamJson {
  id: string
  stream_id: string
  fallback: { since: string; reason: string; endpoint_url: string } | null
}

interface PollAnswer {
  sets: Record<string, string>
}

let push: PushStreams
let streams: StreamsApi

beforeAll(async () => {
  push = await createPushStreams()
  streams = push.streams
})
afterAll(() => push.close())
afterEach(() => push.reset())

const startReceiver = (status: number) => push.startReceiver(answerWith(status))

const createStream = (receiver: LoopbackReceiver, fallsBack = true) =>
  push.createStream<StreamJson>(receiver, { fallback_to_poll: fallsBack })

const startEngine = (retryDelaysMs: readonly number[]) =>
  push.startEngine({ retryDelaysMs, channel: { baseUrl: BASE_URL } })

/** Queues events of devices, in this order; answers their ids. */
async function queue(destinationId: DestinationId, devices: readonly string[]) {
  streams.clock.set(new Date())
  const subjects = devices.map((device) => `device:${device}`)
  return (await queueEvents(streams, destinationId, subjects)).eventIds
}

function review(aheadMs: number): Promise<void> {
  const { db, runChange } = streams
  const clock = { now: () => new Date(Date.now() + aheadMs) }
  return reviewFallbacks({ db, clock, runChange, baseUrl: BASE_URL, fallbackMinutes: 60 })
}

const poll = (id: string, payload: object = {}) =>
  streams.call<PollAnswer>(`/ssf_streams/${id}/events`, { method: 'POST', payload })

async function showStream(id: string): Promise<StreamJson> {
  return (await streams.call<StreamJson>(`/ssf_streams/${id}`)).body
}

async function statesOf(eventIds: readonly string[]): Promise<string[]> {
  const rows = await streams.db
    .selectFrom('delivery')
    .select(['event_id', 'state'])
    .where('event_id', 'in', eventIds)
    .orderBy('id')
    .execute()
  return rows.map(({ state }) => state)
}

/** Until everything that is queued was tried, and is in nobody's hand any more. */
async function waitForFailures(destinationId: DestinationId): Promise<void> {
  await vi.waitFor(
    async () => {
      const untried = await streams.db
        .selectFrom('delivery')
        .select('id')
        .where('destination_id', '=', destinationId)
        .where((is) => is.or([is('attempt_count', '=', 0), is('claimed_by', 'is not', null)]))
        .execute()
      expect(untried).toEqual([])
    },
    { timeout: 5_000 },
  )
}

it('after an hour of nothing but failures the events can be polled, in order per device, and are pushed again when that works', async () => {
  const receiver = await startReceiver(503)
  const { id, stream_id: streamId, destinationId } = await createStream(receiver)
  const engine = await startEngine([HOUR_MS, HOUR_MS])
  const first = await queue(destinationId, ['a', 'b'])
  engine.wake(destinationId)
  await waitForFailures(destinationId)
  // Newer than the failed ones, and due before them.
  const second = await queue(destinationId, ['a', 'b', 'a'])
  await review(HOUR_MS / 2)
  expect(await showStream(id)).toMatchObject({ fallback: null })
  expect(await poll(id)).toMatchObject({ status: 200, body: { sets: {} } })

  await review(2 * HOUR_MS)
  const url = `${BASE_URL}/ssf_streams/${streamId}/events`
  const { fallback } = await showStream(id)
  expect(fallback).toMatchObject({ endpoint_url: url })
  expect(fallback?.reason).toMatch(/^Pushing has failed since .*polled at https:/)
  const { body } = await poll(id)
  const events = [...first, ...second]
  const announced = Object.keys(body.sets).filter((jti) => !events.includes(jti))
  expect(Object.keys(body.sets).filter((jti) => events.includes(jti))).toEqual(events)
  const claims = JSON.parse(
    Buffer.from(body.sets[announced[0] ?? '']?.split('.')[1] ?? '', 'base64url').toString(),
  ) as { events: Record<string, { status: string; reason: string }> }
  const [update] = Object.values(claims.events)
  expect(update).toMatchObject({ status: 'enabled', reason: fallback?.reason })

  // A page never shows a later event of a device without the earlier ones.
  for (const maxEvents of [1, 2, 3, 4, 5]) {
    const page = Object.keys((await poll(id, { maxEvents })).body.sets)
    expect(page).toHaveLength(maxEvents)
    for (const own of [
      [0, 2, 4],
      [1, 3],
    ]) {
      const ofDevice = own.map((index) => events[index])
      const shown = page.filter((jti) => ofDevice.includes(jti))
      expect(shown).toEqual(ofDevice.slice(0, shown.length))
    }
  }

  const acknowledged = [...first, ...announced]
  await poll(id, { ack: acknowledged, maxEvents: 0 })
  expect(await statesOf(first)).toEqual(['delivered', 'delivered'])
  // What is fetched says nothing of the address that events are pushed to.
  const { body: health } = await streams.call<{ last_success_at: unknown }>(
    `/ssf_streams/${id}/health`,
  )
  expect(health.last_success_at).toBeNull()
  const before = receiver.requests.length
  receiver.respond(answerWith(202))
  // A sweep may have tried the second ones as soon as nothing was before them, and record that at any moment.
  await vi.waitFor(
    async () => {
      await streams.db
        .updateTable('delivery')
        .set({ next_attempt_at: new Date() })
        .where('state', '=', 'queued')
        .execute()
      await streams.db.updateTable('delivery_destination').set({ retry_not_before: null }).execute()
      engine.wake(destinationId)
      expect(await statesOf(second)).toEqual(['delivered', 'delivered', 'delivered'])
    },
    { timeout: 5_000, interval: 200 },
  )
  // Nothing that was acknowledged is pushed any more, but for what is on its way when that comes.
  const pushed = receiver.requests.slice(before).map(({ body }) => jtiOf(body))
  expect(pushed.filter((jti) => jti !== announced[0]).sort()).toEqual([...second].sort())
  await review(2 * HOUR_MS)
  expect(await showStream(id)).toMatchObject({ fallback: null })
  const audits = await streams.db
    .selectFrom('audit_entry')
    .select('action')
    .where('action', 'like', 'ssf_stream.fallback%')
    .orderBy('sequence')
    .execute()
  expect(audits.map(({ action }) => action)).toEqual([
    'ssf_stream.fallback_begun',
    'ssf_stream.fallback_ended',
  ])
})

it('an event that runs out of attempts is kept and can be polled, instead of being dead', async () => {
  const receiver = await startReceiver(503)
  const { id, destinationId } = await createStream(receiver)
  const events = await queue(destinationId, ['a'])
  await startEngine([10, 20])
  await vi.waitFor(async () => expect((await showStream(id)).fallback).not.toBeNull(), {
    timeout: 10_000,
  })
  expect((await showStream(id)).fallback?.reason).toMatch(/receiver answered 503/)
  expect(await statesOf(events)).toEqual(['queued'])
  expect(Object.keys((await poll(id)).body.sets)).toContain(events[0])
  const tenDaysAgo = new Date(Date.now() - 10 * DAY_MS)
  await streams.db.updateTable('delivery').set({ created_at: tenDaysAgo }).execute()
  await streams.db.updateTable('delivery_destination').set({ failing_since: tenDaysAgo }).execute()
  expect(await deadLetterUnreachable(streams.db)).toBe(0)
  await poll(id, { ack: events })
  expect(await statesOf(events)).toEqual(['delivered'])
})

it('without the choice, an event that runs out of attempts is dead, and polling is refused', async () => {
  const receiver = await startReceiver(503)
  const { id, destinationId } = await createStream(receiver, false)
  const events = await queue(destinationId, ['a'])
  await startEngine([10, 20])
  await vi.waitFor(async () => expect(await statesOf(events)).toEqual(['dead']), {
    timeout: 10_000,
  })
  await review(2 * HOUR_MS)
  expect(await showStream(id)).toMatchObject({ fallback_to_poll: false, fallback: null })
  expect(await poll(id)).toMatchObject({ status: 409 })
})

it('an operator ends it by taking the choice back, or by changing where to push', async () => {
  const receiver = await startReceiver(503)
  const other = await startReceiver(202)
  for (const payload of [
    { fallback_to_poll: false },
    { delivery: { endpoint_url: `${other.url}/events` } },
  ]) {
    const { id, destinationId } = await createStream(receiver)
    const events = await queue(destinationId, ['a'])
    await streams.db
      .updateTable('delivery_destination')
      .set({ failing_since: new Date(Date.now() - 2 * HOUR_MS) })
      .where('id', '=', destinationId)
      .execute()
    await review(0)
    expect((await showStream(id)).fallback).not.toBeNull()
    await streams.call(`/ssf_streams/${id}`, { method: 'PATCH', payload })
    expect((await showStream(id)).fallback).toBeNull()
    const row = await streams.db
      .selectFrom('delivery_destination')
      .selectAll()
      .where('id', '=', destinationId)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      failing_since: null,
      keeps_exhausted: !('fallback_to_poll' in payload),
    })
    expect(await statesOf(events)).toEqual(['queued'])
  }
})

it('what is recorded when attempts are used up waits for a change of the stream before it locks deliveries', async () => {
  const receiver = await startReceiver(503)
  const { id, destinationId } = await createStream(receiver)
  const events = await queue(destinationId, ['a'])
  await streams.db.updateTable('delivery').set({ attempt_count: 1 }).execute()
  await streams.db.transaction().execute(async (tx) => {
    await sql`select from ssf_stream where destination_id = ${destinationId} for update`.execute(tx)
    await startEngine([HOUR_MS])
    await waitForLock(streams.db)
    // As one who sends an event of the stream again; fails where the delivery is locked already.
    await sql`select from delivery where event_id = ${events[0]} for update nowait`.execute(tx)
  })
  await vi.waitFor(async () => expect((await showStream(id)).fallback).not.toBeNull(), WAIT_MS)
  expect(await statesOf(events)).toEqual(['queued'])
})

it('changes the destination of a stream once, whatever is changed of the stream', async () => {
  const { id } = await createStream(await startReceiver(202))
  const payload = { enabled: false, fallback_to_poll: false }
  const statements = await recordStatements(async () => {
    const { status } = await streams.call(`/ssf_streams/${id}`, { method: 'PATCH', payload })
    expect(status).toBe(200)
  })
  const updates = statements.filter(({ text }) => text.includes('update "delivery_destination"'))
  expect(updates).toHaveLength(1)
})

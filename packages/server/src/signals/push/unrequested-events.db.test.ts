import { DEVICE_COMPLIANCE_CHANGE, STREAM_UPDATED } from '@heliograph/ssf'
import { decodeJwt } from 'jose'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createPushStreams, jtiOf, type PushStreams } from '../../../test/support/push-streams.ts'
import { queueEvents } from '../../../test/support/queue-events.ts'
import type { StreamIds } from '../../../test/support/streams-api.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { newUuid } from '../../platform/ids.ts'
import { claimDeliveries } from '../dispatch/claim-store.ts'
import { notifyDestinations, toDestinationId } from '../dispatch/delivery-store.ts'
import { discardClaimed } from '../streams/unrequested-event-store.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000

let push: PushStreams

beforeAll(async () => {
  push = await createPushStreams()
})
beforeEach(() => push.streams.clock.set(new Date()))
afterAll(() => push.close())
afterEach(() => push.reset())

/** Has a stream ask for these types, as a receiver does. */
async function askForTypes({ stream_id }: StreamIds, types: readonly string[]): Promise<void> {
  const { status } = await push.streams.call('/ssf_streams', {
    method: 'PATCH',
    payload: { stream_id, events_requested: types },
  })
  expect(status).toBe(200)
}

/** Has a stream ask for nothing but events about itself. */
const askForNothing = (stream: StreamIds) => askForTypes(stream, [])

/** The fate of each event, in the order in which they were queued. */
async function fates(): Promise<string[]> {
  const rows = await push.streams.db
    .selectFrom('delivery')
    .select(['state', 'last_error'])
    .orderBy('id')
    .execute()
  return rows.map(({ state, last_error: error }) => (error === null ? state : `${state}: ${error}`))
}

const GIVEN_UP = 'discarded: The stream no longer asks for events of this type'
const SAID_BUSY = `${GIVEN_UP}. Last error: The receiver answered 503`

test('what is on its way when its type is no longer asked for is not tried again, keeps what its receiver answered, and what follows it is sent', async () => {
  let asking: Promise<void> | undefined
  const receiver = await push.startReceiver((_request, response) => {
    const status = asking === undefined ? 503 : 202
    asking ??= askForNothing(stream)
    void asking.then(() => response.writeHead(status).end())
  })
  const stream = await push.createStream(receiver)
  const queue = (eventType: string) =>
    queueEvents(push.streams, stream.destinationId, ['device:1'], eventType)
  const first = await queue(DEVICE_COMPLIANCE_CHANGE)
  const second = await queue(STREAM_UPDATED)
  await push.startEngine()
  await vi.waitFor(async () => expect(await fates()).toEqual([SAID_BUSY, 'delivered']), WAIT_MS)
  const sent = receiver.requests.map(({ body }) => jtiOf(body))
  expect(sent).toEqual([...first.eventIds, ...second.eventIds])
})

test('what a change queued beside the one that dropped its type is given up unsent and without a number, and holds up nothing', async () => {
  const receiver = await push.startReceiver()
  const stream = await push.createStream(receiver, { heliograph_sequence: true })
  await askForNothing(stream)
  const subjects = ['device:1', 'device:2']
  await queueEvents(push.streams, stream.destinationId, subjects, DEVICE_COMPLIANCE_CHANGE)
  const { eventIds } = await queueEvents(push.streams, stream.destinationId, subjects)
  await push.startEngine()
  const ends = [GIVEN_UP, GIVEN_UP, 'delivered', 'delivered']
  await vi.waitFor(async () => expect(await fates()).toEqual(ends), WAIT_MS)
  const claims = receiver.requests.map(({ body }) => decodeJwt(body))
  expect(claims.map(({ jti }) => jti).sort()).toEqual([...eventIds].sort())
  expect(claims.map((each) => each['heliograph_sequence']).sort()).toEqual([1, 2])
})

test('a poll brings nothing that a change queued beside the one that dropped its type, and everything behind it', async () => {
  const stream = await push.streams.createStream({ name: 'poll', heliograph_sequence: true })
  const destinationId = await push.streams.getDestinationId(stream.id)
  await askForNothing(stream)
  const subjects = ['device:1', 'device:2', null]
  await queueEvents(push.streams, destinationId, subjects, DEVICE_COMPLIANCE_CHANGE)
  const { eventIds } = await queueEvents(push.streams, destinationId, subjects)
  const { body } = await push.streams.call<{ sets: Record<string, string> }>(
    `/ssf_streams/${stream.stream_id}/events`,
    { method: 'POST', payload: { maxEvents: 2 } },
  )
  expect(Object.keys(body.sets)).toEqual(eventIds.slice(0, 2))
  const numbers = Object.values(body.sets).map((set) => decodeJwt(set)['heliograph_sequence'])
  expect(numbers).toEqual([1, 2])
  expect(await fates()).toEqual([GIVEN_UP, GIVEN_UP, GIVEN_UP, 'queued', 'queued', 'queued'])
})

test('a poll that began before its stream asked for a type brings what was queued of it since', async () => {
  const { db } = push.streams
  const stream = await push.streams.createStream({ name: 'poll' })
  const destinationId = await push.streams.getDestinationId(stream.id)
  await askForTypes(stream, [])
  const acknowledged = await queueEvents(push.streams, destinationId, [null])
  const { poll, queued } = await db.transaction().execute(async (tx) => {
    await sql`select from delivery where id = any(${acknowledged.deliveryIds}) for update`.execute(
      tx,
    )
    const polled = push.streams.call<{ sets: Record<string, string> }>(
      `/ssf_streams/${stream.stream_id}/events`,
      { method: 'POST', payload: { ack: acknowledged.eventIds, returnImmediately: true } },
    )
    await waitForLock(db)
    await askForTypes(stream, [DEVICE_COMPLIANCE_CHANGE])
    const events = await queueEvents(push.streams, destinationId, [null], DEVICE_COMPLIANCE_CHANGE)
    return { poll: polled, queued: events }
  })
  const { body } = await poll
  expect(Object.keys(body.sets)).toEqual(queued.eventIds)
  expect(await fates()).toEqual(['delivered', 'queued'])
})

test('whoever watches is told of what is given up when it was about to be pushed', async () => {
  const stream = await push.createStream(await push.startReceiver())
  await askForNothing(stream)
  const queued = await queueEvents(
    push.streams,
    stream.destinationId,
    ['device:1', null],
    DEVICE_COMPLIANCE_CHANGE,
  )
  const told: string[] = []
  const topics = { tell: (each: readonly string[]) => told.push(...each) }
  await push.startEngine({ channel: { topics } })
  await vi.waitFor(async () => expect(await fates()).toEqual([GIVEN_UP, GIVEN_UP]), WAIT_MS)
  const expected = queued.deliveryIds.map((id) => `deliveries:${id}`)
  await vi.waitFor(() => expect(told.sort()).toEqual(expected.sort()), WAIT_MS)
})

test('whoever watches, and whoever pushes, is told of what is given up when it was about to be polled', async () => {
  const { db, wake } = push.streams
  const stream = await push.streams.createStream({ name: 'poll' })
  const destinationId = await push.streams.getDestinationId(stream.id)
  await askForNothing(stream)
  await queueEvents(push.streams, destinationId, [null], DEVICE_COMPLIANCE_CHANGE)
  // Notifications come in the order of their commits.
  const marker = toDestinationId('0')
  await notifyDestinations(db, [marker])
  await vi.waitFor(() => expect(wake).toHaveBeenCalledWith(marker), WAIT_MS)
  // What was queued is told after its commit, which may be after the marker.
  await vi.waitFor(() => expect(wake).toHaveBeenCalledWith(destinationId), WAIT_MS)
  wake.mockClear()
  const poll = () =>
    push.streams.call(`/ssf_streams/${stream.stream_id}/events`, { method: 'POST', payload: {} })
  await poll()
  await poll()
  await notifyDestinations(db, [marker])
  await vi.waitFor(() => expect(wake).toHaveBeenCalledWith(marker), WAIT_MS)
  expect([...new Set(wake.mock.calls.map(([id]) => id))]).toEqual([destinationId, marker])
})

test('a worker gives up nothing that another one has taken up since', async () => {
  const stream = await push.createStream(await push.startReceiver())
  const { destinationId } = stream
  await queueEvents(push.streams, destinationId, [null, null], DEVICE_COMPLIANCE_CHANGE)
  const request = { destinationId, ownClaimIds: [], leaseMs: 60_000, kid: null, limit: 2 }
  const { deliveries } = await claimDeliveries(push.streams.db, { ...request, claimId: newUuid() })
  const [first, second] = deliveries
  if (first === undefined || second === undefined) throw new Error('nothing was claimed')
  await discardClaimed(push.streams.db, [first, { ...second, claimId: newUuid() }])
  expect(await fates()).toEqual([GIVEN_UP, 'queued'])
})

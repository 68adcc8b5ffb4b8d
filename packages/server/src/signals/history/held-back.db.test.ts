import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { newUuid } from '../../platform/ids.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { insertDeliveries, makeDueNow } from '../dispatch/delivery-store.ts'

const HELD_BACK_MS = 600_000

let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi()
})
beforeEach(() => streams.clock.set(new Date()))
afterAll(() => streams.close())
afterEach(() => streams.clear())

interface Queued {
  readonly url: string
  readonly destinationId: DestinationId
  /** Of a head that is tried again in an hour, and of what follows it. */
  readonly eventIds: readonly string[]
}

/** A device that became `words` one after another; what follows the first of them waits for its next attempt. */
async function queueBehindRetry(...words: readonly string[]): Promise<Queued> {
  const payload = {
    name: 'held back',
    heliograph_sequence: true,
    damping_seconds: HELD_BACK_MS / 1000,
  }
  const { id } = await streams.createStream(payload)
  const destinationId = await streams.getDestinationId(id)
  const deliveries = words.map((word) => {
    const eventId = newUuid()
    const events = { [DEVICE_COMPLIANCE_CHANGE]: { current_status: word } }
    const body = JSON.stringify({ jti: eventId, events })
    const what = { eventId, eventType: DEVICE_COMPLIANCE_CHANGE, subjectKey: 'device:1', body }
    return { destinationId, ...what }
  })
  await streams.runChange({ actor: SYSTEM_ACTOR }, (change) => insertDeliveries(change, deliveries))
  await sql`update delivery set next_attempt_at = now() + interval '1 hour'`.execute(streams.db)
  const eventIds = deliveries.map(({ eventId }) => eventId)
  await sql`update delivery set attempt_count = 1 where event_id = ${eventIds[0]}`.execute(
    streams.db,
  )
  return { url: `/ssf_streams/${id}`, destinationId, eventIds }
}

/** In how many minutes each is due. */
async function dueInMinutes({ eventIds }: Queued): Promise<number[]> {
  const { rows } = await sql<{ minutes: number }>`
    select round(extract(epoch from next_attempt_at - now()) / 60)::int as minutes
    from delivery where event_id = any(${eventIds}::text[]) order by id`.execute(streams.db)
  return rows.map(({ minutes }) => minutes)
}

const call = async (url: string, payload: object) =>
  expect((await streams.call(url, { method: 'POST', payload })).status).toBe(200)

it('what is held back stays so when what it follows is given up', async () => {
  const queued = await queueBehindRetry('not-compliant', 'compliant')
  await call(`${queued.url}/discard`, { event_ids: queued.eventIds.slice(0, 1) })
  expect((await dueInMinutes(queued)).slice(1)).toEqual([10])
})

it('what is held back stays so when what it follows is sent again', async () => {
  const queued = await queueBehindRetry('not-compliant', 'compliant')
  await call(`${queued.url}/deliveries/${queued.eventIds[0] ?? ''}/resend`, {})
  expect(await dueInMinutes(queued)).toEqual([0, 10])
})

it('what is held back stays so when its receiver works again', async () => {
  const queued = await queueBehindRetry('not-compliant', 'compliant')
  await makeDueNow(streams.db, queued.destinationId, { max: 10 })
  expect(await dueInMinutes(queued)).toEqual([0, 10])
})

it('nothing is held back that bad news waits behind', async () => {
  const queued = await queueBehindRetry('not-compliant', 'compliant', 'not-compliant')
  await makeDueNow(streams.db, queued.destinationId, { max: 10 })
  expect(await dueInMinutes(queued)).toEqual([0, 0, 0])
})

it('nothing is held back that a receiver may have seen, which no relapse withdraws', async () => {
  const queued = await queueBehindRetry('not-compliant', 'compliant')
  await sql`update delivery set detached_token = 'h..s' where event_id = ${queued.eventIds[1]}`.execute(
    streams.db,
  )
  await makeDueNow(streams.db, queued.destinationId, { max: 10 })
  expect(await dueInMinutes(queued)).toEqual([0, 0])
})

it('what is held back for longer than the stream wants by now goes out by the wish of now', async () => {
  const queued = await queueBehindRetry('not-compliant', 'compliant')
  await sql`update ssf_stream set damping_seconds = 0`.execute(streams.db)
  await call(`${queued.url}/discard`, { event_ids: queued.eventIds.slice(0, 1) })
  expect((await dueInMinutes(queued)).slice(1)).toEqual([0])
})

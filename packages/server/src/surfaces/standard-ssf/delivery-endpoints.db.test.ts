import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { StreamId } from '../../schema/branded-ids.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { queueEvents } from '../../../test/support/queue-events.ts'
import { createStandardApi, type StandardApi } from '../../../test/support/standard-api.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'

let api: StandardApi

beforeAll(async () => {
  api = await createStandardApi({ subjectsMax: 10 })
})
afterAll(() => api.close())

async function createStream(token?: string): Promise<string> {
  const { body } = await api.call<{ stream_id: string }>('/ssf/streams', {
    method: 'POST',
    payload: {
      delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: 'http://127.0.0.1:9/events' },
    },
    ...(token === undefined ? {} : { token }),
  })
  return body.stream_id
}

async function queueDead(streamId: string, count: number, eventType?: string): Promise<string[]> {
  const stream = await api.db
    .selectFrom('ssf_stream')
    .select('destination_id')
    .where('stream_id', '=', streamId as StreamId)
    .executeTakeFirstOrThrow()
  const subjects = Array<null>(count).fill(null)
  const { eventIds } = await queueEvents(api, stream.destination_id, subjects, eventType)
  await api.db
    .updateTable('delivery')
    .set({ state: 'dead', finished_at: new Date(), last_error: 'The receiver answered 400' })
    .where('event_id', 'in', eventIds)
    .execute()
  return eventIds
}

interface Page {
  deliveries: { id: string; event_id: string; state: string; last_error: string | null }[]
  next_after: string | null
}

it('a receiver reads what became of its events, page by page', async () => {
  const streamId = await createStream()
  const events = await queueDead(streamId, 5)
  const path = `/ssf/streams/${streamId}/deliveries`
  const first = await api.call<Page>(`${path}?limit=2&query=state%3Adead`)
  expect(first).toMatchObject({ status: 200 })
  const rest = await api.call<Page>(`${path}?after=${first.body.next_after ?? ''}`)
  expect(rest.body.next_after).toBeNull()
  const seen = [...first.body.deliveries, ...rest.body.deliveries]
  expect(seen.map(({ event_id }) => event_id)).toEqual(events)
  expect(seen[0]?.last_error).toBe('The receiver answered 400')
  expect(await api.call(`${path}/${events[0] ?? ''}`)).toMatchObject({
    status: 200,
    body: { content: { jti: events[0] }, attempt_log: [] },
  })
})

it('a receiver sends its own events again and gives them up', async () => {
  const streamId = await createStream()
  const [one = '', two = '', three = ''] = await queueDead(streamId, 3)
  const base = `/ssf/streams/${streamId}`
  const post = (path: string, payload: object) =>
    api.call(`${base}/${path}`, { method: 'POST', payload })
  expect(await post(`deliveries/${one}/resend`, {})).toMatchObject({
    status: 200,
    body: { event_id: one, state: 'queued' },
  })
  expect(await post('redrive', { event_ids: [two] })).toMatchObject({
    status: 200,
    body: { count: 1, has_more: false },
  })
  expect(await post('discard', { event_ids: [three] })).toMatchObject({ body: { count: 1 } })
  expect(await post('discard', {})).toMatchObject({ status: 400 })
  expect(await post('redrive', { since: 'then' })).toMatchObject({ status: 400 })
  const audit = await api.db
    .selectFrom('audit_entry')
    .select(['action', 'actor_type'])
    .where('action', 'in', ['delivery.resent', 'deliveries.redriven', 'deliveries.discarded'])
    .orderBy('sequence')
    .execute()
  expect(audit.map(({ action }) => action)).toEqual([
    'delivery.resent',
    'deliveries.redriven',
    'deliveries.discarded',
  ])
  expect(audit.every(({ actor_type }) => actor_type !== 'System')).toBe(true)
})

it('a redrive by a receiver waits for a change of its stream, and passes over events of a type that it drops', async () => {
  const streamId = await createStream()
  const asking = { stream_id: streamId, events_requested: [DEVICE_COMPLIANCE_CHANGE] }
  await api.call('/ssf/streams', { method: 'PATCH', payload: asking })
  await queueDead(streamId, 1, DEVICE_COMPLIANCE_CHANGE)
  const { redrive } = await api.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('ssf_stream')
      .set({ events_requested: [] })
      .where('stream_id', '=', streamId as StreamId)
      .execute()
    const answer = api.call(`/ssf/streams/${streamId}/redrive`, { method: 'POST', payload: {} })
    await waitForLock(api.db)
    return { redrive: answer }
  })
  expect(await redrive).toMatchObject({ status: 200, body: { count: 0 } })
})

it('nobody else sees or moves them, nor without the scope', async () => {
  const streamId = await createStream()
  const [eventId = ''] = await queueDead(streamId, 1)
  const stranger = await api.newToken(await api.newClient())
  const reader = await api.newToken(api.client, 'ssf.read')
  const base = `/ssf/streams/${streamId}`
  const reads = [`${base}/deliveries`, `${base}/deliveries/${eventId}`]
  const writes = [`${base}/deliveries/${eventId}/resend`, `${base}/redrive`]
  for (const path of reads) {
    expect(await api.call(path, { token: stranger })).toMatchObject({ status: 404 })
    expect(await api.call(path, { token: null })).toMatchObject({ status: 401 })
    expect(await api.call(path, { token: reader })).toMatchObject({ status: 200 })
  }
  for (const path of writes) {
    const request = { method: 'POST', payload: {} } as const
    expect(await api.call(path, { ...request, token: stranger })).toMatchObject({ status: 404 })
    expect(await api.call(path, { ...request, token: reader })).toMatchObject({ status: 403 })
    expect(await api.call(path, { ...request, token: null })).toMatchObject({ status: 401 })
  }
  const row = await api.db
    .selectFrom('delivery')
    .select('state')
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow()
  expect(row.state).toBe('dead')
})

it.each(['limit=0', 'limit=101', 'limit=x', 'after=x', 'query=nothing%3A1', 'query=a&query=b'])(
  'a list with %s is refused with 400',
  async (query) => {
    const streamId = await createStream()
    const path = `/ssf/streams/${streamId}/deliveries?${query}`
    expect(await api.call(path)).toMatchObject({ status: 400 })
  },
)

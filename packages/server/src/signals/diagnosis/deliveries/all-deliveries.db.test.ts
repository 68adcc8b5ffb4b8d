import { STREAM_UPDATED } from '@heliograph/ssf'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import { queueEvents } from '../../../../test/support/queue-events.ts'
import type { StreamRowId } from '../../../schema/branded-ids.ts'
import { newUlid } from '../../../platform/ids.ts'
import { setOrganisation } from '../../../organisation/settings/set-organisation.ts'
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'
import { insertEventsForSubscribers } from '../../webhooks/webhook-event-store.ts'

interface Listed {
  readonly id: string
  readonly event_id: string
  readonly state: string
  readonly device_id: string | null
  readonly destination: { readonly type: string; readonly id: string; readonly name: string }
}

const STREAMS = 'Manage Shared Signals Framework Streams'

let api: ServiceApi
let key: string
let streamId: string
let webhookId: string
let streamEvent: string
let webhookEvent: string

beforeAll(async () => {
  api = await createServiceApi()
  key = await api.createKey([STREAMS, 'Manage Webhooks'])
  const stream = await api.request<{ id: string }>('/ssf_streams', {
    key,
    method: 'POST',
    payload: { name: 'Gateway', delivery: { method: 'urn:ietf:rfc:8936' } },
  })
  streamId = stream.body.id
  const webhook = await api.request<{ id: string }>('/webhooks', {
    key,
    method: 'POST',
    payload: {
      name: 'Chat',
      url: 'https://127.0.0.1/hook',
      events: ['device_trust.status_changed'],
    },
  })
  expect([webhook.status, stream.status], JSON.stringify(webhook.body)).toEqual([200, 201])
  webhookId = webhook.body.id
  const { db, runChange } = api
  const { destination_id: destinationId } = await db
    .selectFrom('ssf_stream')
    .select('destination_id')
    .where('id', '=', streamId as StreamRowId)
    .executeTakeFirstOrThrow()
  await db.deleteFrom('delivery').execute()
  const queued = await queueEvents({ runChange }, destinationId, ['device:7', 'device:8'])
  streamEvent = queued.eventIds[0] ?? ''
  webhookEvent = newUlid(new Date())
  await insertEventsForSubscribers(
    db,
    [
      {
        eventId: webhookEvent,
        eventType: 'device_trust.status_changed',
        object: { type: 'device', id: '7' },
        occurredAt: new Date(),
        body: '{"event":"device.status_changed"}',
      },
    ],
    { txn: newUlid(new Date()), at: new Date() },
  )
})

afterAll(() => api.close())

const list = async (query: string, by = key): Promise<Listed[]> => {
  const { status, body } = await api.request<{ data: Listed[] }>(
    `/deliveries?query=${encodeURIComponent(query)}`,
    { key: by },
  )
  expect(status).toBe(200)
  return body.data
}

describe('GET /deliveries', () => {
  it('lists those of streams and of webhooks, each with whom it goes to', async () => {
    const all = await list('')
    expect(all.map(({ destination }) => destination)).toEqual([
      { type: 'ssf_stream', id: streamId, name: 'Gateway' },
      { type: 'ssf_stream', id: streamId, name: 'Gateway' },
      { type: 'webhook', id: webhookId, name: 'Chat' },
    ])
  })

  it('finds by destination, device, person, event and state', async () => {
    const eventsOf = async (query: string) => (await list(query)).map(({ event_id: id }) => id)
    expect(await eventsOf(`stream_id:${streamId}`)).toHaveLength(2)
    expect(await eventsOf(`webhook_id:${webhookId} AND state:queued`)).toEqual([webhookEvent])
    expect(await eventsOf('device_id:7')).toEqual([streamEvent, webhookEvent])
    expect(await eventsOf(`event_id:${webhookEvent}`)).toEqual([webhookEvent])
    expect(await eventsOf('person_id:1')).toEqual([])
    const person = await api.db
      .insertInto('person')
      .values({
        name: 'Ada',
        email: 'ada@example.com',
        created_at: new Date(),
        updated_at: new Date(),
      } as never)
      .returning('id')
      .executeTakeFirstOrThrow()
    await api.db
      .updateTable('webhook_event')
      .set({ object_type: 'person', object_id: person.id })
      .execute()
    expect(await eventsOf(`person_id:${person.id}`)).toEqual([webhookEvent])
    await api.db
      .updateTable('webhook_event')
      .set({ object_type: 'device', object_id: '7' })
      .execute()
    expect(await eventsOf('state:dead')).toEqual([])
  })

  it('finds by event types, whoever has events of these', async () => {
    const eventsOf = async (query: string) => (await list(query)).map(({ event_id: id }) => id)
    const both = `event_type:["device_trust.status_changed","${STREAM_UPDATED}"]`
    const of = { stream: `stream_id:${streamId}`, webhook: `webhook_id:${webhookId}` }
    expect(await eventsOf(both)).toHaveLength(3)
    expect(await eventsOf(`${both} AND ${of.stream}`)).toHaveLength(2)
    expect(await eventsOf(`${both} AND ${of.webhook}`)).toEqual([webhookEvent])
    expect(await eventsOf(`event_type:"${STREAM_UPDATED}" AND ${of.webhook}`)).toEqual([])
    expect(await eventsOf(`event_type:"${STREAM_UPDATED}" OR ${of.webhook}`)).toHaveLength(3)
    expect(await eventsOf(`${of.stream} AND ${of.webhook}`)).toEqual([])
    expect(await eventsOf(`(${of.stream} OR ${of.webhook}) AND ${both}`)).toHaveLength(3)
  })

  it('gives the newest first on request', async () => {
    const { body } = await api.request<{ data: Listed[] }>('/deliveries?order=desc&per_page=1', {
      key,
    })
    expect(body.data.map(({ event_id: id }) => id)).toEqual([webhookEvent])
  })

  it('shows each caller what it may manage, and nothing of streams while they are switched off', async () => {
    expect(await list('', api.key)).toEqual([])
    const types = async (by: string) =>
      (await list('', by)).map(({ destination }) => destination.type)
    expect(await types(await api.createKey(['Manage Webhooks']))).toEqual(['webhook'])
    expect(await types(await api.createKey([STREAMS]))).toEqual(['ssf_stream', 'ssf_stream'])
    const switchSsf = (isSsfEnabled: boolean) =>
      api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
        setOrganisation(change, { isSsfEnabled }, () => Promise.resolve()),
      )
    await switchSsf(false)
    await expect.poll(() => types(key)).toEqual(['webhook'])
    await switchSsf(true)
    await expect.poll(() => types(key)).toHaveLength(3)
  })
})

describe('one of them', () => {
  it('is shown below its destination, with why each attempt failed and how long it had waited', async () => {
    const [delivery] = await list(`event_id:${webhookEvent}`)
    const id = delivery?.id ?? ''
    const { created_at: createdAt } = await api.db
      .selectFrom('delivery')
      .select('created_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    await api.db
      .insertInto('delivery_attempt')
      .values({
        delivery_id: id,
        number: 1,
        started_at: new Date(createdAt.getTime() + 250),
        timings: JSON.stringify({ dns: 1, total: 5 }),
        outcome: 'retry',
        status_code: null,
        error_code: 'connection_refused',
        error: 'refused',
        response_body: null,
        remote_address: '127.0.0.1',
        next_attempt_at: null,
      })
      .execute()
    const path = `/webhooks/${webhookId}/deliveries/${webhookEvent}`
    const { status, body } = await api.request<Record<string, unknown>>(path, { key })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      content: { event: 'device.status_changed' },
      token: null,
      attempt_log: [
        {
          waited_ms: 250,
          explanation: { cause: 'Nothing listens at the address and port of the receiver.' },
        },
      ],
    })
  })
})

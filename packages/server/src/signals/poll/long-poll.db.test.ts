import { sql } from 'kysely'
import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { STREAM_UPDATED } from '@heliograph/ssf'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createKeyAdmin, createTestKey } from '../../../test/support/api-keys.ts'
import { composeProcess } from '../../../test/support/composed-api.ts'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import {
  createStreamsApi,
  type StreamIds,
  type StreamsApi,
} from '../../../test/support/streams-api.ts'
import { toUrl } from '../../../test/support/to-url.ts'
import { loadConfig } from '../../app/config/load-config.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { openFoundation } from '../../app/foundation.ts'
import { newUlid } from '../../platform/ids.ts'
import type { StreamRowId } from '../../schema/branded-ids.ts'
import { queueDeliveries } from '../dispatch/delivery-store.ts'
import { hashKey } from '../../organisation/api-keys/api-key-secret.ts'

const STREAMS_PERMISSION = 'Manage Shared Signals Framework Streams'
const LONG = { returnImmediately: false }

interface PollAnswer {
  readonly sets: Record<string, string>
  readonly moreAvailable?: boolean
}

let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())
afterEach(() => streams.clear())

const createStream = (extra: object = {}) => streams.createStream({ name: 'poll', ...extra })

const post = (url: string, payload: object) => streams.call(url, { method: 'POST', payload })

async function emit(id: string, count = 1): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await post(`/ssf_streams/${id}/test`, { email: 'grace@example.com' })
  }
}

async function poll(id: string, payload: object = {}, headers: Record<string, string> = {}) {
  const url = `/ssf_streams/${id}/events`
  const answer = await streams.call<PollAnswer>(url, { method: 'POST', payload, headers })
  expect(answer.status).toBe(200)
  return answer
}

const setsOf = async (id: string, payload?: object) =>
  Object.keys((await poll(id, payload)).body.sets)

/** Until as many polls wait as are expected. */
const untilWaiting = (count: number) =>
  vi.waitFor(() => expect(streams.waiters.count()).toBe(count), { timeout: 5_000 })

function typeOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    events: object
  }
  return Object.keys(claims.events)[0] ?? ''
}

describe('a waiting poll', () => {
  it('ssf-T128 is answered with the event, and everybody who waits for the stream is', async () => {
    const stream = await createStream()
    const other = await createStream()
    const pending = [1, 2, 3].map(() => setsOf(stream.stream_id, LONG))
    const elsewhere = setsOf(other.id, LONG)
    await untilWaiting(4)
    await emit(stream.id)
    const answers = await Promise.all(pending)
    expect(new Set(answers.map(String)).size).toBe(1)
    expect(answers[0]).toHaveLength(1)
    expect(streams.waiters.count()).toBe(1)
    await streams.call(`/ssf_streams/${other.id}`, { method: 'DELETE' })
    expect(await elsewhere).toEqual([])
    expect(streams.waiters.count()).toBe(0)
    // Nobody has acknowledged it: to have been in an answer is not to have arrived.
    expect(await setsOf(stream.id)).toEqual(answers[0])
    expect(await setsOf(stream.id, { ack: answers[0] })).toEqual([])
  })

  it('ssf-T133 that only acknowledges waits for an event, and does not carry it', async () => {
    const stream = await createStream()
    await emit(stream.id)
    const [first] = await setsOf(stream.id)
    const pending = setsOf(stream.id, { ...LONG, ack: [first], maxEvents: 0 })
    await untilWaiting(1)
    await emit(stream.id)
    expect(await pending).toEqual([])
    const [second] = await setsOf(stream.id)
    expect(second).not.toBe(first)
  })

  it('is answered when an event that is held back becomes due', async () => {
    const stream = await createStream()
    await emit(stream.id)
    await sql`update delivery set next_attempt_at = now() + interval '1 hour'`.execute(streams.db)
    expect(await setsOf(stream.id)).toEqual([])
    await sql`update delivery set next_attempt_at = now() + interval '500 ms'`.execute(streams.db)
    expect(await setsOf(stream.id, LONG)).toHaveLength(1)
  })

  it('ends without an event when the stream is deleted or turns to push meanwhile', async () => {
    const deleted = await createStream()
    const turned = await createStream()
    const pending = [deleted, turned].map(({ id }) => setsOf(id, LONG))
    await untilWaiting(2)
    await streams.call(`/ssf_streams/${deleted.id}`, { method: 'DELETE' })
    await streams.call(`/ssf_streams/${turned.id}`, {
      method: 'PATCH',
      payload: {
        delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: 'https://receiver.example.com/' },
      },
    })
    expect(await Promise.all(pending)).toEqual([[], []])
  })

  it.each(['API key', 'poll token'])(
    'is told nothing when its %s ended meanwhile, and the event stays',
    async (kind) => {
      const { id, poll_bearer_token: token } = await streams.createStream<
        StreamIds & { readonly poll_bearer_token: string }
      >({ name: 'poll' })
      const isKey = kind === 'API key'
      const key = isKey ? await streams.api.createKey([STREAMS_PERMISSION]) : token
      const pending = streams.api.request<PollAnswer>(`/ssf_streams/${id}/events`, {
        method: 'POST',
        key,
        payload: LONG,
      })
      await untilWaiting(1)
      if (isKey) {
        await streams.db
          .updateTable('api_key')
          .set({ revoked_at: streams.clock.now() })
          .where('secret_hash', '=', hashKey(key))
          .execute()
      } else await post(`/ssf_streams/${id}/poll_token`, { mode: 'disable' })
      await emit(id)
      expect((await pending).body).toEqual({ sets: {} })
      expect(await setsOf(id)).toHaveLength(1)
    },
  )

  it('counts once for the rate limit, and holds no connection of the database', async () => {
    const { id } = await createStream()
    const remaining = async (payload: object) =>
      Number((await poll(id, payload)).headers['ratelimit-remaining'])
    const before = await remaining({})
    expect(await remaining({ ...LONG, timeoutSecs: 0.3 })).toBe(before - 1)
    expect(await remaining({})).toBe(before - 2)
    // More than the pool has connections.
    const pending = Array.from({ length: 30 }, () => setsOf(id, LONG))
    await untilWaiting(30)
    await emit(id)
    expect(new Set((await Promise.all(pending)).map((sets) => sets.length))).toEqual(new Set([1]))
  })

  it('gives its place back when its client goes away', async () => {
    const { id } = await createStream()
    const { app } = streams.api
    if (app.server.address() === null) await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const key = await streams.api.createKey([STREAMS_PERMISSION])
    const client = httpRequest({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: `/ssf_streams/${id}/events`,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
    client.on('error', () => undefined)
    client.end(JSON.stringify(LONG))
    await untilWaiting(1)
    client.destroy()
    await untilWaiting(0)
  })
})

describe('a poll', () => {
  it('ssf-T127 takes max_events, and members and headers that it has no use for', async () => {
    const { id, stream_id: streamId } = await createStream()
    await emit(id, 2)
    const body = { max_events: 1, stream_id: 'anything', unknown: { a: [1] } }
    const one = await poll(id, body, { 'content-language': 'en-GB' })
    expect(Object.keys(one.body.sets)).toHaveLength(1)
    expect(one.body.moreAvailable).toBe(true)
    const url = `/ssf_streams/${streamId}/events?stream_id=${streamId}`
    expect(await streams.call(url, { method: 'POST', payload: {} })).toMatchObject({ status: 200 })
    expect(await streams.call(url, { method: 'POST' })).toMatchObject({ status: 200 })
  })

  it('ssf-T132 never carries moreAvailable where the stream has it so', async () => {
    const { id } = await createStream({ profile: 'sgnl' })
    await emit(id, 2)
    const { body } = await poll(id, { maxEvents: 1 })
    expect(Object.keys(body)).toEqual(['sets'])
  })

  it('ssf-T131 hands out what failed for the moment ten times, and then no more', async () => {
    const { id } = await createStream()
    await emit(id)
    const [jti = ''] = await setsOf(id)
    const report = { setErrs: { [jti]: { err: 'delivery_failed', description: 'later' } } }
    for (let count = 1; count < 10; count += 1) expect(await setsOf(id, report)).toEqual([jti])
    expect(await setsOf(id, report)).toEqual([])
    const row = await streams.db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ state: 'dead', last_error: 'delivery_failed: later' })
  })

  it('ssf-T131 finishes what is acknowledged and reported at once', async () => {
    const { id } = await createStream()
    await emit(id)
    const [jti = ''] = await setsOf(id)
    const both = { ack: [jti], setErrs: { [jti]: { err: 'invalid_set' } } }
    expect(await setsOf(id, both)).toEqual([])
    const row = await streams.db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ state: 'dead', last_error: 'invalid_set' })
  })
})

describe('a stream that was stopped', () => {
  it.each(['paused', 'disabled'])(
    'ssf-T115 tells of it to who polls by POST while it is %s, and of nothing else',
    async (status) => {
      const { id, stream_id: streamId } = await createStream()
      await emit(id)
      await post('/ssf_streams/status', { stream_id: streamId, status, reason: 'maintenance' })
      const { body } = await poll(id)
      expect(Object.values(body.sets).map(typeOf)).toEqual([STREAM_UPDATED])
      expect((await streams.call(`/ssf_streams/${id}/events`)).body).toEqual({ sets: {} })
      expect(await setsOf(id, { ack: Object.keys(body.sets) })).toEqual([])
    },
  )

  it('wakes who waits when it goes on', async () => {
    const { id, stream_id: streamId } = await createStream()
    await emit(id)
    await post('/ssf_streams/status', { stream_id: streamId, status: 'paused' })
    const stop = await setsOf(id)
    const pending = setsOf(id, { ...LONG, ack: stop })
    await untilWaiting(1)
    await post('/ssf_streams/status', { stream_id: streamId, status: 'enabled' })
    expect((await pending).length).toBeGreaterThan(0)
  })
})

describe('two processes on one database', () => {
  let database: TestDatabase
  const stops: (() => Promise<void>)[] = []

  beforeAll(async () => {
    database = await createTestDatabase({ poolMax: 1 })
  })
  afterAll(() => database.close())
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })

  const masterKey = randomBytes(32).toString('base64')
  async function start() {
    const services = await openFoundation(
      loadConfig({
        DATABASE_URL: toUrl(database.connection),
        HELIOGRAPH_BASE_URL: 'https://trust.example.com',
        HELIOGRAPH_MASTER_KEY: masterKey,
        HELIOGRAPH_ROLES: 'api',
        HELIOGRAPH_LOG_LEVEL: 'silent',
      }),
      { purpose: 'service', log: SILENT_LOGGER },
    )
    const { http, parts, supervisor } = await composeProcess(services)
    await supervisor.start()
    stops.push(async () => {
      await supervisor.stop()
      await services.close()
    })
    return { services, http, parts }
  }

  type Started = Pick<Awaited<ReturnType<typeof start>>, 'services' | 'http'>
  async function createPolled({ services, http }: Started) {
    const key = await createTestKey(services, [STREAMS_PERMISSION])
    const headers = { authorization: `Bearer ${key}` }
    const created = await http.inject({
      method: 'POST',
      url: '/ssf_streams',
      headers,
      payload: { name: 'poll' },
    })
    const { id = '', poll_bearer_token: token = '' } = created.json<Record<string, string>>()
    return { id, headers, pollHeaders: { authorization: `Bearer ${token}` } }
  }

  it('ssf-T128 a poll that waits in one is answered when the other commits an event', async () => {
    const waiting = await start()
    const committing = await start()
    await createKeyAdmin(committing.services.runChange)
    const { id, headers, pollHeaders } = await createPolled(committing)
    const answers: { readonly sets: object; readonly waitedMs: number }[] = []
    for (const round of [1, 2, 3]) {
      const pending = waiting.http.inject({
        method: 'POST',
        url: `/ssf_streams/${id}/events`,
        headers: pollHeaders,
        payload: LONG,
      })
      // It begins to wait without being seen: what is committed before is found by its first look.
      await new Promise((resolve) => setTimeout(resolve, 300))
      const before = performance.now()
      const tested = await committing.http.inject({
        method: 'POST',
        url: `/ssf_streams/${id}/test`,
        headers,
        payload: { email: `round-${round}@example.com` },
      })
      expect(tested.statusCode).toBe(200)
      const { sets } = (await pending).json<PollAnswer>()
      answers.push({ sets, waitedMs: performance.now() - before })
      await committing.http.inject({
        method: 'POST',
        url: `/ssf_streams/${id}/events`,
        headers,
        payload: { ack: Object.keys(sets) },
      })
    }
    expect(answers.map(({ sets }) => Object.keys(sets).length)).toEqual([1, 1, 1])
    // Far below the 25 s after which the poll would have looked again by itself.
    expect(answers.every(({ waitedMs }) => waitedMs < 10_000)).toBe(true)
  })

  it('a poll is answered though the other died before it told of its commit', async () => {
    const { services, http, parts } = await start()
    const { id, pollHeaders } = await createPolled({ services, http })
    const { destination_id: destinationId } = await services.db
      .selectFrom('ssf_stream')
      .select('destination_id')
      .where('id', '=', id as StreamRowId)
      .executeTakeFirstOrThrow()
    const pending = http.inject({
      method: 'POST',
      url: `/ssf_streams/${id}/events`,
      headers: pollHeaders,
      payload: LONG,
    })
    const { waiters } = parts.streams.context
    await vi.waitFor(() => expect(waiters.count()).toBe(1), { timeout: 5_000 })
    const toTell: string[][] = []
    await database.db.transaction().execute((tx) =>
      queueDeliveries(
        {
          tx,
          txn: newUlid(new Date()),
          at: new Date(),
          tellAfterCommit: (...told) => toTell.push(told),
        },
        [
          {
            destinationId,
            eventId: 'untold',
            eventType: STREAM_UPDATED,
            subjectKey: null,
            body: '{}',
          },
        ],
      ),
    )
    expect(toTell).toEqual([['delivery', destinationId]])
    const job = parts.jobs.find(({ name }) => name === 'waiting polls')
    if (job?.kind !== 'periodic') throw new Error('nothing looks after polls that wait')
    await job.run()
    const { sets } = (await pending).json<PollAnswer>()
    expect(Object.keys(sets)).toEqual(['untold'])
  })
})

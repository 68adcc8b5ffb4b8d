import { parseStreamReference } from './stream-store.ts'
import type { StreamId } from '../../schema/branded-ids.ts'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createStandardApi, type StandardApi } from '../../../test/support/standard-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { setStreamStatus } from './set-stream-status.ts'
import { adoptInactivityTimeout, pauseSilentStreams } from './stream-activity.ts'

const TIMEOUT_SECONDS = 60
const STREAM_UPDATED = 'https://schemas.openid.net/secevent/ssf/event-type/stream-updated'
const settings = { inactivityTimeoutSeconds: TIMEOUT_SECONDS }

let api: StandardApi
let id: string

beforeAll(async () => {
  api = await createStandardApi(settings)
  await adoptInactivityTimeout(settings, api)
})
afterAll(() => api.close())
beforeEach(async () => {
  await api.db.deleteFrom('ssf_stream').execute()
  id = await createStream()
})

async function createStream(): Promise<string> {
  const answer = await api.call<{ stream_id: string }>('/ssf/streams', {
    method: 'POST',
    payload: {},
    // The clock may have passed the end of every earlier token.
    token: await api.newToken(api.client),
  })
  return answer.body.stream_id
}

const run = (timeout = settings) =>
  pauseSilentStreams({
    db: api.db,
    clock: api.clock,
    runChange: api.runChange,
    settings: timeout,
  })
async function statusOf(streamId = id): Promise<string> {
  const row = await api.db
    .selectFrom('ssf_stream')
    .select('status')
    .where('stream_id', '=', streamId as StreamId)
    .executeTakeFirstOrThrow()
  return row.status
}
const after = (ms: number) => new Date(api.clock.now().getTime() + ms)
const subject = { format: 'email', email: 'ada@example.com' }

describe('a stream whose receiver is silent', () => {
  it('ssf-T058 is paused at the exact end of the time, and its receiver is told', async () => {
    expect(await run()).toEqual(after(TIMEOUT_SECONDS * SECOND_MS))
    api.clock.advance(TIMEOUT_SECONDS * SECOND_MS - 1)
    expect(await run()).toEqual(after(1))
    expect(await statusOf()).toBe('enabled')
    api.clock.advance(1)
    expect(await run()).toBeUndefined()
    expect(await statusOf()).toBe('paused')
    const { body } = await api.call<{ sets: Record<string, string> }>(`/ssf/poll/${id}`, {
      method: 'POST',
      payload: { returnImmediately: true },
    })
    const events = Object.values(body.sets).map((token) => decodeJwt(token)['events'])
    expect(events).toEqual([
      {
        [STREAM_UPDATED]: {
          status: 'paused',
          reason: 'Nothing was heard of the receiver for 60 seconds',
        },
      },
    ])
  })

  const calls: readonly (readonly [
    method: 'GET' | 'POST' | 'PATCH' | 'PUT',
    url: () => string,
    payload: (() => object) | undefined,
  ])[] = [
    ['GET', () => `/ssf/streams?stream_id=${id}`, undefined],
    ['PATCH', () => '/ssf/streams', () => ({ stream_id: id })],
    ['PUT', () => '/ssf/streams', () => ({ stream_id: id })],
    ['GET', () => `/ssf/status?stream_id=${id}`, undefined],
    ['POST', () => '/ssf/status', () => ({ stream_id: id, status: 'enabled' })],
    ['POST', () => '/ssf/verify', () => ({ stream_id: id })],
    ['POST', () => '/ssf/subjects:add', () => ({ stream_id: id, subject })],
    ['POST', () => '/ssf/subjects:remove', () => ({ stream_id: id, subject })],
    ['POST', () => `/ssf/poll/${id}`, () => ({ returnImmediately: true })],
  ]

  it.each(calls)('ssf-T058 has its full time again after %s %s', async (method, url, payload) => {
    api.clock.advance(40 * SECOND_MS)
    const token = await api.newToken(api.client)
    const options = { method, token, ...(payload === undefined ? {} : { payload: payload() }) }
    expect((await api.call(url(), options)).status).toBeLessThan(300)
    api.clock.advance(40 * SECOND_MS)
    await run()
    expect(await statusOf()).toBe('enabled')
    api.clock.advance(20 * SECOND_MS)
    await run()
    expect(await statusOf()).toBe('paused')
  })

  it('has its full time again when it is enabled', async () => {
    api.clock.advance(TIMEOUT_SECONDS * SECOND_MS)
    await run()
    await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      setStreamStatus(change, parseStreamReference(id), { status: 'enabled', reason: null }),
    )
    expect(await run()).toEqual(after(TIMEOUT_SECONDS * SECOND_MS))
    expect(await statusOf()).toBe('enabled')
  })

  it('is paused once, however many processes look', async () => {
    api.clock.advance(TIMEOUT_SECONDS * SECOND_MS)
    await Promise.all([run(), run(), run()])
    const told = await api.db
      .selectFrom('delivery')
      .innerJoin('ssf_stream', 'ssf_stream.destination_id', 'delivery.destination_id')
      .select('delivery.id')
      .where('ssf_stream.stream_id', '=', id as StreamId)
      .execute()
    expect(told).toHaveLength(1)
  })

  it('is given the full time when a time-out is set after it fell silent', async () => {
    api.clock.advance(3_600 * SECOND_MS)
    const shorter = { inactivityTimeoutSeconds: 30 }
    await adoptInactivityTimeout(shorter, api)
    expect(await run(shorter)).toEqual(after(30 * SECOND_MS))
    api.clock.advance(10 * SECOND_MS)
    await adoptInactivityTimeout(shorter, api)
    expect(await run(shorter)).toEqual(after(20 * SECOND_MS))
    await adoptInactivityTimeout(settings, api)
  })

  it('is left alone while no time-out is set', async () => {
    api.clock.advance(3_600 * SECOND_MS)
    expect(await run({ inactivityTimeoutSeconds: 0 })).toBeUndefined()
    expect(await statusOf()).toBe('enabled')
  })
})

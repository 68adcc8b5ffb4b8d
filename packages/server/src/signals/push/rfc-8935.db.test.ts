/* The requirements of push delivery, by their numbers in the table of conformance. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { answerWith, type Respond } from '../../../test/support/loopback-receiver.ts'
import { createPushStreams, jtiOf, type PushStreams } from '../../../test/support/push-streams.ts'
import { queueEvents } from '../../../test/support/queue-events.ts'
import type { StreamsApi } from '../../../test/support/streams-api.ts'
import { runRetention } from '../../../test/support/run-retention.ts'
import { deliveryRetention } from '../dispatch/delivery-retention-store.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000
/** RFC 7515 section 3.1, with nothing around it. */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/

let push: PushStreams
let streams: StreamsApi

beforeAll(async () => {
  push = await createPushStreams()
  streams = push.streams
})
afterAll(() => push.close())
afterEach(() => push.reset())

/** Queues an event of each of these devices; answers the ids of the events. */
async function queue(destinationId: DestinationId, devices: readonly string[]) {
  streams.clock.set(new Date())
  const subjects = devices.map((device) => `device:${device}`)
  return (await queueEvents(streams, destinationId, subjects)).eventIds
}

async function waitForStates(expected: readonly string[]): Promise<void> {
  await vi.waitFor(
    async () => {
      const rows = await streams.db.selectFrom('delivery').select('state').orderBy('id').execute()
      expect(rows.map(({ state }) => state)).toEqual(expected)
    },
    { timeout: 10_000, interval: 20 },
  )
}

function refuse(status: number, err: string): Respond {
  return (_request, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', 'content-language': 'en' })
      .end(JSON.stringify({ err, description: 'because' }))
}

describe('push delivery', () => {
  it('ssf-T116 ssf-T117 POSTs the compact SET alone, with the media types of the specification', async () => {
    const receiver = await push.startReceiver()
    const { destinationId } = await push.createStream(receiver)
    const [jti] = await queue(destinationId, ['a'])
    await push.startEngine()
    await waitForStates(['delivered'])
    const [request] = receiver.requests
    expect(request?.body).toMatch(COMPACT_JWS)
    expect(jtiOf(request?.body ?? '')).toBe(jti)
    expect(request?.headers).toMatchObject({
      'content-type': 'application/secevent+jwt',
      accept: 'application/json',
    })
  })

  it('ssf-T118 sends the authorization header as it was given on every push, and none when none is set', async () => {
    const receiver = await push.startReceiver((_request, response) => {
      response.writeHead(receiver.requests.length < 3 ? 503 : 202).end()
    })
    const { id, destinationId } = await push.createStream(receiver, {
      authorization_header: 'opaque value',
    })
    await queue(destinationId, ['a'])
    await push.startEngine()
    await waitForStates(['delivered'])
    const sent = receiver.requests.map(({ headers }) => headers.authorization)
    expect(sent).toEqual(['opaque value', 'opaque value', 'opaque value'])
    await streams.call(`/ssf_streams/${id}`, {
      method: 'PATCH',
      payload: { authorization_header: null },
    })
    await queue(destinationId, ['a'])
    await waitForStates(['delivered', 'delivered'])
    expect(receiver.requests.at(-1)?.headers).not.toHaveProperty('authorization')
  })

  it.each([200, 202, 204])('ssf-T119 takes %i for success', async (status) => {
    const receiver = await push.startReceiver(answerWith(status))
    const { destinationId } = await push.createStream(receiver)
    await queue(destinationId, ['a'])
    await push.startEngine()
    await waitForStates(['delivered'])
    expect(receiver.requests).toHaveLength(1)
  })

  it.each([
    'invalid_request',
    'invalid_key',
    'invalid_issuer',
    'invalid_audience',
    'invalid_state',
  ])(
    'ssf-T120 ssf-T121 does not send again what is refused with %s, and keeps the words',
    async (err) => {
      const receiver = await push.startReceiver(refuse(400, err))
      const { id, destinationId } = await push.createStream(receiver)
      const [jti = ''] = await queue(destinationId, ['a'])
      await push.startEngine()
      await waitForStates(['dead'])
      expect(receiver.requests).toHaveLength(1)
      const { body } = await streams.call(`/ssf_streams/${id}/deliveries/${jti}`)
      expect(body).toMatchObject({
        state: 'dead',
        last_error: `The receiver answered 400 (${err}: because)`,
        attempt_log: [
          {
            number: 1,
            outcome: 'rejected',
            status_code: 400,
            error_code: err,
            remote_address: '127.0.0.1',
            response_headers: { 'content-language': 'en' },
            response_body: JSON.stringify({ err, description: 'because' }),
            next_attempt_at: null,
          },
        ],
      })
    },
  )

  it.each(['authentication_failed', 'access_denied'])(
    'ssf-T121 sends again what is refused with %s: the credential may be mended',
    async (err) => {
      const receiver = await push.startReceiver(refuse(400, err))
      const { destinationId } = await push.createStream(receiver)
      await queue(destinationId, ['a'])
      await push.startEngine({ retryDelaysMs: [20] })
      await waitForStates(['dead'])
      expect(receiver.requests).toHaveLength(2)
    },
  )

  it('ssf-T122 waits as long as Retry-After asks for', async () => {
    const receiver = await push.startReceiver(answerWith(429, { 'retry-after': '30' }))
    const { destinationId } = await push.createStream(receiver)
    await queue(destinationId, ['a'])
    const before = Date.now()
    await push.startEngine()
    await vi.waitFor(async () => {
      const row = await streams.db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
      expect(row.attempt_count).toBe(1)
      expect(row.next_attempt_at.getTime() - before).toBeGreaterThan(25_000)
    }, WAIT_MS)
  })

  it('ssf-T123 repeats with the same jti and bytes, keeps what is dead, and sends it again on demand', async () => {
    const receiver = await push.startReceiver(answerWith(500))
    const { id, destinationId } = await push.createStream(receiver)
    await queue(destinationId, ['a'])
    const engine = await push.startEngine()
    await waitForStates(['dead'])
    receiver.respond(answerWith(202))
    streams.clock.set(new Date())
    await streams.call(`/ssf_streams/${id}/redrive`, { method: 'POST', payload: {} })
    engine.wake(destinationId)
    await waitForStates(['delivered'])
    expect(receiver.requests).toHaveLength(4)
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1)
  })

  it('ssf-T125 follows no redirect', async () => {
    const elsewhere = await push.startReceiver()
    const receiver = await push.startReceiver(answerWith(307, { location: elsewhere.url }))
    const { destinationId } = await push.createStream(receiver)
    await queue(destinationId, ['a'])
    await push.startEngine({ retryDelaysMs: [20] })
    await waitForStates(['dead'])
    expect(elsewhere.requests).toEqual([])
  })
})

describe('the record of an attempt', () => {
  it('holds what was sent and answered, bounded, with every secret masked', async () => {
    const receiver = await push.startReceiver(
      (_request, response) =>
        void response
          .writeHead(503, {
            'set-cookie': 'session=cookie-secret',
            'x-long': 'x'.repeat(5_000),
            server: 'there',
          })
          .end('y'.repeat(40_000)),
    )
    const { id, destinationId } = await push.createStream(receiver, {
      authorization_header: 'Bearer header-secret',
    })
    const [jti = ''] = await queue(destinationId, ['a'])
    await push.startEngine({ retryDelaysMs: [60_000] })
    const url = `/ssf_streams/${id}/deliveries/${jti}`
    interface Shown {
      attempt_log: {
        duration: Record<string, number | null>
        request_headers: Record<string, string>
        response_headers: Record<string, string>
        response_body: string
      }[]
    }
    await vi.waitFor(async () => {
      const { body } = await streams.call<Shown>(url)
      expect(body.attempt_log).toHaveLength(1)
    }, WAIT_MS)
    const { body } = await streams.call<Shown>(url)
    const [attempt] = body.attempt_log
    expect(attempt?.request_headers).toEqual({
      'content-type': 'application/secevent+jwt',
      accept: 'application/json',
      authorization: 'Bearer [masked]',
    })
    expect(attempt?.response_headers).toMatchObject({ 'set-cookie': '[masked]', server: 'there' })
    expect(attempt?.response_headers['x-long']).toHaveLength(1_024)
    expect(attempt?.response_body).toHaveLength(16_384)
    expect(attempt?.duration).toMatchObject({ dns_ms: null, tls_ms: null })
    expect(attempt?.duration['connect_ms']).toBeGreaterThanOrEqual(0)
    expect(attempt?.duration['first_byte_ms']).toBeGreaterThan(0)
    expect(JSON.stringify(body)).not.toMatch(/header-secret|cookie-secret/)
  })

  it('keeps that something was delivered after what it carried is deleted', async () => {
    const receiver = await push.startReceiver()
    const { id, destinationId } = await push.createStream(receiver)
    const [jti = ''] = await queue(destinationId, ['a'])
    await push.startEngine()
    await waitForStates(['delivered'])
    const [, payloads] = deliveryRetention({
      deliveryRetentionDays: 2,
      deliveryPayloadRetentionDays: 1,
    })
    if (payloads === undefined) throw new Error('no policy')
    expect(await runRetention(streams.db, payloads, new Date())).toMatchObject({ count: 0 })
    const later = new Date(Date.now() + DAY_MS + 1_000)
    expect(await runRetention(streams.db, payloads, later)).toMatchObject({ count: 1 })
    expect(await runRetention(streams.db, payloads, later)).toMatchObject({ count: 0 })
    const { body } = await streams.call(`/ssf_streams/${id}/deliveries/${jti}`)
    expect(body).toMatchObject({ state: 'delivered', content: null })
  })
})

describe('a paused stream', () => {
  it('holds its events and delivers them in the order of each device when it is resumed', async () => {
    const receiver = await push.startReceiver()
    const { stream_id: streamId, destinationId } = await push.createStream(receiver)
    const setStatus = (status: string) =>
      streams.call('/ssf_streams/status', {
        method: 'POST',
        payload: { stream_id: streamId, status },
      })
    await setStatus('paused')
    const engine = await push.startEngine()
    const events = await queue(destinationId, ['a', 'b', 'a', 'b', 'a'])
    engine.wake(destinationId)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(receiver.requests.map(({ body }) => jtiOf(body))).not.toEqual(
      expect.arrayContaining(events.slice(0, 1)),
    )
    await setStatus('enabled')
    engine.wake(destinationId)
    await vi.waitFor(
      () =>
        expect(receiver.requests.map(({ body }) => jtiOf(body))).toEqual(
          expect.arrayContaining(events),
        ),
      { timeout: 5_000 },
    )
    const order = receiver.requests.map(({ body }) => jtiOf(body))
    for (const own of [
      [0, 2, 4],
      [1, 3],
    ]) {
      const ofDevice = own.map((index) => events[index])
      expect(order.filter((jti) => ofDevice.includes(String(jti)))).toEqual(ofDevice)
    }
  })
})

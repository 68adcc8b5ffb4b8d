import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { EVERY_ATTEMPT } from '../dispatch/attempt-read.ts'
import { listStoredTokens } from '../../../test/support/stored-tokens.ts'
import { answerWith, startLoopbackReceiver } from '../../../test/support/loopback-receiver.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'

const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification'
const PUSH = 'urn:ietf:rfc:8935'

let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())
afterEach(() => streams.clear())

describe('testing a stream', () => {
  async function test(id: string, payload: object = { email: 'grace@example.com' }) {
    return streams.call<{ success: boolean; response_code: string; ssf_stream_event_id: number }>(
      `/ssf_streams/${id}/test`,
      { method: 'POST', payload },
    )
  }

  it('pushes a signed verification event at once, with the stored header', async () => {
    const receiver = await startLoopbackReceiver()
    const stream = await streams.createStream({
      name: 'loopback',
      delivery: { method: PUSH, endpoint_url: `${receiver.url}/events` },
      authorization_header: 'Bearer of tidings',
    })
    const { status, body } = await test(stream.id)
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      response_code: '202',
      ssf_stream_event_id: expect.any(Number) as number,
      reason: null,
    })
    const [request] = receiver.requests
    expect(request?.headers).toMatchObject({
      'content-type': 'application/secevent+jwt',
      accept: 'application/json',
      authorization: 'Bearer of tidings',
    })
    const claims = JSON.parse(
      Buffer.from(request?.body.split('.')[1] ?? '', 'base64url').toString(),
    ) as Record<string, unknown>
    expect(claims).toMatchObject({
      iss: 'https://trust.example.com',
      aud: `${receiver.url}/events`,
      sub_id: { format: 'opaque', id: stream.stream_id },
      events: { [VERIFICATION]: {} },
    })
    const row = await streams.db
      .selectFrom('delivery')
      .innerJoin(EVERY_ATTEMPT.as('attempt'), 'attempt.delivery_id', 'delivery.id')
      .select(['delivery.id', 'state', 'attempt.status_code'])
      .executeTakeFirstOrThrow()
    const [token] = await listStoredTokens(streams.db)
    expect({ ...row, token }).toEqual({
      id: String(body.ssf_stream_event_id),
      state: 'delivered',
      token: request?.body,
      status_code: 202,
    })
    await receiver.close()
  })

  it('ssf-T118 sends a header without a scheme word exactly as it was given', async () => {
    const receiver = await startLoopbackReceiver()
    const stream = await streams.createStream({
      name: 'loopback',
      delivery: { method: PUSH, endpoint_url: receiver.url },
      authorization_header: 'a-bare-token',
    })
    await test(stream.id)
    expect(receiver.requests[0]?.headers.authorization).toBe('a-bare-token')
    await receiver.close()
  })

  it("tells the receiver's refusal, and does not try again", async () => {
    const receiver = await startLoopbackReceiver(answerWith(503))
    const stream = await streams.createStream({
      name: 'loopback',
      delivery: { method: PUSH, endpoint_url: receiver.url },
    })
    expect((await test(stream.id)).body).toMatchObject({
      success: false,
      response_code: '503',
      reason: 'The receiver answered 503',
    })
    const [row] = await streams.db.selectFrom('delivery').select('state').execute()
    expect(row?.state).toBe('discarded')
    await receiver.close()
  })

  it('answers "0" and the reason when nobody listens', async () => {
    const receiver = await startLoopbackReceiver()
    await receiver.close()
    const stream = await streams.createStream({
      name: 'gone',
      delivery: { method: PUSH, endpoint_url: receiver.url },
    })
    expect((await test(stream.id)).body).toMatchObject({
      success: false,
      response_code: '0',
      reason: expect.stringContaining('127.0.0.1') as string,
    })
  })

  it('queues the event of a poll stream', async () => {
    const stream = await streams.createStream({ name: 'poll' })
    const { body } = await test(stream.id, { email: 'jörg@müller.example' })
    expect(body).toMatchObject({ success: true, response_code: '202' })
    const polled = await streams.call<{ sets: object }>(`/ssf_streams/${stream.id}/events`)
    expect(Object.keys(polled.body.sets)).toHaveLength(1)
  })

  it.each([{}, { email: 'nobody' }, { email: 7 }, { email: 'a@example.com', extra: 1 }])(
    'refuses %j with 422',
    async (payload) => {
      const stream = await streams.createStream({ name: 'poll' })
      expect(await test(stream.id, payload)).toMatchObject({ status: 422 })
    },
  )

  it('says of no receiver that it answered which was not asked: a paused push stream is refused with 409', async () => {
    const receiver = await startLoopbackReceiver()
    const delivery = { method: PUSH, endpoint_url: receiver.url }
    const { id, stream_id: streamId } = await streams.createStream({ name: 'paused', delivery })
    const payload = { stream_id: streamId, status: 'paused' }
    await streams.call('/ssf_streams/status', { method: 'POST', payload })
    expect(await test(id)).toMatchObject({ status: 409, body: { code: 'conflict' } })
    const events = streams.db.selectFrom('delivery').where('event_type', '=', VERIFICATION)
    expect(await events.select('id').execute()).toEqual([])
    await receiver.close()
  })

  it('queues the event of a poll stream that is paused', async () => {
    const { id, stream_id: streamId } = await streams.createStream({ name: 'paused' })
    const payload = { stream_id: streamId, status: 'paused' }
    await streams.call('/ssf_streams/status', { method: 'POST', payload })
    expect(await test(id)).toMatchObject({ status: 200, body: { response_code: '202' } })
  })

  it('refuses a disabled stream with 409', async () => {
    const stream = await streams.createStream({ name: 'poll' })
    await streams.call(`/ssf_streams/${stream.id}`, {
      method: 'PATCH',
      payload: { enabled: false },
    })
    expect(await test(stream.id)).toMatchObject({ status: 409 })
  })
})

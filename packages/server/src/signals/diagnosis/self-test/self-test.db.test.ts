import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMemoryJtiStore, createPushHandler, createSetVerifier } from '@heliograph/receiver'
import { toNodeHandler } from '@heliograph/receiver/node'
import type { JSONWebKeySet } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { answerWith, startLoopbackReceiver } from '../../../../test/support/loopback-receiver.ts'
import { createStreamsApi, type StreamsApi } from '../../../../test/support/streams-api.ts'
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'
import { DAY_MS, MINUTE_MS } from '../../../platform/clock.ts'
import { rotateSigningKey } from '../../signing/change-signing-key.ts'

let streams: StreamsApi
const closers: (() => Promise<void>)[] = []

interface Case {
  readonly name: string
  readonly verdict: string
  readonly advice: string
  readonly status: number | null
  readonly error_code: string | null
}

interface SelfTest {
  readonly stream_id: string
  readonly passed: boolean
  readonly finished_at: string | null
  readonly cases: readonly Case[]
}

beforeAll(async () => {
  streams = await createStreamsApi()
  streams.clock.set(new Date())
})
afterAll(() => streams.close())
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const createPushStream = (url: string) =>
  streams.createStream({
    name: 'tested',
    delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: `${url}/events` },
    authorization_header: 'Bearer of tidings',
  })

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function publishedKeys(): Promise<JSONWebKeySet> {
  const { body } = await streams.api.request<JSONWebKeySet>('/ssf/jwks.json', { key: null })
  return body
}

const selfTest = (id: string) =>
  streams.call<SelfTest>(`/ssf_streams/${id}/self_test`, { method: 'POST' })

/** Retires the present key, so that there is one to test with. */
async function retireKey(): Promise<void> {
  const { sealer, runChange, keyRing, clock } = streams
  await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    rotateSigningKey(change, { sealer, modulusBits: 2048 }),
  )
  clock.advance(32 * DAY_MS)
  await keyRing.refresh()
}

/** The receiver of this project, and the types of the events that reach its application. */
async function startCarefulReceiver(audienceOf: () => string) {
  const seen = createMemoryJtiStore()
  const handled: string[] = []
  const url = await serve((request, response) => {
    void publishedKeys().then((jwks) => {
      const verifier = createSetVerifier({
        issuer: 'https://trust.example.com',
        audience: audienceOf(),
        keys: { jwks },
        nowMs: () => streams.clock.now().getTime(),
      })
      const handler = createPushHandler({
        verifier,
        seen,
        authorization: 'Bearer of tidings',
        onEvent: (set) => void handled.push(set.event.type),
      })
      toNodeHandler(handler)(request, response)
    })
  })
  return { url, handled }
}

describe('the self-test of a receiver', () => {
  it('ssf-5.6: the receiver of this project passes every case, and handles nothing but the good ones', async () => {
    await retireKey()
    let audience = ''
    const { url, handled } = await startCarefulReceiver(() => audience)
    const stream = await createPushStream(url)
    audience = `${url}/events`
    const { status, body } = await selfTest(stream.id)
    expect(status).toBe(200)
    expect(body.cases.map(({ name, verdict }) => [name, verdict])).toEqual(
      [
        'good_set',
        'duplicate_jti',
        'wrong_audience',
        'wrong_issuer',
        'expiry_present',
        'unknown_event_type',
        'unknown_key',
        'bad_signature',
        'retired_key',
        'wrong_type',
        'not_a_token',
        'batch',
        'oversize',
      ].map((name) => [name, 'ok']),
    )
    expect(body.passed).toBe(true)
    expect(handled).toHaveLength(2)
  })

  it('a receiver that accepts everything fails every bad case, with advice, and the result is kept', async () => {
    const receiver = await startLoopbackReceiver(answerWith(200))
    closers.push(() => receiver.close())
    const stream = await createPushStream(receiver.url)
    const { body } = await selfTest(stream.id)
    expect(body.passed).toBe(false)
    const verdicts = Object.fromEntries(body.cases.map(({ name, verdict }) => [name, verdict]))
    expect(verdicts).toMatchObject({
      good_set: 'ok',
      duplicate_jti: 'ok',
      unknown_event_type: 'ok',
      wrong_audience: 'accepted_bad_set',
      wrong_issuer: 'accepted_bad_set',
      unknown_key: 'accepted_bad_set',
      bad_signature: 'accepted_bad_set',
      retired_key: 'accepted_bad_set',
      wrong_type: 'accepted_bad_set',
      expiry_present: 'accepted_bad_set',
      not_a_token: 'accepted_bad_set',
      batch: 'accepted_bad_set',
      oversize: 'accepted_bad_set',
    })
    for (const { advice } of body.cases) expect(advice).toMatch(/^[A-Z].+\.$/)
    expect(receiver.requests).toHaveLength(13)
    for (const request of receiver.requests) {
      expect(request.headers.authorization).toBe('Bearer of tidings')
      expect(request.headers['content-type']).toBe('application/secevent+jwt')
    }
    const kept = await streams.call<SelfTest>(`/ssf_streams/${stream.stream_id}/self_test`)
    expect(kept.body).toEqual(body)
    const [entry] = await streams.db
      .selectFrom('audit_entry')
      .select(['action', 'actor_type'])
      .where('action', '=', 'ssf_stream.self_tested')
      .where('target_id', '=', stream.id)
      .execute()
    expect(entry).toEqual({ action: 'ssf_stream.self_tested', actor_type: 'ApiKey' })
    // None of it went through the queue.
    expect(await streams.db.selectFrom('delivery').select('id').execute()).toEqual([])
  })

  it('every SET is marked as a test, so that a receiver which takes it acts on nothing', async () => {
    const receiver = await startLoopbackReceiver(answerWith(202))
    closers.push(() => receiver.close())
    const stream = await createPushStream(receiver.url)
    await selfTest(stream.id)
    const tokens = receiver.requests.map(({ body }) => body).filter((body) => body.startsWith('ey'))
    expect(tokens).toHaveLength(11)
    for (const token of tokens) {
      const claims = JSON.parse(
        Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(),
      ) as Record<string, object>
      expect(claims['test']).toMatchObject({ kind: 'self_test' })
      expect(claims['sub_id']).toEqual({ format: 'opaque', id: stream.stream_id })
      expect(Object.keys(claims['events'] ?? {})[0]).toMatch(/verification$|self-test$/)
    }
  })

  it.each([
    [400, '{"err":"access_denied"}', 'wrong_error_code', /the code that was answered/],
    [400, 'no', 'wrong_error_code', /names no error code/],
    [403, '', 'wrong_error_code', /does not say/],
    [500, '', 'wrong_error_code', /again and again/],
  ])(
    'an answer of %d %s to everything is judged for what it is',
    async (status, text, verdict, advice) => {
      const receiver = await startLoopbackReceiver((_request, response) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(text)
      })
      closers.push(() => receiver.close())
      const stream = await createPushStream(receiver.url)
      const { body } = await selfTest(stream.id)
      expect(body.cases[0]).toMatchObject({ name: 'good_set', verdict: 'refused_good_set', status })
      const audience = body.cases.find(({ name }) => name === 'wrong_audience')
      expect(audience).toMatchObject({ verdict, advice: expect.stringMatching(advice) as string })
    },
  )

  it('a receiver that cannot be reached is not sent the rest', async () => {
    const receiver = await startLoopbackReceiver()
    const stream = await createPushStream(receiver.url)
    await receiver.close()
    const { body } = await selfTest(stream.id)
    expect(body.passed).toBe(false)
    expect(body.cases[0]).toMatchObject({ verdict: 'unreachable', status: null })
    expect(new Set(body.cases.slice(1).map(({ verdict }) => verdict))).toEqual(new Set(['not_run']))
  })

  it('is refused twice within a minute, for poll streams, for stopped streams, and before the first test there is none', async () => {
    const receiver = await startLoopbackReceiver()
    closers.push(() => receiver.close())
    const stream = await createPushStream(receiver.url)
    const path = `/ssf_streams/${stream.id}/self_test`
    expect(await streams.call(path)).toMatchObject({ status: 404 })
    expect(await selfTest(stream.id)).toMatchObject({ status: 200 })
    const again = await selfTest(stream.id)
    expect(again).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(again.headers['retry-after']).toBe('60')
    streams.clock.advance(MINUTE_MS)
    expect(await selfTest(stream.id)).toMatchObject({ status: 200 })
    streams.clock.advance(MINUTE_MS)
    await streams.call(`/ssf_streams/${stream.id}`, {
      method: 'PATCH',
      payload: { enabled: false },
    })
    expect(await selfTest(stream.id)).toMatchObject({ status: 409 })
    const poll = await streams.createStream({ name: 'poll' })
    const refused = await selfTest(poll.id)
    expect(refused).toMatchObject({ status: 409 })
    expect(JSON.stringify(refused.body)).toContain('polls')
    expect(await selfTest('4711')).toMatchObject({ status: 404 })
    expect(await streams.api.request(path, { method: 'POST' })).toMatchObject({ status: 403 })
  })
})

import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DELIVERY_METHOD_PUSH, DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import {
  createPollClient,
  createSetVerifier,
  createStreamClient,
  createVerificationWaiter,
  TransmitterError,
  type StreamClientOptions,
} from '../src/index.ts'
import { AUDIENCE } from './support/signing.ts'
import {
  credentialsFor,
  startTransmitterDouble,
  type TransmitterDouble,
} from './support/transmitter-double.ts'

const SUBJECT = { format: 'email', email: 'user@example.com' } as const

let double: TransmitterDouble

beforeEach(async () => {
  double = await startTransmitterDouble()
})

afterEach(() => double.close())

const credentials = () => credentialsFor(double, 'ssf.read ssf.manage')

function clientFor(options: Partial<StreamClientOptions> = {}) {
  return createStreamClient({
    issuer: double.issuer,
    authorization: credentials(),
    random: () => 0.999,
    ...options,
  })
}

/** Answers the next requests of a path with a status, then leaves them to the transmitter. */
function failNext(path: string, times: number, status: number, headers = {}, body?: string): void {
  double.interrupt = (request, response) => {
    if (!request.path.startsWith(path) || times === 0) return undefined
    times -= 1
    response.writeHead(status, headers).end(body)
    return true
  }
}

async function failureOf(promise: Promise<unknown>): Promise<TransmitterError> {
  const error: unknown = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  )
  if (error instanceof TransmitterError) return error
  throw new Error('it did not fail as expected', { cause: error })
}

describe('a stream', () => {
  test('is created, read, listed, changed, replaced and deleted', async () => {
    const client = clientFor()
    const created = await client.createStream({
      events_requested: [DEVICE_COMPLIANCE_CHANGE],
      description: 'first',
    })
    expect(created).toMatchObject({ iss: double.issuer, aud: AUDIENCE, description: 'first' })
    expect(created.delivery.endpoint_url).toBe(`${double.issuer}/poll/${created.stream_id}`)
    const id = created.stream_id
    expect(await client.getStream(id)).toEqual(created)
    expect(await client.listStreams()).toEqual([created])
    expect(await client.updateStream(id, { description: 'second' })).toMatchObject({
      description: 'second',
    })
    // What was read can be given back: the transmitter's own members are not sent.
    const replaced = await client.replaceStream(id, {
      events_requested: created.events_requested ?? [],
    })
    expect(replaced.description).toBeUndefined()
    await client.deleteStream(id)
    expect((await failureOf(client.getStream(id))).code).toBe('not_found')
    expect(await client.listStreams()).toEqual([])
  })

  test('sends no member that only the transmitter may set', async () => {
    const client = clientFor()
    const stream = await client.createStream({ heliograph_sequence: true, description: 'a' })
    await client.updateStream(stream.stream_id, { ...stream, description: 'b' })
    const bodies = double.requests
      .filter(({ method }) => method === 'PATCH' || method === 'POST')
      .map(({ body }) => body)
    expect(JSON.parse(bodies.at(-2) ?? '')).toEqual({ description: 'a', heliograph_sequence: true })
    expect(Object.keys(JSON.parse(bodies.at(-1) ?? '') as object).toSorted()).toEqual([
      'delivery',
      'description',
      'stream_id',
    ])
  })

  test('has a status, which is read and set', async () => {
    const client = clientFor()
    const { stream_id } = await client.createStream()
    expect(await client.getStatus(stream_id)).toEqual({ stream_id, status: 'enabled' })
    const paused = await client.setStatus(stream_id, 'paused', { reason: 'maintenance' })
    expect(paused).toEqual({ stream_id, status: 'paused', reason: 'maintenance' })
    failNext('/ssf/status', 1, 202)
    expect(await client.setStatus(stream_id, 'enabled')).toEqual(paused)
  })

  test('has subjects, which are added and removed', async () => {
    const client = clientFor()
    const { stream_id } = await client.createStream()
    await client.addSubject(stream_id, SUBJECT, { isVerified: false })
    expect(double.streams.get(stream_id)?.subjects).toEqual([SUBJECT])
    await client.removeSubject(stream_id, SUBJECT)
    expect(double.streams.get(stream_id)?.subjects).toEqual([])
  })

  test('tells the state of its subjects over all pages, and is replayed', async () => {
    const client = clientFor()
    const { stream_id } = await client.createStream()
    for (const sub of ['1', '2', '3']) {
      double.state.set(sub, {
        sub_id: { format: 'iss_sub', iss: double.issuer, sub },
        status: 'compliant',
        event_timestamp: 1,
        jti: sub,
        sequence: Number(sub),
      })
    }
    const subjects = []
    for await (const page of client.statePages(stream_id)) subjects.push(...page.subjects)
    expect(subjects.map(({ jti }) => jti)).toEqual(['1', '2', '3'])
    expect(await client.replay(stream_id, { from_sequence: 1 })).toMatchObject({ complete: true })
  })
})

describe('a verification', () => {
  test('that is asked for is waited for until its event was received and verified', async () => {
    const client = clientFor()
    const { stream_id, delivery } = await client.createStream()
    const verifications = createVerificationWaiter()
    const received: string[] = []
    const poller = createPollClient({
      endpointUrl: delivery.endpoint_url,
      authorization: credentials(),
      returnImmediately: true,
      idlePauseMs: 2,
      verifier: createSetVerifier({
        issuer: double.issuer,
        audience: AUDIENCE,
        keys: { jwksUri: `${double.issuer}/jwks.json` },
      }),
      onEvent: verifications.watch(({ jti }) => void received.push(jti)),
    })
    const stopped = new AbortController()
    const polling = poller.start(stopped.signal)
    const set = await client.verifyAndWait(stream_id, { verifications, waitMs: 5_000 })
    expect(set.subject).toEqual({ format: 'opaque', id: stream_id })
    expect(received).toEqual([set.jti])
    stopped.abort()
    await polling
    expect(double.streams.get(stream_id)?.queue.size).toBe(0)
  })

  test('that never comes ends in time, and one that is refused at once', async () => {
    const client = clientFor()
    const { stream_id } = await client.createStream()
    const verifications = createVerificationWaiter()
    const late = client.verifyAndWait(stream_id, { verifications, waitMs: 20 })
    expect((await failureOf(late)).code).toBe('timeout')
    const refused = client.verifyAndWait('other', { verifications, waitMs: 60_000 })
    expect((await failureOf(refused)).code).toBe('not_found')
    const aborted = AbortSignal.timeout(20)
    const ended = client.verifyAndWait(stream_id, { verifications, signal: aborted })
    expect((await failureOf(ended)).code).toBe('aborted')
  })

  test('leaves nothing in the signal of its caller', async () => {
    const client = clientFor()
    const { stream_id } = await client.createStream()
    const verifications = createVerificationWaiter()
    const { signal } = new AbortController()
    const any = vi.spyOn(AbortSignal, 'any')
    await failureOf(client.verifyAndWait(stream_id, { verifications, waitMs: 20, signal }))
    await failureOf(client.verifyAndWait('other', { verifications, signal }))
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    expect(any).not.toHaveBeenCalled()
    any.mockRestore()
  })

  test('event that nobody asked for is refused where this process alone asks', async () => {
    const verifications = createVerificationWaiter({ refusesUnknownState: true })
    const watch = verifications.watch()
    const set = { event: { isKnown: true, type: VERIFICATION_TYPE, payload: { state: 'x' } } }
    await expect(watch(set as never)).rejects.toMatchObject({ err: 'invalid_state' })
  })
})

const VERIFICATION_TYPE = 'https://schemas.openid.net/secevent/ssf/event-type/verification'

describe('a failure', () => {
  test.each([
    [400, 'refused'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [429, 'rate_limited'],
    [500, 'unavailable'],
    [302, 'bad_response'],
  ])('of status %i has the code %s, and what the transmitter said', async (status, code) => {
    const client = clientFor({ retriesMax: 0 })
    const body = JSON.stringify({ err: 'word', description: 'why', filler: 'x'.repeat(10_000) })
    failNext('/ssf/streams', 2, status, { 'retry-after': '7' }, body)
    const failure = await failureOf(client.createStream())
    expect(failure).toMatchObject({ code, status, retryAfterMs: 7_000 })
    expect(failure.body?.length).toBe(4096)
  })

  test('tells the error word of a short answer, or of the challenge', async () => {
    const client = clientFor()
    failNext('/ssf/streams', 1, 400, {}, JSON.stringify({ err: 'invalid', description: 'why' }))
    expect(await failureOf(client.createStream())).toMatchObject({
      error: 'invalid',
      description: 'why',
    })
    failNext('/ssf/streams', 1, 403, { 'www-authenticate': 'Bearer error="insufficient_scope"' })
    expect((await failureOf(client.createStream())).error).toBe('insufficient_scope')
  })

  test('is a redirect, which no credential follows', async () => {
    const client = clientFor()
    failNext('/ssf/streams', 1, 307, { location: `${double.origin}/elsewhere` })
    expect(await failureOf(client.listStreams())).toMatchObject({ code: 'bad_response' })
    expect(double.requests.filter(({ path }) => path === '/elsewhere')).toEqual([])
  })

  test('is bounded in time, and ends when it is aborted', async () => {
    const client = clientFor({ retriesMax: 0 })
    await client.getConfiguration()
    double.interrupt = ({ path }) => path.startsWith('/ssf/streams')
    expect((await failureOf(client.listStreams({ timeoutMs: 20 }))).code).toBe('timeout')
    const { signal } = { signal: AbortSignal.timeout(20) }
    expect((await failureOf(client.listStreams({ signal }))).code).toBe('aborted')
  })

  test('of a read is repeated after a pause; of a write only when nothing was done', async () => {
    const client = clientFor()
    failNext('/ssf/streams', 1, 503, { 'retry-after': '0' })
    expect(await client.listStreams()).toEqual([])
    failNext('/ssf/streams', 1, 429, { 'retry-after': '0' })
    await client.createStream()
    failNext('/ssf/streams', 1, 503, { 'retry-after': '0' })
    expect((await failureOf(client.createStream())).code).toBe('unavailable')
    expect(double.streams.size).toBe(1)
  })

  test('of the discovery document is repeated like any other read', async () => {
    for (const status of [503, 429]) {
      failNext('/.well-known/', 1, status, { 'retry-after': '0' })
      expect(await clientFor().listStreams()).toEqual([])
    }
    failNext('/.well-known/', 1, 429, { 'retry-after': '2' })
    const impatient = clientFor({ retryAfterMaxMs: 1_000 })
    expect(await failureOf(impatient.listStreams())).toMatchObject({ retryAfterMs: 2_000 })
  })

  test('of the discovery document comes within the time limit of the call', async () => {
    double.interrupt = (request) => (request.path.startsWith('/.well-known/') ? true : undefined)
    const client = clientFor({ retriesMax: 0 })
    const failure = await failureOf(client.listStreams({ timeoutMs: 20 }))
    expect(failure).toMatchObject({ code: 'timeout' })
    expect(failure.message).toContain('no answer within 20 ms')
  })

  test('that asks for a longer pause than is allowed is not repeated', async () => {
    const client = clientFor({ retryAfterMaxMs: 1_000 })
    failNext('/ssf/streams', 1, 429, { 'retry-after': '2' })
    expect(await failureOf(client.listStreams())).toMatchObject({ retryAfterMs: 2_000 })
  })

  test('that no repeat makes good is told, however long a pause may be', async () => {
    const client = clientFor({ retryAfterMaxMs: Number.POSITIVE_INFINITY })
    failNext('/ssf/streams', 3, 400)
    expect((await failureOf(client.listStreams())).status).toBe(400)
    const sent = double.requests.filter(({ path }) => path.startsWith('/ssf/streams'))
    expect(sent).toHaveLength(1)
    expect(() => clientFor({ retryAfterMaxMs: Number.NaN })).toThrow(TypeError)
  })
})

describe('a call that no transmitter may accept is not sent', () => {
  test.each([
    ['an empty stream id', () => clientFor().getStream('')],
    [
      'a push URL that is none',
      () =>
        clientFor().createStream({
          delivery: { method: DELIVERY_METHOD_PUSH, endpoint_url: 'ftp://x' },
        }),
    ],
    [
      'an Authorization header that breaks its line',
      () =>
        clientFor().createStream({
          delivery: {
            method: DELIVERY_METHOD_PUSH,
            endpoint_url: 'https://receiver.example.com/',
            authorization_header: 'Bearer a\r\nx: y',
          },
        }),
    ],
    [
      'a subject with a missing member',
      () => clientFor().addSubject('s', { format: 'email' } as never),
    ],
    [
      'a verification that is waited for through no time',
      () =>
        clientFor().verifyAndWait('s', {
          verifications: createVerificationWaiter(),
          waitMs: Number.NaN,
        }),
    ],
    ['a replay from two places', () => clientFor().replay('s', { from_jti: 'a', from_time: 1 })],
  ])('%s', async (_title, call) => {
    await expect(call()).rejects.toBeInstanceOf(TypeError)
    expect(double.requests).toEqual([])
  })

  test('and neither is a credential to an endpoint without TLS', async () => {
    const client = clientFor({
      configuration: {
        issuer: double.issuer,
        configuration_endpoint: 'http://transmitter.example.com/streams',
      },
    })
    await expect(client.listStreams()).rejects.toBeInstanceOf(TypeError)
    expect(() => clientFor({ issuer: 'http://transmitter.example.com' })).toThrow(TypeError)
  })
})

describe('answers of transmitters in the field are understood', () => {
  const push = { method: DELIVERY_METHOD_PUSH, endpoint_url: 'https://receiver.example.com/' }
  const stream = { stream_id: 's', iss: 'i', aud: 'a', events_delivered: [], delivery: push }

  function answerWith(status: number, body: unknown) {
    const fetch = () => Promise.resolve(Response.json(body, { status }))
    const configuration = {
      issuer: double.issuer,
      configuration_endpoint: 'https://t.example.com/',
    }
    return clientFor({ fetch, configuration, authorization: 'Bearer a' })
  }

  test.each([
    ['an object with streams', { streams: [stream] }],
    ['an envelope with data', { data: [stream], pagination: {} }],
    ['a single stream', stream],
    ['null members', [{ ...stream, description: null, events_requested: null }]],
    ['delivery in a string', [{ ...stream, delivery: JSON.stringify(push) }]],
    [
      'a delivery method of a draft',
      [
        {
          ...stream,
          delivery: {
            ...push,
            method: 'https://schemas.openid.net/secevent/risc/delivery-method/push',
          },
        },
      ],
    ],
  ])('%s', async (_title, body) => {
    expect(await answerWith(200, body).listStreams()).toEqual([stream])
    expect(await answerWith(200, body).getStream('s')).toEqual(stream)
  })

  test('200 for a created stream, and no events_delivered', async () => {
    const without = { ...stream, events_delivered: undefined }
    expect(await answerWith(200, without).createStream()).toEqual(stream)
  })

  test('but not an answer that is no stream', async () => {
    const failure = await failureOf(answerWith(200, { id: 1 }).getStream('s'))
    expect(failure).toMatchObject({ code: 'bad_response', status: 200 })
    expect((await failureOf(answerWith(200, [{}]).listStreams())).code).toBe('bad_response')
  })

  test('a verification endpoint that is a template', async () => {
    const urls: string[] = []
    const client = clientFor({
      configuration: {
        issuer: double.issuer,
        verification_endpoint: 'https://t.example.com/streams/{stream_id}/verify',
      },
      fetch: (url) => {
        urls.push(url)
        return Promise.resolve(new Response(null, { status: 200 }))
      },
      authorization: 'Bearer a',
    })
    await client.requestVerification('a b', { state: 'x' })
    expect(urls).toEqual(['https://t.example.com/streams/a%20b/verify'])
  })
})

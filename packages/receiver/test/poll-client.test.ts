import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createMemoryJtiStore,
  createPollClient,
  KeysUnavailableError,
  TransmitterError,
  type PollClientOptions,
  type SetVerifier,
} from '../src/index.ts'
import { startPollTransmitter, type PollTransmitter } from './support/poll-transmitter.ts'
import {
  createTestKey,
  createTestVerifier,
  goodClaims,
  signSet,
  type TestKey,
} from './support/signing.ts'

let key: TestKey
let verifier: SetVerifier
let transmitter: PollTransmitter

beforeAll(async () => {
  key = await createTestKey('k1', 'ES256')
  verifier = createTestVerifier(key)
})

beforeEach(async () => {
  transmitter = await startPollTransmitter()
})

afterEach(() => transmitter.close())

async function queue(jti: string, change: Record<string, unknown> = {}): Promise<void> {
  transmitter.queue.set(jti, await signSet(key, { ...goodClaims({ jti }), ...change }))
}

function createScene(options: Partial<PollClientOptions> = {}) {
  const received: string[] = []
  const errors: unknown[] = []
  const client = createPollClient({
    endpointUrl: `${transmitter.url}/events`,
    authorization: 'Bearer poll-token',
    verifier,
    onEvent: ({ jti }) => void received.push(jti),
    onError: (error) => errors.push(error),
    backOffMs: 1,
    idlePauseMs: 1,
    ...options,
  })
  return { received, errors, client }
}

/** Runs the loop until the condition holds. */
async function runUntil(
  client: { start(signal: AbortSignal): Promise<void> },
  isDone: () => boolean,
): Promise<void> {
  const controller = new AbortController()
  const running = client.start(controller.signal)
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 2))
  controller.abort()
  await running
}

describe('one poll', () => {
  test('handles SETs in order and acknowledges them after that', async () => {
    for (const jti of ['a', 'b', 'c']) await queue(jti)
    const { client, received } = createScene()
    expect(await client.pollOnce()).toEqual({
      handled: 3,
      duplicates: 0,
      refused: 0,
      failed: 0,
      isMoreAvailable: false,
    })
    expect(received).toEqual(['a', 'b', 'c'])
    expect(transmitter.queue.size).toBe(0)
    expect(transmitter.requests.map(({ body }) => body)).toEqual([
      { maxEvents: 100, returnImmediately: false },
      { maxEvents: 0, returnImmediately: true, ack: ['a', 'b', 'c'] },
    ])
    expect(transmitter.requests[0]?.headers.authorization).toBe('Bearer poll-token')
  })

  test('reports a bad SET in setErrs and goes on with the others', async () => {
    await queue('a', { exp: 1 })
    await queue('b')
    const { client, received, errors } = createScene()
    expect(await client.pollOnce()).toMatchObject({ handled: 1, refused: 1 })
    expect(received).toEqual(['b'])
    expect(Object.fromEntries(transmitter.refused)).toEqual({
      a: { err: 'invalid_request', description: 'a SET must not have an exp claim' },
    })
    expect(errors).toMatchObject([{ kind: 'refused' }])
  })

  test('leaves a SET unacknowledged when the handler fails, so that it comes again', async () => {
    await queue('a')
    let attempts = 0
    const { client } = createScene({
      onEvent: () => {
        attempts += 1
        if (attempts === 1) throw new Error('disk full')
      },
    })
    expect(await client.pollOnce()).toMatchObject({ failed: 1, handled: 0 })
    expect(transmitter.queue.has('a')).toBe(true)
    expect(await client.pollOnce()).toMatchObject({ failed: 0, handled: 1 })
    expect(transmitter.queue.has('a')).toBe(false)
  })

  test('handles nothing before what waits for keys, which may be there a moment later', async () => {
    for (const jti of ['a', 'b', 'c']) await queue(jti)
    const verified: string[] = []
    const { client, errors, received } = createScene({
      verifier: {
        async verify(token) {
          const set = await verifier.verify(token)
          verified.push(set.jti)
          if (set.jti === 'b' && verified.length === 2) throw new KeysUnavailableError('not now')
          return set
        },
      },
    })
    expect(await client.pollOnce()).toMatchObject({ handled: 1, failed: 2 })
    expect(errors).toMatchObject([{ kind: 'keys_unavailable' }])
    expect(await client.pollOnce()).toMatchObject({ handled: 2, failed: 0 })
    expect(received).toEqual(['a', 'b', 'c'])
  })

  test('acknowledges a repeat without handling it again', async () => {
    await queue('a')
    const { client, received } = createScene({ seen: createMemoryJtiStore() })
    await client.pollOnce()
    await queue('a')
    expect(await client.pollOnce()).toMatchObject({ duplicates: 1, handled: 0 })
    expect(received).toEqual(['a'])
    expect(transmitter.queue.size).toBe(0)
  })

  test('sends an acknowledgement again when the request that carried it failed', async () => {
    await queue('a')
    const { client } = createScene()
    const pass = () => undefined
    transmitter.interruptions.push((response) => {
      response.end(JSON.stringify({ sets: Object.fromEntries(transmitter.queue) }))
    })
    transmitter.interruptions.push((response) => response.writeHead(500).end())
    await expect(client.pollOnce()).rejects.toMatchObject({ code: 'unavailable' })
    await client.pollOnce().catch(pass)
    expect(transmitter.requests.at(-1)?.body).toMatchObject({ ack: ['a'] })
    expect(transmitter.queue.size).toBe(0)
  })

  test('acknowledges more than fits into one request with several', async () => {
    for (let index = 0; index < 501; index += 1) transmitter.queue.set(`bad-${index}`, 'x')
    const { client } = createScene({ maxEvents: 1_000 })
    expect(await client.pollOnce()).toMatchObject({ refused: 501 })
    expect(transmitter.refused.size).toBe(501)
    expect(transmitter.requests).toHaveLength(3)
  })

  test('in the plain form fetches by GET and acknowledges by POST', async () => {
    await queue('a')
    await queue('b', { sub: 'x' })
    const { client, received } = createScene({
      form: 'get',
      headers: { 'x-service-api-version': '2026-04-07' },
    })
    await client.pollOnce()
    expect(received).toEqual(['a'])
    expect(transmitter.requests).toMatchObject([
      { method: 'GET', headers: { 'x-service-api-version': '2026-04-07' } },
      { method: 'POST', body: { ack: ['a'], setErrs: { b: { err: 'invalid_request' } } } },
    ])
  })

  test('takes a fresh credential for each request when it is a function', async () => {
    let tokens = 0
    const { client } = createScene({ authorization: () => `Bearer t${(tokens += 1)}` })
    await client.pollOnce()
    await client.pollOnce()
    const sent = transmitter.requests.map(({ headers }) => headers.authorization)
    expect(sent).toEqual(['Bearer t1', 'Bearer t2'])
  })
})

describe('an awkward transmitter', () => {
  test.each([
    ['unauthorized', 401, ''],
    ['rate_limited', 429, ''],
    ['not_found', 404, ''],
    ['refused', 410, ''],
    ['unavailable', 503, ''],
    ['bad_response', 302, ''],
    ['bad_response', 200, '<html>'],
    ['bad_response', 200, '[]'],
    ['bad_response', 200, '{"sets":["a"]}'],
    ['bad_response', 200, ' '.repeat(2_000)],
  ])('that gives %s by status %i and body "%.20s" is a clear error', async (code, status, body) => {
    transmitter.interruptions.push((response) => response.writeHead(status).end(body))
    const { client } = createScene({ responseBytesMax: 1_000 })
    await expect(client.pollOnce()).rejects.toMatchObject({ name: 'TransmitterError', code })
  })

  test('that puts something into its answer that is no SET keeps nothing else back', async () => {
    await queue('a')
    const sets = { bad: null, a: transmitter.queue.get('a') }
    transmitter.interruptions.push((response) => response.end(JSON.stringify({ sets })))
    const { client, received, errors } = createScene()
    expect(await client.pollOnce()).toMatchObject({ handled: 1, refused: 1 })
    expect(received).toEqual(['a'])
    expect(Object.fromEntries(transmitter.refused)).toMatchObject({
      bad: { err: 'invalid_request' },
    })
    expect(errors).toMatchObject([{ kind: 'refused' }])
  })

  test('that never answers is given up after the time limit', async () => {
    transmitter.interruptions.push(() => undefined)
    const { client } = createScene({ requestTimeoutMs: 30 })
    await expect(client.pollOnce()).rejects.toMatchObject({ code: 'timeout' })
  })

  test('that stops in the middle of its answer is given up after the time limit', async () => {
    transmitter.interruptions.push((response) => void response.write('{"sets":'))
    const { client } = createScene({ requestTimeoutMs: 30 })
    await expect(client.pollOnce()).rejects.toMatchObject({ code: 'timeout' })
  })

  test('is not asked when the application gives no authorization, which ends in time too', async () => {
    const authorization = () => new Promise<never>(() => undefined)
    const { client } = createScene({ requestTimeoutMs: 30, authorization })
    await expect(client.pollOnce()).rejects.toMatchObject({ code: 'timeout' })
    const { client: patient } = createScene({ authorization })
    await patient.start(AbortSignal.timeout(30))
    expect(transmitter.requests).toEqual([])
  })

  test('that cuts the connection is a network error', async () => {
    transmitter.interruptions.push((response) => response.destroy())
    const { client } = createScene()
    await expect(client.pollOnce()).rejects.toMatchObject({ code: 'network' })
  })

  test('that answers long polls at once with nothing is not asked without a pause', async () => {
    const { client } = createScene({ idlePauseMs: 40 })
    const stopped = AbortSignal.timeout(100)
    await client.start(stopped)
    expect(transmitter.requests.length).toBeLessThanOrEqual(4)
  })

  test('that sends again what is acknowledged is not asked without a pause', async () => {
    const PAUSE_MS = 200
    await queue('a')
    const token = transmitter.queue.get('a') ?? ''
    const { client, received } = createScene({
      seen: createMemoryJtiStore(),
      backOffMs: PAUSE_MS,
      random: () => 0,
    })
    for (let turn = 0; turn < 1_000; turn += 1) {
      transmitter.interruptions.push((response) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ sets: { a: token } }))
      })
    }
    const stopped = new AbortController()
    const begunMs = performance.now()
    const polling = client.start(stopped.signal)
    await vi.waitUntil(() => transmitter.requests.length >= 8)
    // Two requests lie between pauses, that which acknowledges and that which polls.
    expect(performance.now() - begunMs).toBeGreaterThan(2 * PAUSE_MS - 5)
    stopped.abort()
    await polling
    expect(received).toEqual(['a'])
  })

  test('that ends a credential is polled on with the next one', async () => {
    await queue('a')
    transmitter.interruptions.push((response) => response.writeHead(401).end())
    const given = ['Bearer old', 'Bearer new']
    const discarded: string[] = []
    const { client, received } = createScene({
      authorization: {
        getAuthorization: async () => given[discarded.length] ?? '',
        discard: (value) => void discarded.push(value),
      },
    })
    await client.pollOnce()
    expect(received).toEqual(['a'])
    expect(discarded).toEqual(['Bearer old'])
    expect(transmitter.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer old',
      'Bearer new',
      'Bearer new',
    ])
  })

  test('that asks to wait is obeyed', async () => {
    transmitter.interruptions.push((response) => {
      response.writeHead(429, { 'retry-after': '7' }).end()
    })
    const { client } = createScene()
    await expect(client.pollOnce()).rejects.toMatchObject({ retryAfterMs: 7_000 })
  })
})

describe('the loop', () => {
  test('outlives failures, drains everything, and acknowledges the last when it is stopped', async () => {
    for (let index = 0; index < 5; index += 1) await queue(`jti-${index}`)
    transmitter.interruptions.push((response) => response.writeHead(503).end())
    transmitter.interruptions.push((response) => response.destroy())
    const { client, received, errors } = createScene({ maxEvents: 2 })
    await runUntil(client, () => received.length === 5)
    expect(received).toEqual(['jti-0', 'jti-1', 'jti-2', 'jti-3', 'jti-4'])
    expect(transmitter.queue.size).toBe(0)
    expect(errors).toMatchObject([{ code: 'unavailable' }, { code: 'network' }])
    expect(errors.every((error) => error instanceof TransmitterError)).toBe(true)
  })

  test('is not slowed down by an event that cannot be handled while others are', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `jti-${index}`)
    const tokens = new Map<string, string>()
    for (const jti of [...names, 'last']) {
      tokens.set(jti, await signSet(key, goodClaims({ jti })))
    }
    const queueNext = (jti = 'none') => {
      const token = tokens.get(jti)
      if (token !== undefined) transmitter.queue.set(jti, token)
    }
    await queue('poison')
    queueNext(names[0])
    const received: string[] = []
    const stopped = new AbortController()
    const { client } = createScene({
      backOffMaxMs: 2 ** 30,
      onEvent: ({ jti }) => {
        if (jti === 'poison') {
          // Nothing else is there: the pause is the first of its kind all the same.
          if (transmitter.queue.size === 1) queueNext('last')
          throw new Error('it never works')
        }
        received.push(jti)
        queueNext(names[received.length])
        if (jti === 'last') stopped.abort()
      },
    })
    await client.start(stopped.signal)
    expect(received).toEqual([...names, 'last'])
  })

  test('outlives an onError that throws or rejects', async () => {
    await queue('a', { exp: 1 })
    await queue('b')
    transmitter.interruptions.push((response) => response.writeHead(503).end())
    const stopped = new AbortController()
    let told = 0
    const { client } = createScene({
      onEvent: () => stopped.abort(),
      onError: (): unknown => {
        told += 1
        if (told === 1) throw new Error('the log is full')
        return Promise.reject(new Error('the log is full'))
      },
    })
    await client.start(stopped.signal)
    expect(told).toBe(2)
  })

  test('lets acknowledgements ride on the next poll', async () => {
    await queue('a')
    const { client } = createScene({ returnImmediately: true })
    await runUntil(client, () => transmitter.queue.size === 0)
    expect(transmitter.requests[1]?.body).toMatchObject({ ack: ['a'], maxEvents: 100 })
  })

  test('ends at once in the middle of a long poll', async () => {
    transmitter.interruptions.push(() => undefined)
    const { client, errors } = createScene()
    await runUntil(client, () => transmitter.requests.length === 1)
    expect(errors).toEqual([])
  })
})

test.each(['idlePauseMs', 'backOffMs', 'backOffMaxMs', 'retryAfterMaxMs'])(
  'a pause of %s that is none is refused',
  (name) => {
    for (const timeMs of [Number.NaN, -1]) {
      expect(() => createScene({ [name]: timeMs })).toThrow(TypeError)
    }
    expect(() => createScene({ [name]: Number.POSITIVE_INFINITY })).not.toThrow()
  },
)

test('an endpoint that is neither HTTPS nor loopback is refused', () => {
  const options = { verifier, onEvent: () => undefined }
  expect(() => createPollClient({ ...options, endpointUrl: 'http://t.example.com/' })).toThrow(
    TypeError,
  )
})

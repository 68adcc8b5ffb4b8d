import { beforeAll, describe, expect, test } from 'vitest'
import {
  createMemoryJtiStore,
  createPushHandler,
  KeysUnavailableError,
  SetVerificationError,
  type PushHandler,
  type PushHandlerOptions,
  type SetVerifier,
  type VerifiedSet,
} from '../src/index.ts'
import {
  createTestKey,
  createTestVerifier,
  goodClaims,
  signSet,
  type TestKey,
} from './support/signing.ts'

let key: TestKey
let verifier: SetVerifier

beforeAll(async () => {
  key = await createTestKey('k1')
  verifier = createTestVerifier(key)
})

function createScene(options: Partial<PushHandlerOptions> = {}) {
  const received: VerifiedSet[] = []
  const handler = createPushHandler({
    verifier,
    onEvent: (set) => void received.push(set),
    ...options,
  })
  return { received, handler }
}

function push(
  handler: PushHandler,
  body: string | Uint8Array<ArrayBuffer> | null,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Response> {
  return handler(
    new Request('https://receiver.example.com/events', {
      method,
      headers: { 'content-type': 'application/secevent+jwt', ...headers },
      ...(method === 'GET' ? {} : { body }),
    }),
  )
}

describe('a push', () => {
  test('is answered 202 with an empty body after the event was handled', async () => {
    let isHandled = false
    const { handler } = createScene({
      onEvent: async () => {
        await Promise.resolve()
        isHandled = true
      },
    })
    const response = await push(handler, await signSet(key))
    expect(response.status).toBe(202)
    expect(await response.text()).toBe('')
    expect(isHandled).toBe(true)
  })

  test('of a refused SET is answered 400 with err, description and language', async () => {
    const { handler, received } = createScene()
    const response = await push(handler, await signSet(key, { ...goodClaims(), exp: 1 }))
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('content-language')).toBe('en')
    expect(await response.json()).toEqual({
      err: 'invalid_request',
      description: 'a SET must not have an exp claim',
    })
    expect(received).toEqual([])
  })

  test('is answered 500 when the handler fails, and handled when it comes again', async () => {
    let attempts = 0
    const { handler } = createScene({
      seen: createMemoryJtiStore(),
      onEvent: () => {
        attempts += 1
        if (attempts === 1) throw new Error('database secret')
      },
    })
    const token = await signSet(key)
    const failed = await push(handler, token)
    expect(failed.status).toBe(500)
    expect(await failed.text()).toBe('')
    expect((await push(handler, token)).status).toBe(202)
    expect((await push(handler, token)).status).toBe(202)
    expect(attempts).toBe(2)
  })

  test('of one SET twice at the same time is handled once', async () => {
    let attempts = 0
    let verified = 0
    const { handler } = createScene({
      seen: createMemoryJtiStore(),
      verifier: {
        verify: async (token) => {
          const set = await verifier.verify(token)
          verified += 1
          return set
        },
      },
      onEvent: async () => {
        attempts += 1
        // Stays at work until the other copy has been verified too.
        while (verified < 2) await new Promise((resolve) => setImmediate(resolve))
        await new Promise((resolve) => setImmediate(resolve))
      },
    })
    const token = await signSet(key)
    const responses = await Promise.all([push(handler, token), push(handler, token)])
    expect(responses.map(({ status }) => status)).toEqual([202, 202])
    expect(attempts).toBe(1)
  })

  test('is answered as it should be although onRefused throws', async () => {
    const { handler } = createScene({
      onRefused: () => {
        throw new Error('the log is full')
      },
    })
    const response = await push(handler, await signSet(key, { ...goodClaims(), exp: 1 }))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ err: 'invalid_request' })
  })

  test('can be refused by the application with a code of its own', async () => {
    const { handler } = createScene({
      onEvent: () => {
        throw new SetVerificationError('invalid_state', 'the state is not the one that was sent')
      },
    })
    const response = await push(handler, await signSet(key))
    expect(await response.json()).toMatchObject({ err: 'invalid_state' })
  })

  test('is answered 503 while the keys are unavailable', async () => {
    const { handler } = createScene({
      verifier: { verify: () => Promise.reject(new KeysUnavailableError('down')) },
    })
    const response = await push(handler, await signSet(key))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('30')
  })
})

describe('a request that is no push for this receiver', () => {
  test('is refused by method', async () => {
    const { handler } = createScene()
    const response = await push(handler, null, {}, 'GET')
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })

  test('is refused by media type, but not by its parameters', async () => {
    const { handler } = createScene()
    const token = await signSet(key)
    expect((await push(handler, token, { 'content-type': 'application/json' })).status).toBe(415)
    expect((await push(handler, token, { 'content-type': '' })).status).toBe(415)
    const withParameter = { 'content-type': 'Application/SecEvent+JWT; charset=utf-8' }
    expect((await push(handler, token, withParameter)).status).toBe(202)
  })

  test('is refused by its Authorization header, which must be exact', async () => {
    const { handler, received } = createScene({ authorization: ['Bearer old', 'Bearer new'] })
    const token = await signSet(key)
    const missing = await push(handler, token)
    expect(missing.status).toBe(401)
    expect(missing.headers.get('www-authenticate')).toBe('Bearer')
    for (const authorization of ['Bearer wrong', 'Bearer old2', 'bearer old', 'Bearer ol']) {
      expect((await push(handler, token, { authorization })).status).toBe(401)
    }
    expect(received).toEqual([])
    for (const authorization of ['Bearer old', 'Bearer new']) {
      expect((await push(handler, token, { authorization })).status).toBe(202)
    }
  })

  test.each(['', ' ', [], ['Bearer a', '']].map((authorization) => ({ authorization })))(
    'is not let in by a setting that is empty: $authorization',
    (options) => {
      expect(() => createScene(options)).toThrow(TypeError)
    },
  )

  test('is refused by size, declared or not', async () => {
    const { handler } = createScene({ bodyBytesMax: 100 })
    expect((await push(handler, 'x'.repeat(101))).status).toBe(413)
    expect((await push(handler, 'x', { 'content-length': '101' })).status).toBe(413)
  })

  test('is refused by content: empty, not text, no token, and is told of', async () => {
    let told = 0
    const { handler } = createScene({ onRefused: () => (told += 1) })
    const bodies = ['', new Uint8Array([0xff, 0xfe]), '{"json":true}', 'a.b.c']
    for (const body of bodies) {
      const response = await push(handler, body)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ err: 'invalid_request' })
    }
    expect(told).toBe(bodies.length)
  })

  test('is refused where it breaks off, and is told of', async () => {
    const told: unknown[] = []
    const { handler } = createScene({ onRefused: (outcome) => told.push(outcome) })
    const cause = new Error('gone')
    const body = new ReadableStream({ start: (controller) => controller.error(cause) })
    const headers = { 'content-type': 'application/secevent+jwt' }
    const init = { method: 'POST', headers, body, duplex: 'half' } as const
    const response = await handler(new Request('https://receiver.example.com/', init))
    expect(response.status).toBe(400)
    expect(told).toMatchObject([
      { kind: 'refused', error: { message: 'the body could not be read', cause } },
    ])
  })
})

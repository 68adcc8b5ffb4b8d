import { expect, test, vi } from 'vitest'
import {
  createClientCredentials,
  createComplianceState,
  createMemoryComplianceStore,
  createMemoryJtiStore,
  createPollClient,
  createPushHandler,
  createRemoteKeySource,
  createSetVerifier,
  createDiscoveryCache,
  createStreamClient,
  discoverTransmitter,
} from '../src/index.ts'
import { createFileJtiStore } from '../src/node.ts'

const ISSUER = 'https://transmitter.example.com'
const verifier = createSetVerifier({
  issuer: ISSUER,
  audience: 'aud',
  keys: { jwks: { keys: [] } },
})
const onEvent = () => undefined

type Bounds = Readonly<Record<string, number>>

const receivers: Readonly<Record<string, readonly [(bounds: Bounds) => unknown, string[]]>> = {
  createSetVerifier: [
    (bounds) =>
      createSetVerifier({
        issuer: ISSUER,
        audience: 'aud',
        keys: { jwks: { keys: [] } },
        ...bounds,
      }),
    ['clockToleranceSeconds', 'tokenLengthMax'],
  ],
  createRemoteKeySource: [
    (bounds) => createRemoteKeySource({ jwksUri: ISSUER, ...bounds }),
    ['refreshAfterMs', 'usableForMs', 'cooldownMs', 'timeoutMs', 'bytesMax'],
  ],
  createPushHandler: [
    (bounds) => createPushHandler({ verifier, onEvent, ...bounds }),
    ['bodyBytesMax'],
  ],
  createPollClient: [
    (bounds) => createPollClient({ verifier, onEvent, endpointUrl: ISSUER, ...bounds }),
    [
      'requestTimeoutMs',
      'responseBytesMax',
      'idlePauseMs',
      'backOffMs',
      'backOffMaxMs',
      'retryAfterMaxMs',
    ],
  ],
  createStreamClient: [
    (bounds) => createStreamClient({ issuer: ISSUER, authorization: 'Bearer t', ...bounds }),
    ['timeoutMs', 'retriesMax', 'retryAfterMaxMs', 'responseBytesMax'],
  ],
  createDiscoveryCache: [(bounds) => createDiscoveryCache(ISSUER, bounds), ['timeoutMs']],
  createClientCredentials: [
    (bounds) =>
      createClientCredentials({
        tokenEndpoint: ISSUER,
        clientId: 'c',
        authentication: { method: 'client_secret_basic', clientSecret: 's' },
        ...bounds,
      }),
    ['timeoutMs', 'refreshBeforeMs'],
  ],
  createComplianceState: [
    (bounds) => createComplianceState({ store: createMemoryComplianceStore(), ...bounds }),
    ['gapGraceMs'],
  ],
  createMemoryJtiStore: [(bounds) => createMemoryJtiStore(bounds), ['entriesMax']],
}

const cases = Object.entries(receivers).flatMap(([name, [create, bounds]]) =>
  bounds.map((bound) => [name, bound, create] as const),
)

test.each(cases)(
  '%s takes nothing without a bound because %s is no number',
  (_name, bound, create) => {
    for (const value of [Number.NaN, -1]) {
      const refusal = `${bound} must be 0 or more, or Infinity, and not ${value}`
      expect(() => create({ [bound]: value })).toThrow(new TypeError(refusal))
    }
    expect(() => create({ [bound]: Number.POSITIVE_INFINITY })).not.toThrow()
  },
)

test('a file of handled SETs is not opened with a number of entries that is none', async () => {
  const opening = createFileJtiStore({ path: '/nowhere/seen.jsonl', entriesMax: Number.NaN })
  await expect(opening).rejects.toThrow(TypeError)
})

test.each([Number.NaN, -1, 0, 2.5])('a poll client asks for no %s events', (maxEvents) => {
  const refusal = `maxEvents must be a whole number of 1 or more, or Infinity, and not ${maxEvents}`
  const create = () => createPollClient({ verifier, onEvent, endpointUrl: ISSUER, maxEvents })
  expect(create).toThrow(new TypeError(refusal))
})

test('a poll client that asks for any number of events names none', async () => {
  const bodies: unknown[] = []
  const poller = createPollClient({
    verifier,
    onEvent,
    endpointUrl: ISSUER,
    maxEvents: Number.POSITIVE_INFINITY,
    fetch: (_url, { body }) => {
      bodies.push(JSON.parse(typeof body === 'string' ? body : ''))
      return Promise.resolve(Response.json({ sets: {} }))
    },
  })
  await poller.pollOnce()
  expect(bodies).toEqual([{ returnImmediately: false }])
})

test('a call whose time is none sends nothing, not even for its credential', async () => {
  const send = vi.fn<() => Promise<Response>>(() => Promise.reject(new Error('sent')))
  const timeoutMs = Number.NaN
  const refusal = new TypeError('timeoutMs must be 0 or more, or Infinity, and not NaN')
  const client = createStreamClient({ issuer: ISSUER, authorization: send as never, fetch: send })
  await expect(client.listStreams({ timeoutMs })).rejects.toThrow(refusal)
  await expect(client.getConfiguration({ timeoutMs })).rejects.toThrow(refusal)
  const cache = createDiscoveryCache(ISSUER, { fetch: send })
  await expect(cache.getConfiguration({ timeoutMs })).rejects.toThrow(refusal)
  await expect(discoverTransmitter(ISSUER, { timeoutMs, fetch: send })).rejects.toThrow(refusal)
  expect(send).not.toHaveBeenCalled()
})

import { expect, test } from 'vitest'
import {
  createClientCredentials,
  createComplianceState,
  createMemoryComplianceStore,
  createMemoryJtiStore,
  createPollClient,
  createPushHandler,
  createRemoteKeySource,
  createSetVerifier,
  createStreamClient,
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
      'maxEvents',
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

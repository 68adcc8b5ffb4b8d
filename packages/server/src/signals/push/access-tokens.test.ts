import { expect, test, vi } from 'vitest'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { HOUR_MS } from '../../platform/clock.ts'
import type { OutboundResult } from '../../platform/net/outbound-result.ts'
import { AccessTokens } from './access-tokens.ts'
import type { OAuthCredential } from './push-credential.ts'

const CREDENTIAL: OAuthCredential = {
  key: 'stream 1',
  tokenEndpoint: 'https://tokens.example.com/token',
  clientId: 'client',
  scope: null,
  method: 'client_secret_basic',
  secrets: ['secret'],
  tls: undefined,
}

function toResult(status: number, answer: object): OutboundResult {
  const none = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null }
  return {
    kind: 'response',
    status,
    headers: {},
    body: Buffer.from(JSON.stringify(answer)),
    bodyTruncated: false,
    remoteAddress: '192.0.2.1',
    timings: { ...none, totalMs: 1, reusedConnection: false },
  }
}

const toToken = (value: string, lifetime: unknown = 3_600) =>
  toResult(200, { access_token: value, token_type: 'Bearer', expires_in: lifetime })

function startTokens(...answers: readonly OutboundResult[]) {
  const clock = new ManualClock()
  const request = vi.fn<() => Promise<OutboundResult>>()
  for (const answer of answers) request.mockResolvedValueOnce(answer)
  const signAssertion = () => Promise.reject(new Error('nothing is signed'))
  const tokens = new AccessTokens({ clock, client: { request }, signAssertion })
  return { clock, get: () => tokens.get(CREDENTIAL, 1_000), tokens }
}

test('a token that the receiver refuses is renewed at once also where the clock was set back since it was asked for', async () => {
  const { clock, get, tokens } = startTokens(toToken('first'), toToken('second'))
  expect(await get()).toMatchObject({ value: 'first' })
  clock.advance(-HOUR_MS)
  expect(tokens.discard(CREDENTIAL, 'first')).toBe(true)
  expect(await get()).toMatchObject({ value: 'second' })
  expect(tokens.discard(CREDENTIAL, 'second')).toBe(false)
})

test('a refusal of the token endpoint is not kept for as long as the clock loses', async () => {
  const { clock, get } = startTokens(toResult(503, {}), toToken('first'))
  expect(await get()).toMatchObject({ kind: 'refused' })
  expect(await get()).toMatchObject({ kind: 'refused' })
  clock.advance(-HOUR_MS)
  expect(await get()).toMatchObject({ value: 'first' })
})

test.each([
  [null, 300_000],
  [0, 300_000],
  ['soon', 300_000],
  ['3600', 3_600_000],
  [3_599.5, 3_599_500],
])('a token is used although its lifetime is said as %j', async (lifetime, lifetimeMs) => {
  const { get } = startTokens(toToken('first', lifetime))
  expect(await get()).toEqual({ kind: 'token', value: 'first', lifetimeMs })
})

/* What the suite checks of every SET, by the requirement that it comes from. */
import { createPublicKey, verify } from 'node:crypto'
import { expect } from 'vitest'
import type { ReceivedSet } from './event-feed.ts'

/** A key of a JWKS. */
export interface SuiteKey {
  readonly kid: string
  readonly kty: string
  readonly alg?: string
  readonly use?: string
  readonly n: string
  readonly e: string
  readonly d?: string
}

const CLOCK_SKEW_SECONDS = 5
const RSA_BYTES_MIN = 256
export const EVENT_BASE = 'https://schemas.openid.net/secevent'
export const VERIFICATION = `${EVENT_BASE}/ssf/event-type/verification`
export const STREAM_UPDATED = `${EVENT_BASE}/ssf/event-type/stream-updated`
export const COMPLIANCE_CHANGE = `${EVENT_BASE}/caep/event-type/device-compliance-change`

/** Checks header, signature and registered claims; answers the only event of the SET. */
export function checkSet(
  { token, claims }: ReceivedSet,
  stream: { readonly iss: string; readonly aud: string },
  keys: readonly SuiteKey[],
): readonly [type: string, payload: Readonly<Record<string, unknown>>] {
  const [head = '', payload = '', signature = ''] = token.split('.')
  const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as Record<string, string>
  expect(header['typ'], 'ssf-T019').toBe('secevent+jwt')
  expect(header['alg'], 'ssf-T020').toBe('RS256')
  const key = keys.find(({ kid }) => kid === header['kid'])
  expect(key, 'ssf-T018').toBeDefined()
  const publicKey = createPublicKey({ key: { ...key }, format: 'jwk' })
  const signed = Buffer.from(`${head}.${payload}`)
  const isGenuine = verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'))
  expect(isGenuine, 'ssf-T020').toBe(true)
  expect(claims.iss, 'ssf-T021').toBe(stream.iss)
  expect(Number.isInteger(claims.iat), 'ssf-T022').toBe(true)
  const nowSeconds = Math.floor(Date.now() / 1_000)
  expect(claims.iat, 'ssf-T022').toBeLessThanOrEqual(nowSeconds + CLOCK_SKEW_SECONDS)
  expect(claims.jti, 'ssf-T023').toEqual(expect.stringMatching(/./))
  expect([claims.aud].flat(), 'ssf-T024').toContain(stream.aud)
  expect(claims, 'ssf-T026').not.toHaveProperty('sub')
  expect(claims, 'ssf-T027').not.toHaveProperty('exp')
  expect(claims.sub_id?.format, 'ssf-T028').toEqual(expect.any(String))
  expect(claims['txn'], 'ssf-T029').toEqual(expect.any(String))
  const events = Object.entries(claims.events ?? {})
  expect(events, 'ssf-T031').toHaveLength(1)
  const [type, event] = events[0] ?? ['', {}]
  expect(typeof event, 'ssf-T030').toBe('object')
  return [type, event]
}

/** Checks the keys that a transmitter publishes. */
export function checkKeys(keys: readonly SuiteKey[]): void {
  expect(keys.length, 'ssf-T005').toBeGreaterThan(0)
  for (const key of keys) {
    expect(key, 'ssf-T018').not.toHaveProperty('d')
    expect(key, 'ssf-T018').toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256' })
    expect(key.kid, 'ssf-T018').toEqual(expect.stringMatching(/./))
    expect(Buffer.from(key.n, 'base64url').length, 'ssf-T020').toBeGreaterThanOrEqual(RSA_BYTES_MIN)
  }
}

import { buildSetClaims, DEVICE_COMPLIANCE_CHANGE, type SetInput } from '@heliograph/ssf'
import {
  CompactSign,
  exportJWK,
  generateKeyPair,
  type CryptoKey,
  type JSONWebKeySet,
  type JWK,
} from 'jose'
import { createSetVerifier, type SetVerifier } from '../../src/index.ts'

export const ISSUER = 'https://transmitter.example.com'
export const AUDIENCE = 'https://receiver.example.com'
export const NOW_MS = 1_700_000_000_000

export interface TestKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

export async function createTestKey(kid: string, alg = 'RS256'): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg } }
}

export function jwksOf(...keys: TestKey[]): JSONWebKeySet {
  return { keys: keys.map(({ publicJwk }) => publicJwk) }
}

/** Accepts the SETs of {@link goodClaims} that are signed with one of these keys. */
export function createTestVerifier(...keys: TestKey[]): SetVerifier {
  return createSetVerifier({
    issuer: ISSUER,
    audience: AUDIENCE,
    keys: { jwks: jwksOf(...keys) },
    nowMs: () => NOW_MS,
  })
}

export function goodClaims(change: Partial<SetInput> = {}): Record<string, unknown> {
  return buildSetClaims({
    iss: ISSUER,
    aud: AUDIENCE,
    jti: 'jti-1',
    issuedAtMs: NOW_MS,
    txn: 'txn-1',
    layout: 'v1.0',
    subject: {
      format: 'complex',
      device: { format: 'iss_sub', iss: ISSUER, sub: 'd1' },
      user: { format: 'email', email: 'user@example.com' },
    },
    event: {
      type: DEVICE_COMPLIANCE_CHANGE,
      payload: {
        previous_status: 'compliant',
        current_status: 'not-compliant',
        event_timestamp: NOW_MS / 1000 - 2,
      },
    },
    ...change,
  })
}

/** Signs claims, or any text, with the header given; undefined members are left out. */
export async function signSet(
  key: TestKey,
  claims: Record<string, unknown> | string = goodClaims(),
  header: Record<string, unknown> = {},
): Promise<string> {
  const text = typeof claims === 'string' ? claims : JSON.stringify(claims)
  const merged: Record<string, unknown> = {
    alg: key.alg,
    kid: key.kid,
    typ: 'secevent+jwt',
    ...header,
  }
  const defined = Object.fromEntries(
    Object.entries(merged).filter(([, value]) => value !== undefined),
  )
  return new CompactSign(new TextEncoder().encode(text))
    .setProtectedHeader({ ...defined, alg: key.alg })
    .sign(key.privateKey)
}

/** Puts a token together without a real signature. */
export function forgeSet(header: object, claims: object, signature = ''): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${encode(header)}.${encode(claims)}.${signature}`
}

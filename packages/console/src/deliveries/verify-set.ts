/*
 * Checks a security event token (RFC 8417) as a receiver does, in the browser: each step by itself, so that
 * the reader sees what was looked at. Uses the published keys only.
 */
import type { KeySet } from '../api/generated/types.gen.ts'
import { texts } from './texts.ts'

const { set: words } = texts

export type StepId = keyof typeof words.steps

/** A step, and what was found. `undecided` where it could not be looked at. */
export interface Step {
  readonly id: StepId
  readonly outcome: 'ok' | 'wrong' | 'undecided'
  readonly note?: string
}

export interface DecodedSet {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

/** What the token must say; what is left out is not looked at. */
export interface ExpectedSet {
  readonly iss?: string
  readonly aud?: string
  readonly jti?: string
}

/** Header and claims of a token; undefined when it is none. */
export function decodeSet(token: string): DecodedSet | undefined {
  const [header, claims, signature, ...others] = token.split('.')
  if (header === undefined || claims === undefined || signature === undefined) return undefined
  if (others.length > 0) return undefined
  try {
    return {
      header: JSON.parse(toText(header)) as DecodedSet['header'],
      claims: JSON.parse(toText(claims)) as DecodedSet['claims'],
    }
  } catch {
    return undefined
  }
}

/**
 * Every step of the check by the published keys, in its order; those behind a failed one that they need are left out.
 */
export async function verifySet(
  token: string,
  expected: ExpectedSet,
  jwks: KeySet,
): Promise<readonly Step[]> {
  const decoded = decodeSet(token)
  if (decoded === undefined) return [{ id: 'form', outcome: 'wrong', note: words.notDecodable }]
  const { header, claims } = decoded
  const type = `${String(header['typ'])}, ${String(header['alg'])}`
  const isSet = header['typ'] === 'secevent+jwt' && header['alg'] === 'RS256'
  return [
    { id: 'form', outcome: 'ok' },
    { id: 'type', outcome: isSet ? 'ok' : 'wrong', note: type },
    ...(await verifySignature(token, String(header['kid']), jwks)),
    ...compare('issuer', expected.iss, claims['iss']),
    ...compare('audience', expected.aud, claims['aud']),
    ...compare('id', expected.jti, claims['jti']),
  ]
}

async function verifySignature(token: string, kid: string, jwks: KeySet): Promise<readonly Step[]> {
  const jwk = jwks.keys.find((key) => key.kid === kid)
  if (jwk === undefined) return [{ id: 'key', outcome: 'undecided', note: words.keyGone(kid) }]
  const found: Step = { id: 'key', outcome: 'ok', note: words.keyFound(kid) }
  // Only secure pages have it.
  const subtle = (globalThis.crypto as Partial<Crypto>).subtle
  if (subtle === undefined) {
    return [found, { id: 'signature', outcome: 'undecided', note: words.noCrypto }]
  }
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const key = await subtle.importKey('jwk', { ...jwk, ext: true }, algorithm, false, ['verify'])
  const end = token.lastIndexOf('.')
  const isValid = await subtle.verify(
    algorithm,
    key,
    toBytes(token.slice(end + 1)),
    new TextEncoder().encode(token.slice(0, end)),
  )
  return [
    found,
    isValid
      ? { id: 'signature', outcome: 'ok' }
      : { id: 'signature', outcome: 'wrong', note: words.invalidSignature },
  ]
}

function compare(id: StepId, expected: string | undefined, found: unknown): readonly Step[] {
  if (expected === undefined) return []
  const all: readonly unknown[] = Array.isArray(found) ? found : [found]
  if (all.includes(expected)) return [{ id, outcome: 'ok', note: expected }]
  return [{ id, outcome: 'wrong', note: words.expected(expected, all.map(String).join(', ')) }]
}

function toBytes(base64url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

function toText(base64url: string): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(toBytes(base64url))
}

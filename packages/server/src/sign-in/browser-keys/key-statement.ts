/*
 * What a browser signs to show that it holds its key: the challenge of one sign-in, and the public key that takes the
 * place of this one. Pure. Web Cryptography API (W3C) section 23; RFC 7638 for thumbprints.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'
import type { BrowserKeyJwk } from '../../schema/tables/sign-in-tables.ts'

/** What a statement is about. */
export interface KeyStatement {
  readonly challenge: string
  /** The key that is shown; null for one that is to be bound. */
  readonly keyId: string | null
  /** The public key from now on. */
  readonly next: BrowserKeyJwk
}

/** A public key with a signature by it: ECDSA with SHA-256, 64 bytes, base64url. */
export interface KeySignature {
  readonly publicKey: BrowserKeyJwk
  readonly signature: string
}

/**
 * The challenge of a sign-in: of this attempt and its browser, for this service, for the application that asks. Nobody
 * can know it before the attempt begins, and no other attempt has it.
 */
export function toKeyChallenge(
  attempt: {
    readonly id: string
    readonly secretHash: Buffer
    readonly applicationId: string | null
  },
  baseUrl: string,
): string {
  const { id, secretHash, applicationId } = attempt
  const facts = [id, secretHash.toString('hex'), baseUrl, applicationId ?? '']
  return createHash('sha256')
    .update(`browser key ${facts.join('\n')}`)
    .digest('base64url')
}

/** The thumbprint of a public key (RFC 7638 section 3), base64url. */
export function toThumbprint({ crv, kty, x, y }: BrowserKeyJwk): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
}

/** Whether the holder of a key has signed a statement. */
export function isSignedBy(
  { publicKey, signature }: KeySignature,
  statement: KeyStatement,
): boolean {
  try {
    const key = createPublicKey({ key: { ...publicKey }, format: 'jwk' })
    const signed = Buffer.from(toText(statement))
    const bytes = Buffer.from(signature, 'base64url')
    return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, bytes)
  } catch {
    // No point of the curve.
    return false
  }
}

/** Lines, none of which can hold a line break. */
function toText({ challenge, keyId, next }: KeyStatement): string {
  return ['heliograph browser key', challenge, keyId ?? 'new', next.x, next.y].join('\n')
}

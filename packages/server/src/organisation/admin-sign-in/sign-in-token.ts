import { createHash } from 'node:crypto'
import { newSecret } from '../../platform/ids.ts'

/** 256 bits as base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** A token of a session or of a one-time link. */
export function newSignInToken(): string {
  return newSecret(32)
}

/** SHA-256 of a token, by which it is looked up; undefined for a text that is none. */
export function hashSignInToken(token: string): Buffer | undefined {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : undefined
}

/** Compares secrets and tells equal ones apart from others without keeping or revealing them. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey, type MasterKeys } from './master-key.ts'

/** Whether two secrets are equal, in a time that tells nothing of where they differ. */
export function isEqualSecret(a: string, b: string): boolean {
  // Digests under one fixed key have one length, which timingSafeEqual demands; the key needs no secrecy.
  return timingSafeEqual(hmac(COMPARISON_KEY, a), hmac(COMPARISON_KEY, b))
}

/**
 * A function that stands in for a secret value in records that must not hold it (the audit log): the same
 * value gives the same 64 hexadecimal digits as long as the current master key stays, and nobody without the
 * master key can try values out.
 */
export function createSecretDigest(masterKeys: MasterKeys): (value: string) => string {
  const key = deriveKey(masterKeys.current, 'heliograph secret digest v1')
  return (value) => hmac(key, value).toString('hex')
}

const COMPARISON_KEY = Buffer.from('heliograph constant-time comparison')

function hmac(key: Buffer, value: string): Buffer {
  return createHmac('sha256', key).update(value).digest()
}

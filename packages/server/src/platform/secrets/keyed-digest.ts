/** Compares secrets and tells equal ones apart from others without keeping or revealing them. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** Whether two secrets are equal, in a time that tells nothing of where they differ. */
export function isEqualSecret(a: string, b: string): boolean {
  // Digests under one fixed key have one length, which timingSafeEqual demands; the key needs no secrecy.
  return timingSafeEqual(hmac(COMPARISON_KEY, a), hmac(COMPARISON_KEY, b))
}

const COMPARISON_KEY = Buffer.from('heliograph constant-time comparison')

function hmac(key: Buffer, value: string): Buffer {
  return createHmac('sha256', key).update(value).digest()
}

import { randomBytes } from 'node:crypto'

/** `bytes` random bytes as base64url, for the name of a file that nobody else guesses or makes too. */
export function randomName(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}

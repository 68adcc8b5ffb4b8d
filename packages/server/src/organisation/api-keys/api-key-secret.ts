/*
 * The form of API keys: `k2sk_v1_<random><checksum>`. The checksum lets code scanners recognise a
 * leaked key without asking the service.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomInteger } from '../../platform/ids.ts'
import type { SealContext } from '../../platform/secrets/sealed-box.ts'

/** What every key begins with. */
export const KEY_PREFIX = 'k2sk_v1_'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 40 characters of 62 are 238 bits. */
const RANDOM_LENGTH = 40
/** A CRC-32 takes at most six base-62 digits. */
const CHECKSUM_LENGTH = 6
const KEY_PATTERN = new RegExp(
  `^${KEY_PREFIX}([0-9A-Za-z]{${RANDOM_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
)

/** A new key. */
export function generateKey(): string {
  let random = ''
  for (let index = 0; index < RANDOM_LENGTH; index += 1) {
    random += ALPHABET.charAt(randomInteger(0, ALPHABET.length))
  }
  return KEY_PREFIX + random + checksum(random)
}

/** Whether a text has the form of a key, checksum included. Says nothing of whether it is live. */
export function isWellFormedKey(text: string): boolean {
  const match = KEY_PATTERN.exec(text)
  return match !== null && checksum(match[1] ?? '') === match[2]
}

/** SHA-256 of the whole key, by which it is looked up. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** The place of the sealed copy of a key; the id of the record is not known before it is sealed. */
export function apiKeyContext(secretHash: Buffer): SealContext {
  return { table: 'api_key', column: 'secret_sealed', id: secretHash.toString('hex') }
}

function checksum(random: string): string {
  let rest = crc32(KEY_PREFIX + random)
  let digits = ''
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits
    rest = Math.floor(rest / ALPHABET.length)
  }
  return digits
}

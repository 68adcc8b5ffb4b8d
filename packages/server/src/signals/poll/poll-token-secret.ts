/*
 * The form of poll tokens: `hgpt_v1_<random><checksum>`. The checksum lets code scanners recognise a
 * leaked token without asking the service, and the service refuse a mistyped one without the database.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomInteger } from '../../platform/ids.ts'

/** What every poll token begins with; no other credential does. */
export const POLL_TOKEN_PREFIX = 'hgpt_v1_'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 40 characters of 62 are 238 bits. */
const RANDOM_LENGTH = 40
/** A CRC-32 takes at most six base-62 digits. */
const CHECKSUM_LENGTH = 6
const TOKEN_PATTERN = new RegExp(
  `^${POLL_TOKEN_PREFIX}([0-9A-Za-z]{${RANDOM_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
)

/** A new poll token. */
export function generatePollToken(): string {
  let random = ''
  for (let index = 0; index < RANDOM_LENGTH; index += 1) {
    random += ALPHABET.charAt(randomInteger(0, ALPHABET.length))
  }
  return POLL_TOKEN_PREFIX + random + checksum(random)
}

/** Whether a text has the form of a poll token, checksum included. Says nothing of whether it is live. */
export function isWellFormedPollToken(text: string): boolean {
  const match = TOKEN_PATTERN.exec(text)
  return match !== null && checksum(match[1] ?? '') === match[2]
}

/** SHA-256 of the whole token, by which it is looked up: how long that takes reveals nothing of it. */
export function hashPollToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function checksum(random: string): string {
  let rest = crc32(POLL_TOKEN_PREFIX + random)
  let digits = ''
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits
    rest = Math.floor(rest / ALPHABET.length)
  }
  return digits
}

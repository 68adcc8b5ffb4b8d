import { randomBytes, randomFillSync, randomInt, randomUUID } from 'node:crypto'
import { decodeTime, isValid, monotonicFactory, ulid } from 'ulid'
import { notFound } from './app-error.ts'

/** A random UUID (version 4), for identifiers that must not be guessable from one another. */
export function newUuid(): string {
  return randomUUID()
}

/** A ULID: sorts by creation time. */
export function newUlid(now: Date): string {
  return ulid(now.getTime(), randomFraction)
}

/** `count` ULIDs of one moment that sort in the order in which they stand. */
export function newUlids(now: Date, count: number): string[] {
  const next = monotonicFactory(randomFraction)
  return Array.from({ length: count }, () => next(now.getTime()))
}

/** The id of a request: `req_` and 128 random bits. */
export function newRequestId(): string {
  const start = takeRandomBytes(REQUEST_ID_BYTES)
  return `req_${randomPool.toString('hex', start, start + REQUEST_ID_BYTES)}`
}

const REQUEST_ID_BYTES = 16
const randomPool = Buffer.alloc(4_096)
let randomPoolUsed = randomPool.length

/**
 * Where in the pool so many random bytes begin that nobody else takes. A call for each few costs more than what is made
 * of them.
 */
function takeRandomBytes(count: number): number {
  if (randomPoolUsed + count > randomPool.length) {
    randomFillSync(randomPool)
    randomPoolUsed = 0
  }
  const start = randomPoolUsed
  randomPoolUsed += count
  return start
}

/** A number from 0 to below 1 of one random byte; a ULID takes 16. */
function randomFraction(): number {
  return randomPool.readUInt8(takeRandomBytes(1)) / 256
}

/** When a ULID was made; undefined for a text that is none. */
export function timeOfUlid(text: string): Date | undefined {
  return isValid(text) ? new Date(decodeTime(text)) : undefined
}

/** `bytes` random bytes, for keys. */
export function newKeyBytes(bytes: number): Buffer {
  return randomBytes(bytes)
}

/** `bytes` random bytes as base64url. 24 bytes (192 bits) is the least that a credential may have. */
export function newSecret(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}

/** A uniformly distributed integer, `min` inclusive and `maxExclusive` exclusive. */
export function randomInteger(min: number, maxExclusive: number): number {
  return randomInt(min, maxExclusive)
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a text has the form of a UUID, so that the database can be asked for it. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

const ID_PATTERN = /^[1-9]\d{0,17}$/

/** Whether a text can be the id of a record. */
export function isId(text: string): boolean {
  return ID_PATTERN.test(text)
}

/**
 * The id of a record that a client names, ready for the database.
 *
 * @throws AppError `not_found` for a text that is the id of nothing
 */
export function parseId(text: string, what: string): string {
  if (isId(text)) return text
  throw notFound(what, text)
}
